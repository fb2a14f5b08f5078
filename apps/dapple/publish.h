// Files that are not matrices: pictures and pages.
#pragma once

#include <string_view>

#include "destination.h"

namespace dapple::cli {

/// Writes the bytes to a new file beside the destination, then renames it. Throws io,
/// invalid_argument when the destination exists and may not be replaced.
void publish(const Destination& destination, std::string_view bytes);

}  // namespace dapple::cli
