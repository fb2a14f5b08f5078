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

/// The first member whose key is not before this one. REQUIRES members in order.
auto first_from(const std::vector<JsonMember>& members, std::string_view key) {
  return std::lower_bound(
      members.begin(), members.end(), key,
      [](const JsonMember& member, std::string_view wanted) { return member.key < wanted; });
}

}  // namespace

std::function<std::string()> Node::for_schema() const {
  Json known;
  try {
    if (!attributes.empty()) known = Json::parse(attributes, key);
  } catch (const Error& e) {
    if (e.code() != Errc::unsupported) throw;
    return {};  // with more values they are longer
  }
  if (!known.is(Json::Kind::object)) known = {};  // no one has such attributes
  arrays::drop_encoding(known);
  const Json* names = metadata.find("dimension_names");
  if (names == nullptr) names = known.find("_ARRAY_DIMENSIONS");
  if (names != nullptr && names->items.size() == 2 && known.find("dimension_names") == nullptr &&
      names->items[0].is(Json::Kind::string) && names->items[1].is(Json::Kind::string)) {
    known.kind = Json::Kind::object;
    known.keys.emplace_back("dimension_names");
    known.items.push_back(Json(*names));
  }
  std::string text = known.dump();
  if (known.keys.empty() || !fault_of_attributes(text).empty()) return {};
  return [text = std::move(text)] { return text; };
}

Hierarchy::Hierarchy(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {
  is_v2_ = !read_root("zarr.json");
  if (is_v2_) read_root(".zmetadata");
}

/// False where there is no such key.
bool Hierarchy::read_root(const std::string& key) {
  auto text = read_text(key);
  if (!text) return false;
  text_ = *std::move(text);
  root_key_ = keys_->shown(key);
  const std::string_view inlined = is_v2_ ? "metadata" : "consolidated_metadata";
  for (const JsonMember& member : json_members(text_, root_key_)) {
    if (member.key != inlined) {
      check_part(member.text);
    } else if (is_v2_) {
      consolidate(member.text);
    } else {
      for (const JsonMember& inner : json_members(member.text, root_key_)) {
        if (inner.key == "metadata") consolidate(inner.text);
      }
    }
  }
  return true;
}

void Hierarchy::consolidate(std::string_view all) {
  if (is_consolidated_ || !all.starts_with('{')) return;
  is_consolidated_ = true;
  const auto before = [](const JsonMember& a, const JsonMember& b) { return a.key < b.key; };
  const auto same = [](const JsonMember& a, const JsonMember& b) { return a.key == b.key; };
  consolidated_ = json_members(all, root_key_);
  std::stable_sort(consolidated_.begin(), consolidated_.end(), before);
  consolidated_.erase(std::unique(consolidated_.begin(), consolidated_.end(), same),
                      consolidated_.end());
}

/// Throws as `check_json` of a part of the root's metadata, which is blamed.
void Hierarchy::check_part(std::string_view part) const {
  try {
    check_json(part, root_key_);
  } catch (const Error& e) {
    if (!e.offset()) throw;
    const auto begin = static_cast<std::uint64_t>(part.data() - text_.data());
    throw e.retold(e.file(), begin + *e.offset(), e.detail());
  }
}

std::optional<std::string> Hierarchy::read_text(const std::string& key) const {
  const auto file = keys_->open(key, kUsual);
  if (file == nullptr) return std::nullopt;
  if (file->size() > Json::kMost) {
    throw Error(Errc::unsupported, keys_->shown(key), std::nullopt,
                "metadata of " + std::to_string(file->size()) + " bytes is too long");
  }
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// What a file of metadata at a path holds, which is JSON; nothing where there is none.
std::optional<std::string> Hierarchy::json_of(const std::string& path,
                                              std::string_view name) const {
  const std::string key = below(path, name);
  if (!is_consolidated_) {
    auto text = read_text(key);
    if (text) check_json(*text, keys_->shown(key));
    return text;
  }
  const std::string& wanted = is_v2_ ? key : path;
  const auto at = first_from(consolidated_, wanted);
  if (at == consolidated_.end() || at->key != wanted) return std::nullopt;
  check_part(at->text);
  return std::string(at->text);
}

std::optional<Node> Hierarchy::find(const std::string& path) const {
  if (is_v2_) return find_v2(path);
  const auto own = path.empty() ? std::nullopt : json_of(path, "zarr.json");
  if (!path.empty() && !own) return std::nullopt;
  Node node{path, keys_->shown(below(path, "zarr.json")), false, {}, {}};
  std::string other = "{";
  for_each_json_member(own ? *own : text_, [&](const JsonMember& member) {
    if (member.key == "attributes") {
      if (node.attributes.empty()) node.attributes = member.text;
    } else if (!path.empty() || member.key != "consolidated_metadata") {
      if (other.size() > 1) other += ',';
      append_json_string(other, member.key);
      other.append(":").append(member.text);
    }
  });
  node.metadata = Json::parse(other + '}', node.key);
  const Json* const type = node.metadata.find("node_type");
  node.is_array = type != nullptr && type->is_text("array");
  if (!node.is_array && (type == nullptr || !type->is_text("group"))) {
    throw Error(Errc::corrupt, node.key, std::nullopt, "node_type is neither 'array' nor 'group'");
  }
  return node;
}

std::optional<Node> Hierarchy::find_v2(const std::string& path) const {
  Node node{path, keys_->shown(below(path, ".zarray")), true, {}, {}};
  if (const auto array = json_of(path, ".zarray")) {
    node.metadata = Json::parse(*array, node.key);
  } else if (json_of(path, ".zgroup")) {
    node.is_array = false;
    node.key = keys_->shown(below(path, ".zgroup"));
  } else {
    return std::nullopt;
  }
  if (auto attributes = json_of(path, ".zattrs")) node.attributes = *std::move(attributes);
  return node;
}

std::vector<std::string> Hierarchy::children(const std::string& path) const {
  if (!is_consolidated_) return keys_->children(path);
  std::set<std::string> names;
  const std::string prefix = path.empty() ? "" : path + "/";
  auto at = first_from(consolidated_, prefix);
  if (at != consolidated_.end() && at->key == prefix) ++at;
  while (at != consolidated_.end() && at->key.starts_with(prefix)) {
    const std::size_t slash = at->key.find('/', prefix.size());
    const std::string name = at->key.substr(prefix.size(), slash - prefix.size());
    if (!name.starts_with(".z")) names.insert(name);
    // All below a child are skipped.
    at = slash == std::string::npos ? std::next(at)
                                    : first_from(consolidated_, prefix + name + kAfterSlash);
  }
  return {names.begin(), names.end()};
}

}  // namespace dapple::detail::zarr
