#include "lib/catalog/sources.h"

#include <filesystem>
#include <system_error>

#include "lib/catalog/collection.h"
#include "lib/dataset/open_dataset.h"
#include "lib/foreign/zarr/zarr.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail {

namespace {

/// The latest state of a data set.
std::shared_ptr<ByteSource> open_dataset(const std::filesystem::path& folder,
                                         const OpenOptions& options) {
  for (;;) {
    const std::filesystem::path state = dataset::latest_state(folder);
    try {
      return LocalFile::open(state, options.guard);
    } catch (const Error& e) {  // it was collected: there is a later one
      std::error_code none;
      if (e.code() != Errc::io || std::filesystem::exists(state, none)) throw;
    }
  }
}

}  // namespace

std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options) {
  if (http::is_address(name)) {
    return http::open_address(name, {options.cache, options.cache_bytes});
  }
  if (is_collection_folder(name)) return open_source(member_path(name, options.array), options);
  if (const std::string metadata = zarr::metadata_in(name); !metadata.empty()) {
    return LocalFile::open(metadata, options.guard);
  }
  std::error_code none;
  if (std::filesystem::is_directory(name, none)) return open_dataset(name, options);
  if (auto member = open_member(name, options)) return member;
  return LocalFile::open(name, options.guard);
}

}  // namespace dapple::detail
