// The groups and arrays of a Zarr hierarchy, of version 2 or 3.
#pragma once

#include <functional>
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
  Json metadata;           // of an array
  std::string attributes;  // JSON: an object, or another value; "" for none

  /// All of them and, of an array of two dimensions, their names as "dimension_names", as a schema
  /// has them (lib/object/attributes.h). None where they are longer than it allows.
  std::function<std::string()> for_schema() const;
};

class Hierarchy {
 public:
  /// Reads the root's metadata. Of that of all nodes, where it is consolidated, only where each is;
  /// it is parsed when the node is looked for. Throws corrupt, unsupported.
  explicit Hierarchy(std::shared_ptr<const Keys> keys);
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  const std::shared_ptr<const Keys>& keys() const noexcept { return keys_; }
  /// The node at a path, or nothing. Throws corrupt.
  std::optional<Node> find(const std::string& path) const;
  /// The names of what may be nodes directly under a path, in order.
  std::vector<std::string> children(const std::string& path) const;

 private:
  bool read_root(const std::string& key);
  void consolidate(std::string_view all);
  std::optional<std::string> read_text(const std::string& key) const;
  std::optional<std::string> json_of(const std::string& path, std::string_view name) const;
  void check_part(std::string_view part) const;
  std::optional<Node> find_v2(const std::string& path) const;

  std::shared_ptr<const Keys> keys_;
  bool is_v2_ = false, is_consolidated_ = false;
  std::string root_key_, text_;           // what the root's metadata is called, and is
  std::vector<JsonMember> consolidated_;  // of that text: by path, or by key in version 2
};

}  // namespace dapple::detail::zarr
