// The page that a browser shows: HTML, style and script in one file.
#pragma once

#include <string>

#include "resources.h"

namespace dapple::viewer {

/// A page whose script asks its server for what it needs, under `base`. `nonce`: of the policy that
/// the server sends.
std::string live_page(const Resources& resources, const std::string& base,
                      const std::string& nonce);

/// A page that needs nobody: pictures of all zooms up to 1024 pixels each way are inside, and the
/// cells where there are not too many. Reads the file once. Throws what reading throws.
std::string whole_page(Resources& resources, const TakeProgress& progress);

/// `bytes` in zlib's format.
std::string deflated(std::string_view bytes);

}  // namespace dapple::viewer
