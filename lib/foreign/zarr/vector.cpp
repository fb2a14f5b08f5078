#include "lib/foreign/zarr/vector.h"

#include <string>
#include <utility>

namespace dapple::detail::zarr {

std::shared_ptr<const ArrayData> open_vector(const Hierarchy& hierarchy, const Node& group,
                                             std::string_view name) {
  const std::string path = below(group.path, checked_path(name));
  auto node = hierarchy.find(path);
  if (!node || !node->is_array) {
    throw Error(Errc::corrupt, group.key, std::nullopt,
                "the group has no array '" + std::string(name) + "'");
  }
  ArrayMetadata metadata = parse_array(node->metadata, node->key);
  if (metadata.shape.size() != 1) {
    throw Error(Errc::corrupt, node->key, std::nullopt,
                "this should have one dimension, not " + std::to_string(metadata.shape.size()));
  }
  Slice slice{{0}, 0, Slice::kNone};
  return std::make_shared<const ArrayData>(hierarchy.keys(), path, std::move(metadata),
                                           std::move(slice));
}

}  // namespace dapple::detail::zarr
