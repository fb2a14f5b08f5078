// The pyramid that was kept beside an input file.
#pragma once

#include <optional>

#include "input.h"
#include "kept.h"

namespace dapple::cli {

/// That of the file from which `object` was opened, whose state just before was `source`. One that
/// is damaged, or of another state, is not used, and a line on standard error says so.
std::optional<viewer::Kept> find_kept(const Input& input, const BlockedObject& object,
                                      const std::optional<viewer::KeptSource>& source,
                                      const Console& console);

}  // namespace dapple::cli
