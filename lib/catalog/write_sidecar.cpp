#include "dapple/sidecar.h"

#include <string>

#include "lib/catalog/formats.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/sidecar.h"
#include "lib/foreign/csv/csv.h"

namespace dapple {

bool write_sidecar(const std::filesystem::path& path, const OpenOptions& options,
                   const TakeProgress& progress, bool even_if_indexed) {
  using namespace detail;
  const auto file = MappedFile::open(path, options.guard);
  return watched(*file, [&] {
    if (format_to_read(*file, options).info.name == "csv") {
      csv::write_csv_sidecar(file, path, options);
      return true;
    }
    const std::shared_ptr<const Store> store = open_store(file, options);
    if (store->codec().format != dbdf::kCodec.format) {
      throw Error(Errc::unsupported, path.string(), std::nullopt,
                  "a file of the format " + std::string(store->codec().format) + " needs no index");
    }
    if (store->index().origin() == IndexOrigin::embedded && !even_if_indexed) return false;
    dbdf::write_sidecar_of(*file, path, progress);
    return true;
  });
}

}  // namespace dapple
