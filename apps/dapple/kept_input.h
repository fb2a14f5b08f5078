// The pyramid that was kept beside an input file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "input.h"
#include "kept.h"

namespace dapple::cli {

/// That of the file from which `object` was opened, whose state just before was `source`. One that
/// is damaged, or of another state, is not used, and a line on standard error says so.
std::optional<viewer::Kept> find_kept(const Input& input, const BlockedObject& object,
                                      const std::optional<viewer::KeptSource>& source,
                                      const Console& console);

/// Says on standard error that the pyramid is not used, and how to make it anew.
void say_unused(const Input& input, std::string_view complaint, const Console& console);

/// "dapple view FILE -o FILE.dpp --force makes it anew"
std::string advice_to_keep_anew(const std::string& file);

}  // namespace dapple::cli
