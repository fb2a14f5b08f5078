// How anndata notes what an object is: as attributes beside the user's own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "lib/base/json.h"

namespace dapple::detail::arrays {

/// The paths of the tables that tell of rows and columns, by the place of a matrix among annotated
/// data; "" for none.
inline std::array<std::string_view, 2> tables_of(std::string_view path) noexcept {
  const std::string_view part = path.substr(0, path.find('/'));
  if (path == "X" || part == "layers") return {"obs", "var"};
  if (path == "raw/X") return {"obs", "raw/var"};
  if (part == "obsm") return {"obs", ""};
  if (part == "varm") return {"var", ""};
  if (part == "obsp") return {"obs", "obs"};
  if (part == "varp") return {"var", "var"};
  return {};
}

/// Takes out what tells how an object of anndata is stored, which need not be true of a copy of it.
inline void drop_encoding(Json& attributes) {
  static constexpr std::array<std::string_view, 7> names = {
      "encoding-type", "encoding-version", "shape",         "column-order",
      "_index",        "h5sparse_format",  "h5sparse_shape"};
  if (attributes.find(names.front()) == nullptr && attributes.find("h5sparse_format") == nullptr) {
    return;
  }
  Json kept;
  kept.kind = Json::Kind::object;
  for (std::size_t i = 0; i < attributes.keys.size(); ++i) {
    if (std::find(names.begin(), names.end(), attributes.keys[i]) != names.end()) continue;
    kept.keys.push_back(std::move(attributes.keys[i]));
    kept.items.push_back(std::move(attributes.items[i]));
  }
  attributes = std::move(kept);
}

}  // namespace dapple::detail::arrays
