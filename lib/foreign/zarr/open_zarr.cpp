#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/foreign/zarr/nodes.h"
#include "lib/foreign/zarr/zarr.h"

namespace dapple::detail::zarr {

namespace {

/// A slice of two dimensions of an array of more, as `OpenOptions::array` takes it.
std::string first_slice(const std::string& path, std::size_t rank) {
  std::string name = path + '[';
  for (std::size_t d = 2; d < rank; ++d) name += "0,";
  return name + ":,:]";
}

/// Looks at the nodes one after the other, a group before its members.
class Listing {
 public:
  explicit Listing(const Hierarchy& hierarchy) : hierarchy_(hierarchy) { visit("", 0); }
  arrays::Choices choices;
  bool has_slices = false;  // among what cannot be opened as a whole

 private:
  static constexpr std::size_t kMost = 100'000, kDeepest = 32;

  void visit(const std::string& path, std::size_t depth) {
    if (++seen_ > kMost || depth > kDeepest) return;
    const auto node = hierarchy_.find(path);
    if (!node) return;
    if (node->is_array) return look_at(*node);
    const arrays::Encoding encoding = arrays::encoding_of(object_of(*node));
    if (encoding != arrays::Encoding::none) {
      choices.found.push_back({path, encoding != arrays::Encoding::table});
      return;
    }
    for (const std::string& name : hierarchy_.children(path)) {
      visit(below(path, checked_path(name)), depth + 1);
    }
  }
  void look_at(const Node& node) {
    std::string fault;
    try {
      const ArrayMetadata metadata = parse_array(node.metadata, node.key);
      const std::size_t rank = metadata.shape.size();
      if (metadata.type.words) {
        fault = "strings";
      } else if (rank == 1 || rank == 2) {
        choices.found.push_back({node.path, rank == 2});
        return;
      } else {
        has_slices |= rank > 2;
        fault = rank == 0 ? "a single value"
                          : std::to_string(rank) + " dimensions: open a slice, '" +
                                first_slice(node.path, rank) + "'";
      }
    } catch (const Error& error) {
      fault = error.what();
    }
    choices.add_other(node.path.empty() ? "an array" : node.path, fault);
  }

  const Hierarchy& hierarchy_;
  std::size_t seen_ = 0;
};

[[noreturn]] void fail_choice(const ByteSource& file, const Listing& listing,
                              const std::string& wanted) {
  const arrays::Choices& choices = listing.choices;
  std::string what = choices.found.empty()
                         ? "the hierarchy holds no matrices" + choices.shown_others()
                         : "the hierarchy holds " + counted(choices.found.size(), "array") + ": " +
                               choices.listed();
  if (!wanted.empty()) what = "there is no array '" + wanted + "'; " + what;
  if (!wanted.empty() || !choices.found.empty()) {
    throw Error(Errc::invalid_argument, file.name(), std::nullopt, what, "array");
  }
  throw Error(Errc::unsupported, file.name(), std::nullopt, what,
              listing.has_slices ? "array" : "");
}

/// "PATH[3,:,:]": the path, and what is between the brackets; nothing for a path alone.
std::pair<std::string, std::vector<std::string>> split_slice(const std::string& wanted) {
  const std::size_t open = wanted.rfind('[');
  if (open == wanted.npos || !wanted.ends_with(']')) return {wanted, {}};
  std::vector<std::string> parts;
  for (std::size_t at = open + 1; at < wanted.size();) {
    const std::size_t end = std::min(wanted.find(',', at), wanted.size() - 1);
    parts.push_back(wanted.substr(at, end - at));
    at = end + 1;
  }
  return {wanted.substr(0, open), parts};
}

Slice slice_of(const Extents& shape, const std::vector<std::string>& parts, const Node& node) {
  const std::size_t rank = shape.size();
  Slice slice{Extents(rank), 0, rank == 1 ? Slice::kNone : 1};
  if (parts.empty() && (rank == 1 || rank == 2)) return slice;
  std::vector<std::size_t> whole;
  bool fits = parts.size() == rank;
  for (std::size_t d = 0; d < rank && fits; ++d) {
    if (parts[d] == ":") {
      whole.push_back(d);
      continue;
    }
    const char* const end = parts[d].data() + parts[d].size();
    const auto parsed = std::from_chars(parts[d].data(), end, slice.index[d]);
    fits = parsed.ec == std::errc() && parsed.ptr == end && slice.index[d] < shape[d];
  }
  if (!fits || whole.empty() || whole.size() > 2) {
    throw Error(Errc::invalid_argument, node.key, std::nullopt,
                "of an array of " + (rank == 0 ? "no dimensions" : extents_text(shape)) +
                    " cells one slice of two dimensions is read: '" + first_slice(node.path, rank) +
                    "', say, with a number or ':' for each",
                "array");
  }
  slice.rows = whole[0];
  slice.cols = whole.size() == 2 ? whole[1] : Slice::kNone;
  return slice;
}

std::shared_ptr<Store> open_group(std::shared_ptr<ByteSource> file,
                                  const std::shared_ptr<const Hierarchy>& hierarchy,
                                  const Node& node) {
  static constexpr arrays::GroupDrivers kDrivers("zarr");
  const arrays::Encoding encoding = arrays::encoding_of(object_of(node));
  if (encoding == arrays::Encoding::none) {
    throw Error(Errc::unsupported, node.key, std::nullopt,
                "the group is neither a sparse matrix nor a table of anndata's");
  }
  Schema schema;
  schema.attributes = node.for_schema();
  return arrays::open_group(std::move(file), Nodes(hierarchy), nodes_later(hierarchy), node.path,
                            encoding, std::move(schema), kDrivers);
}

std::shared_ptr<Store> open_node(std::shared_ptr<ByteSource> file,
                                 const std::shared_ptr<const Hierarchy>& hierarchy,
                                 const Node& node, const std::vector<std::string>& parts) {
  if (!node.is_array) return open_group(std::move(file), hierarchy, node);
  ArrayMetadata metadata = parse_array(node.metadata, node.key);
  if (metadata.type.words) {
    throw Error(Errc::unsupported, node.key, std::nullopt,
                "an array of strings is read only as a column of a table");
  }
  Slice slice = slice_of(metadata.shape, parts, node);
  auto data = std::make_unique<const ArrayData>(hierarchy->keys(), node.path, std::move(metadata),
                                                std::move(slice));
  return open_dense(std::move(file), std::move(data), node,
                    parts.empty() ? nodes_later(hierarchy) : nullptr);
}

std::shared_ptr<Store> open_at(std::shared_ptr<ByteSource> file,
                               const std::shared_ptr<const Hierarchy>& hierarchy,
                               const std::string& path, const std::vector<std::string>& parts) {
  const auto node = hierarchy->find(path);
  if (!node) fail_choice(*file, Listing(*hierarchy), path);
  return open_node(std::move(file), hierarchy, *node, parts);
}

}  // namespace

std::string metadata_in(const std::string& folder) {
  for (const char* const name : kMetadata) {
    std::error_code none;
    const auto path = std::filesystem::path(folder) / name;
    if (std::filesystem::is_regular_file(path, none)) return path.string();
  }
  return {};
}

Match recognise_zarr(const Probe& probe) {
  const std::string& path = probe.file.name();
  const std::string name = path.substr(folder_prefix(path).size());
  const bool known = std::find(kMetadata.begin(), kMetadata.end(), name) != kMetadata.end();
  if (known && probe.file.has_folder()) return Match::by_content;
  return probe.extension == ".zip" && archive_root(probe.file) ? Match::by_content : Match::no;
}

std::vector<arrays::Listed> list_zarr(const std::shared_ptr<ByteSource>& file) {
  const auto hierarchy = std::make_shared<const Hierarchy>(keys_of(file));
  std::vector<arrays::Listed> all;
  for (const arrays::Choice& one : Listing(*hierarchy).choices.found) {
    all.push_back({one.path, [file, hierarchy, path = one.path] {
                     return open_at(file, hierarchy, path, {});
                   }});
  }
  return all;
}

std::shared_ptr<const Store> open_zarr(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options) {
  const auto hierarchy = std::make_shared<const Hierarchy>(keys_of(file));
  auto [path, parts] = split_slice(options.array);
  std::vector<std::string> all;
  path = checked_path(path);
  const auto root = hierarchy->find("");
  if (path.empty() && parts.empty() && !(root && root->is_array)) {
    const Listing listing(*hierarchy);
    const std::string* const only = listing.choices.only();
    if (only == nullptr) fail_choice(*file, listing, {});
    path = *only;
    all = listing.choices.contents();
  }
  auto store = open_at(std::move(file), hierarchy, path, parts);
  store->set_contents(std::move(all));
  return store;
}

}  // namespace dapple::detail::zarr
