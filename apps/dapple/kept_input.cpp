#include "kept_input.h"

#include "report.h"
#include "text.h"

namespace dapple::cli {

std::optional<viewer::Kept> find_kept(const Input& input, const BlockedObject& object,
                                      const std::optional<viewer::KeptSource>& source,
                                      const Console& console) {
  if (!source) return std::nullopt;
  std::string complaint;
  auto kept = viewer::Kept::find(input.file, object, *source, complaint);
  // What was read of the file is of one state only if that is still its state.
  if (kept && viewer::kept_source(input.file, input.options) != source) kept.reset();
  if (!complaint.empty() && !console.quiet) {
    say(printable(complaint) + " and is not used; view -o " +
        printable(viewer::kept_path(input.file)) + " --force makes it anew");
  }
  return kept;
}

}  // namespace dapple::cli
