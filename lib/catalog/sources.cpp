#include "lib/catalog/sources.h"

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "dapple/range_reader.h"
#include "lib/catalog/collection.h"
#include "lib/dataset/open_dataset.h"
#include "lib/foreign/zarr/zarr.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"
#include "lib/io/reader/reader_source.h"

namespace dapple::detail {

namespace {

/// The latest state of a data set.
std::shared_ptr<ByteSource> open_dataset(const std::filesystem::path& folder,
                                         const OpenOptions& options) {
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

using SourcePtr = std::shared_ptr<ByteSource>;

/// What can be found in a folder far away by names that are known: a member of a collection, or the
/// metadata of a Zarr hierarchy. `find` opens a name in it, and gives nullptr when there is none.
SourcePtr find_in_folder(bool may_be_collection, const OpenOptions& options,
                         const std::function<SourcePtr(const std::string&)>& find) {
  if (may_be_collection && !options.array.empty()) return find(member_file(options.array));
  for (const char* const metadata : zarr::kMetadata) {
    if (auto source = find(metadata)) return source;
  }
  return nullptr;
}

/// The path of an address.
std::string_view path_of(std::string_view address) {
  return address.substr(0, address.find_first_of("?#"));
}

SourcePtr open_address(const std::string& address, const OpenOptions& options) {
  const CacheFolder cache = cache_of(options);
  const std::string_view path = path_of(address);
  const bool is_zarr = path.ends_with(".zarr");
  if (!is_zarr && !path.ends_with('/')) return http::open_address(address, cache);
  std::string folder = address;
  if (is_zarr) folder.insert(path.size(), 1, '/');
  auto source = find_in_folder(path.ends_with(".dds/"), options, [&](const std::string& name) {
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
  const auto find = [&](const std::string& file) {
    return find_in_store(store, folder + file, cache);
  };
  if (auto source = find_in_folder(folder.ends_with(".dds/"), options, find)) return source;
  for (std::string before;;) {
    const std::vector<std::string> names = store->list(folder);
    const std::string state = dataset::latest_of(names);
    if (names.empty()) throw_io(name, "open", ENOENT);
    if (state.empty()) {
      throw Error(Errc::not_recognised, name, std::nullopt,
                  "the folder holds no data set, no Zarr hierarchy, and no member of a collection "
                  "that was asked for");
    }
    if (auto source = find(state)) {
      dataset::require_state(*source);
      return source;
    }
    if (state == before) throw_io(folder + state, "open", ENOENT);
    before = state;  // it was collected: there is a later one
  }
}

}  // namespace dapple::detail
