#include "dapple/sidecar.h"

#include <string>

#include "lib/catalog/formats.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/sidecar.h"
#include "lib/foreign/csv/csv.h"

namespace dapple {

bool write_sidecar(const std::filesystem::path& path, const OpenOptions& options,
                   const SidecarOptions& sidecar) {
  using namespace detail;
  const auto file = MappedFile::open(path, options.guard);
  return watched(*file, [&] {
    auto content = file;
    const Format& format = format_to_read(content, options);
    if (content != file) {
      throw Error(Errc::unsupported, path.string(), std::nullopt,
                  "a compressed file is read from its start, so an index would not help");
    }
    if (format.info.name == "csv") {
      if (sidecar.statistics) {
        throw Error(Errc::unsupported, path.string(), std::nullopt,
                    "a CSV file has no blocks to keep statistics of; convert it first");
      }
      csv::write_csv_sidecar(file, path, options);
      return true;
    }
    const std::shared_ptr<const Store> store = open_store(file, options);
    if (store->codec().format != dbdf::kCodec.format) {
      throw Error(Errc::unsupported, path.string(), std::nullopt,
                  "a file of the format " + std::string(store->codec().format) + " needs no index");
    }
    if (store->index().origin() == IndexOrigin::embedded && !sidecar.even_if_indexed &&
        (!sidecar.statistics || store->block_stats() != nullptr)) {
      return false;
    }
    dbdf::write_sidecar_of(file, path, sidecar);
    return true;
  });
}

}  // namespace dapple
