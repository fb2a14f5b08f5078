#include "lib/foreign/zarr/nodes.h"

#include "lib/base/bytes.h"

namespace dapple::detail::zarr {

arrays::Object object_of(Node node) {
  const bool is_array = node.is_array;
  return {is_array, [node = std::move(node)](const char* name) {
            std::optional<Json> found;
            for_each_json_member(node.attributes, [&](const JsonMember& member) {
              if (member.key == name && !found) found = Json::parse(member.text, node.key);
            });
            return found;
          }};
}

arrays::FindObjects nodes_later(const std::shared_ptr<const Hierarchy>& hierarchy) {
  const auto& keys = hierarchy->keys();
  if (!keys->fetches()) {
    return
        [keys] { return std::make_shared<const Nodes>(std::make_shared<const Hierarchy>(keys)); };
  }
  return [nodes = std::make_shared<const Nodes>(hierarchy)] { return nodes; };
}

std::optional<arrays::Object> Nodes::find(const std::string& path) const {
  auto node = hierarchy_->find(checked_path(path));
  return node ? std::optional(object_of(std::move(*node))) : std::nullopt;
}

arrays::Vector Nodes::open_vector(const std::string& path) const {
  const auto data = zarr::open_vector(*hierarchy_, checked_path(path));
  const ArrayMetadata& metadata = data->metadata();
  arrays::Vector vector{.path = data->path(),
                        .items = {data->rows(), size_of(data->type())},
                        .type = data->type(),
                        .boolean = metadata.type.boolean};
  vector.shown = {{"chunks", extents_text(metadata.chunk)}, {"codecs", metadata.codecs}};
  if (metadata.type.words) {
    vector.read_words = [data](const arrays::TakeWord& take) { data->read_words(take); };
  } else {
    vector.items.load = [data](Range which, std::byte* out) { data->read(which, out); };
  }
  return vector;
}

Error Nodes::fault(Errc code, const std::string& path, const std::string& what) const {
  return Error(code, hierarchy_->keys()->shown(path), std::nullopt, what);
}

}  // namespace dapple::detail::zarr
