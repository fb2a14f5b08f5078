// The page that a browser shows: HTML, style and script in one file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "resources.h"

namespace dapple::viewer {

/// A page whose script asks its server for what it needs, under `base`. `nonce`: of the policy that
/// the server sends. `collection`: the title of the one that it is a member of, or empty.
std::string live_page(const Resources& resources, const std::string& base, const std::string& nonce,
                      const std::string& collection);

/// A member in the table of contents of a collection.
struct ContentsLine {
  std::string name;
  std::string address;                   // of its page; empty: it has none
  std::shared_ptr<Resources> resources;  // null: not opened
  std::string fault;                     // why it cannot be opened
};

/// The table of contents of a collection.
std::string contents_page(const std::string& title, const std::vector<ContentsLine>& lines,
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
