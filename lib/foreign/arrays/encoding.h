// How anndata notes what an object is: as attributes beside the user's own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "lib/base/json.h"

namespace dapple::detail::arrays {

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
