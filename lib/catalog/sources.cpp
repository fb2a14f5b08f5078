#include "lib/catalog/sources.h"

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>

#include "dapple/range_reader.h"
#include "lib/catalog/collection.h"
#include "lib/dataset/open_dataset.h"
#include "lib/foreign/zarr/zarr.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"
#include "lib/io/reader/reader_source.h"

namespace dapple::detail {

namespace {

using SourcePtr = std::shared_ptr<ByteSource>;

/// The latest state of a data set.
SourcePtr open_dataset(const std::filesystem::path& folder, const OpenOptions& options) {
  for (;;) {
    const std::filesystem::path state = dataset::latest_state(folder);
    try {
      auto file = LocalFile::open(state, options.guard);
      dataset::require_state(*file);
      return file;
    } catch (const Error& e) {  // it was collected: there is a later one
      if (e.code() != Errc::io || !dataset::is_gone(state)) throw;
    }
  }
}

/// The metadata of a Zarr hierarchy far away. `find` opens a name in its folder, and gives nullptr
/// when there is none.
SourcePtr find_hierarchy(const std::function<SourcePtr(const std::string&)>& find) {
  for (const char* const metadata : zarr::kMetadata) {
    if (auto source = find(metadata)) return source;
  }
  return nullptr;
}

/// Whether a name far away is one of the folder of a collection, and a member of it is asked for.
bool is_collection_of(std::string_view folder, const OpenOptions& options) {
  return !options.array.empty() && (folder.ends_with(".dds") || folder.ends_with(".dds/"));
}

/// Whether it is one of a member, FOLDER.dds/X, whose file has an ending.
bool may_be_member(std::string_view name) {
  const std::size_t at = name.rfind(".dds/");
  return at != name.npos && is_member_name(name.substr(at + 5));
}

/// Whether it may be one of a member of a packed collection, FILE.zip/X.
bool may_be_packed(std::string_view name) {
  const std::size_t at = name.rfind(".zip/");
  return at != name.npos && is_member_name(name.substr(at + 5));
}

/// The bytes of that member. `find` opens the name of the archive, and gives nullptr when there
/// is none; so does this, also where the archive is no collection.
SourcePtr find_packed(std::string_view name,
                      const std::function<SourcePtr(const std::string&)>& find) {
  const std::size_t end = name.rfind(".zip/") + 4;
  auto archive = find(std::string(name.substr(0, end)));
  if (archive == nullptr || !is_packed_collection(*archive)) return nullptr;
  return open_packed(std::move(archive), std::string(name.substr(end + 1)));
}

/// What a store has in a folder, which ends in a slash: the latest state of a data set; nullptr
/// when there is none.
SourcePtr find_dataset(const std::shared_ptr<const ObjectStore>& store, const std::string& folder,
                       const CacheFolder& cache) {
  for (std::string before;;) {
    const std::string state = dataset::latest_of(store->list(folder));
    if (state.empty()) return nullptr;
    if (auto source = find_in_store(store, folder + state, cache)) {
      dataset::require_state(*source);
      return source;
    }
    if (state == before) throw_io(folder + state, "open", ENOENT);
    before = state;  // it was collected: there is a later one
  }
}

/// The file of a member of a collection, or the latest state of one that is a data set.
SourcePtr find_member_file(const std::shared_ptr<const ObjectStore>& store, const std::string& file,
                           const CacheFolder& cache) {
  if (auto source = find_in_store(store, file, cache)) return source;
  return find_dataset(store, file + '/', cache);
}

/// Why there is nothing to open in a folder of a store.
[[noreturn]] void fail_folder(const std::shared_ptr<const ObjectStore>& store,
                              const std::string& name, const std::string& folder,
                              const OpenOptions& options) {
  if (store->list(folder).empty()) throw_io(name, "open", ENOENT);
  if (const auto files = CollectionFiles::of(store, name)) {
    fail_member(name, files->members(kMemberEnding), options.array);
  }
  throw Error(Errc::not_recognised, name, std::nullopt,
              "the folder holds no data set, no Zarr hierarchy, and no member of a collection that "
              "was asked for");
}

/// The path of an address.
std::string_view path_of(std::string_view address) {
  return address.substr(0, address.find_first_of("?#"));
}

SourcePtr open_address(const std::string& address, const OpenOptions& options) {
  const CacheFolder cache = cache_of(options);
  const std::string_view path = path_of(address);
  const bool is_folder = path.ends_with('/'), is_collection = is_collection_of(path, options);
  const bool is_member = !is_folder && may_be_member(path);
  const bool is_packed = !is_folder && may_be_packed(path);
  if (!is_folder && !path.ends_with(".zarr")) {
    if (!is_collection && !is_member && !is_packed) return http::open_address(address, cache);
    if (auto source = http::find_address(address, cache)) return source;  // a file of its own
  }
  if (is_packed) {
    const std::string query = address.substr(path.size());
    auto source = find_packed(path, [&](const std::string& archive) {
      return http::find_address(archive + query, cache);
    });
    return source != nullptr ? source : http::open_address(address, cache);  // throws why not
  }
  std::string folder = address;
  if (is_member) return http::open_address(folder.insert(path.size(), kMemberEnding), cache);
  if (!is_folder) folder.insert(path.size(), 1, '/');
  if (is_collection) {
    return http::open_address(http::address_beside(folder, member_file(options.array)), cache);
  }
  auto source = find_hierarchy([&](const std::string& name) {
    return http::find_address(http::address_beside(folder, name), cache);
  });
  if (source != nullptr) return source;
  const std::string shown = http::shown(folder);
  throw Error(
      Errc::not_recognised, shown, std::nullopt,
      "folders cannot be listed on a web server: give the address of one state of a data set, " +
          shown +
          "dataset-7, say, or name the member of a collection (.dds/); there is no Zarr "
          "hierarchy here",
      "array");
}

}  // namespace

SourcePtr open_source(const std::string& name, const OpenOptions& options) {
  if (http::is_address(name)) return open_address(name, options);
  if (auto file = LocalFile::open_or_copy(name, options.guard)) return file;
  std::error_code none;
  const auto type = std::filesystem::status(name, none).type();
  if (type == std::filesystem::file_type::directory) {
    if (is_collection_folder(name)) return open_source(member_path(name, options.array), options);
    const std::string member = name + std::string(kMemberEnding);  // a, beside a/b
    if (may_be_member(name) && std::filesystem::exists(member, none)) {
      return open_source(member, options);
    }
    const std::string metadata = zarr::metadata_in(name);
    if (metadata.empty()) return open_dataset(name, options);
    return LocalFile::open(metadata, options.guard);
  }
  if (type == std::filesystem::file_type::not_found) {
    if (auto member = open_member(name, options)) return member;
  }
  return LocalFile::open(name, options.guard);  // throws why it cannot be
}

SourcePtr open_in_store(const std::shared_ptr<const ObjectStore>& store, const std::string& name,
                        const OpenOptions& options) {
  if (store == nullptr) throw Error(Errc::invalid_argument, "there is no store to open from");
  const CacheFolder cache = cache_of(options);
  if (auto source = name.ends_with('/') ? nullptr : find_in_store(store, name, cache)) {
    return source;
  }
  const std::string folder = name.empty() || name.ends_with('/') ? name : name + '/';
  SourcePtr source;
  if (is_collection_of(name, options)) {
    source = find_member_file(store, folder + member_file(options.array), cache);
  } else if (may_be_member(name)) {
    source = find_member_file(store, name + std::string(kMemberEnding), cache);
  } else if (may_be_packed(name)) {
    source = find_packed(
        name, [&](const std::string& archive) { return find_in_store(store, archive, cache); });
  }
  if (source == nullptr) {
    source = find_hierarchy(
        [&](const std::string& file) { return find_in_store(store, folder + file, cache); });
  }
  if (source == nullptr) source = find_dataset(store, folder, cache);
  if (source == nullptr) fail_folder(store, name, folder, options);
  return source;
}

}  // namespace dapple::detail
