#include "lib/foreign/zarr/hierarchy.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "lib/foreign/arrays/annotated.h"
#include "lib/object/attributes.h"

namespace dapple::detail::zarr {

namespace {

constexpr char kAfterSlash = '/' + 1;
constexpr std::uint64_t kUsual = 256 << 10;  // bytes of metadata, at most

/// The member of an object, taken out of it; null when there is none.
Json take(Json& object, std::string_view name) {
  const Json* const found = object.find(name);
  return found != nullptr
             ? std::move(object.items[static_cast<std::size_t>(found - object.items.data())])
             : Json{};
}

}  // namespace

std::string_view Node::text(std::string_view attribute) const noexcept {
  const Json* const found = attributes.find(attribute);
  return found != nullptr && found->is(Json::Kind::string) ? found->text : std::string_view();
}

std::function<std::string()> Node::for_schema() const {
  Json known = attributes;
  arrays::drop_encoding(known);
  const Json* names = metadata.find("dimension_names");
  if (names == nullptr) names = attributes.find("_ARRAY_DIMENSIONS");
  if (names != nullptr && names->items.size() == 2 && known.find("dimension_names") == nullptr &&
      names->items[0].is(Json::Kind::string) && names->items[1].is(Json::Kind::string)) {
    known.kind = Json::Kind::object;
    known.keys.emplace_back("dimension_names");
    known.items.push_back(*names);
  }
  std::string text = known.dump();
  if (known.keys.empty() || !fault_of_attributes(text).empty()) return {};
  return [text = std::move(text)] { return text; };
}

Hierarchy::Hierarchy(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {
  if (auto root = read("zarr.json")) {
    root_ = std::move(*root);
    Json inlined = take(root_, "consolidated_metadata");
    consolidate(take(inlined, "metadata"));
  } else {
    is_v2_ = true;
    if (auto all = read(".zmetadata")) consolidate(take(*all, "metadata"));
  }
}

void Hierarchy::consolidate(Json all) {
  is_consolidated_ = all.is(Json::Kind::object);
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    consolidated_.emplace(std::move(all.keys[i]), std::move(all.items[i]));
  }
}

std::optional<Json> Hierarchy::read(const std::string& key) const {
  const auto file = keys_->open(key, kUsual);
  if (file == nullptr) return std::nullopt;
  if (file->size() > Json::kMost) {
    throw Error(Errc::unsupported, keys_->shown(key), std::nullopt,
                "metadata of " + std::to_string(file->size()) + " bytes is too long");
  }
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read_at(0, std::as_writable_bytes(std::span(text)));
  return Json::parse(text, keys_->shown(key));
}

std::optional<Node> Hierarchy::find(const std::string& path) const {
  if (is_v2_) return find_v2(path);
  std::optional<Json> json;
  if (path.empty()) {
    json = root_;
  } else if (!is_consolidated_) {
    json = read(below(path, "zarr.json"));
  } else if (const auto known = consolidated_.find(path); known != consolidated_.end()) {
    json = known->second;
  }
  if (!json) return std::nullopt;
  Node node{path, keys_->shown(below(path, "zarr.json")), false, {}, take(*json, "attributes")};
  const Json type = take(*json, "node_type");
  node.is_array = type.is_text("array");
  if (!node.is_array && !type.is_text("group")) {
    throw Error(Errc::corrupt, node.key, std::nullopt, "node_type is neither 'array' nor 'group'");
  }
  if (node.is_array) node.metadata = std::move(*json);
  return node;
}

std::optional<Node> Hierarchy::find_v2(const std::string& path) const {
  const auto get = [&](std::string_view name) -> std::optional<Json> {
    const std::string key = below(path, name);
    if (!is_consolidated_) return read(key);
    const auto known = consolidated_.find(key);
    return known != consolidated_.end() ? std::optional(known->second) : std::nullopt;
  };
  Node node{path, keys_->shown(below(path, ".zarray")), true, {}, {}};
  if (auto array = get(".zarray")) {
    node.metadata = std::move(*array);
  } else if (get(".zgroup")) {
    node.is_array = false;
    node.key = keys_->shown(below(path, ".zgroup"));
  } else {
    return std::nullopt;
  }
  if (auto attributes = get(".zattrs")) node.attributes = std::move(*attributes);
  return node;
}

std::vector<std::string> Hierarchy::children(const std::string& path) const {
  if (!is_consolidated_) return keys_->children(path);
  std::set<std::string> names;
  const std::string prefix = path.empty() ? "" : path + "/";
  for (auto at = consolidated_.upper_bound(prefix);
       at != consolidated_.end() && at->first.starts_with(prefix);) {
    const std::size_t slash = at->first.find('/', prefix.size());
    const std::string name = at->first.substr(prefix.size(), slash - prefix.size());
    if (!name.starts_with(".z")) names.insert(name);
    // All below a child are skipped.
    at = slash == std::string::npos ? std::next(at)
                                    : consolidated_.lower_bound(prefix + name + kAfterSlash);
  }
  return {names.begin(), names.end()};
}

}  // namespace dapple::detail::zarr
