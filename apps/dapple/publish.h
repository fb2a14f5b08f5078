// Files that are not matrices: pictures and pages.
#pragma once

#include <string_view>

#include "destination.h"

namespace dapple::cli {

/// Writes the bytes to a new file beside the destination, and puts it in its place. Throws io,
/// invalid_argument when it exists and may not be replaced.
void publish(const Destination& destination, std::string_view bytes);

}  // namespace dapple::cli
