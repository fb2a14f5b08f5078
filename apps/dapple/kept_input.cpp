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
    const std::string name = printable(viewer::kept_path(input.file));
    say(name + ' ' + complaint + ", so it is not used; dapple view " + printable(input.file) +
        " -o " + name + " --force makes it anew");
  }
  return kept;
}

}  // namespace dapple::cli
