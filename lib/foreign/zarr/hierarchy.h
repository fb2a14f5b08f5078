// The groups and arrays of a Zarr hierarchy, of version 2 or 3.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"
#include "lib/foreign/zarr/keys.h"

namespace dapple::detail::zarr {

struct Node {
  std::string path;  // "" for the root
  std::string key;   // of its metadata, for messages
  bool is_array = false;
  Json metadata;    // of an array
  Json attributes;  // an object, or null

  /// An attribute that is a string; "" for none.
  std::string_view text(std::string_view attribute) const noexcept;
  /// All of them and, of an array of two dimensions, their names as "dimension_names", as a schema
  /// has them (lib/object/attributes.h). None where they are longer than it allows.
  std::function<std::string()> for_schema() const;
};

class Hierarchy {
 public:
  /// Reads the root's metadata, and with it that of all nodes where it is consolidated. Throws
  /// corrupt, unsupported.
  explicit Hierarchy(std::shared_ptr<const Keys> keys);

  const std::shared_ptr<const Keys>& keys() const noexcept { return keys_; }
  /// The node at a path, or nothing. Throws corrupt.
  std::optional<Node> find(const std::string& path) const;
  /// The names of what may be nodes directly under a path, in order.
  std::vector<std::string> children(const std::string& path) const;

 private:
  void consolidate(Json all);
  std::optional<Json> read(const std::string& key) const;
  std::optional<Node> find_v2(const std::string& path) const;

  std::shared_ptr<const Keys> keys_;
  bool is_v2_ = false, is_consolidated_ = false;
  std::map<std::string, Json> consolidated_;  // by path, or by key in version 2
  Json root_;                                 // of version 3
};

}  // namespace dapple::detail::zarr
