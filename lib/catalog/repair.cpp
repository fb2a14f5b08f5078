#include <string>

#include "dapple/verify.h"
#include "lib/catalog/formats.h"
#include "lib/dbdf/care/repair_dbdf.h"
#include "lib/dbdf/read/open_dbdf.h"

namespace dapple {

RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options, const OpenOptions& reading,
                    const TakeProgress& progress) {
  using namespace detail;
  const auto file = MappedFile::open(in, reading.guard);
  return watched(*file, [&] {
    dbdf::require_repairable(*file);
    // Files of the DAPHNE runtime start alike, but their bytes mean other cells.
    if (const Format& format = format_to_read(*file, reading);
        format.info.name != dbdf::kCodec.format) {
      throw Error(
          Errc::unsupported, file->name(), std::nullopt,
          "only dbdf files can be repaired, and this one is " + std::string(format.info.name),
          Remedy::name_format);
    }
    return dbdf::repair_dbdf(file, out, options, progress);
  });
}

}  // namespace dapple
