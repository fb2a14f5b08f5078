#include "dapple/sidecar.h"

#include <string>

#include "lib/catalog/formats.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/sidecar.h"

namespace dapple {

void write_sidecar(const std::filesystem::path& path, const OpenOptions& options,
                   const TakeProgress& progress) {
  using namespace detail;
  const auto file = MappedFile::open(path, options.guard);
  watched(*file, [&] {
    const std::shared_ptr<const Store> store = open_store(file, options);
    if (store->codec().format != dbdf::kCodec.format) {
      throw Error(Errc::unsupported, path.string(), std::nullopt,
                  "expected a DAPHNE binary file, got " + std::string(store->codec().format) +
                      ", which needs no index");
    }
    dbdf::write_sidecar_of(*file, path, progress);
  });
}

}  // namespace dapple
