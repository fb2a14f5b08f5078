// The page that a browser shows: HTML, style and script in one file.
#pragma once

#include <string>

#include "resources.h"

namespace dapple::viewer {

/// A page whose script asks its server for what it needs, under `base`. `nonce`: of the policy that
/// the server sends.
std::string live_page(const Resources& resources, const std::string& base,
                      const std::string& nonce);

struct WholePage {
  std::string html;
  bool has_cells;  // all that there are
};

/// A page that needs nobody: pictures of all cells at all zooms up to 1024 pixels each way are
/// inside, and the cells where they take at most 16 MiB. REQUIRES that all was read. Throws what
/// reading throws.
WholePage whole_page(const Resources& resources);

/// `bytes` in zlib's format.
std::string deflated(std::string_view bytes, int level);

}  // namespace dapple::viewer
