#include "lib/catalog/sources.h"

#include "lib/catalog/collection.h"
#include "lib/foreign/zarr/zarr.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail {

std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options) {
  if (http::is_address(name)) {
    return http::open_address(name, {options.cache, options.cache_bytes});
  }
  if (is_collection_folder(name)) {
    return LocalFile::open(member_path(name, options.array), options.guard);
  }
  if (const std::string metadata = zarr::metadata_in(name); !metadata.empty()) {
    return LocalFile::open(metadata, options.guard);
  }
  return LocalFile::open(name, options.guard);
}

}  // namespace dapple::detail
