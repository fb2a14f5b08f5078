#include "kept_input.h"

#include <fmt/format.h>

#include "report.h"
#include "text.h"

namespace dapple::cli {

std::string advice_to_keep_anew(const std::string& file) {
  return fmt::format("dapple view {} -o {} --force makes it anew", printable(file),
                     printable(viewer::kept_path(file)));
}

void say_unused(const Input& input, std::string_view complaint, const Console& console) {
  if (console.quiet) return;
  say(fmt::format("{} {}, so it is not used; {}", printable(viewer::kept_path(input.file)),
                  complaint, advice_to_keep_anew(input.file)));
}

std::optional<viewer::Kept> find_kept(const Input& input, const BlockedObject& object,
                                      const std::optional<viewer::KeptSource>& source,
                                      const Console& console) {
  if (!source) return std::nullopt;
  std::string complaint;
  auto kept = viewer::Kept::find(input.file, object, *source, complaint);
  // What was read of the file is of one state only if that is still its state.
  if (kept && viewer::kept_source(input.file, input.options) != source) kept.reset();
  if (!complaint.empty()) say_unused(input, complaint, console);
  return kept;
}

}  // namespace dapple::cli
