#include <string>

#include "dapple/verify.h"
#include "lib/catalog/collection.h"
#include "lib/catalog/formats.h"
#include "lib/catalog/sources.h"
#include "lib/dataset/open_dataset.h"
#include "lib/dbdf/care/repair_dbdf.h"
#include "lib/dbdf/read/open_dbdf.h"

namespace dapple {

RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options, const OpenOptions& reading,
                    const TakeProgress& progress) {
  using namespace detail;
  const auto opened = open_source(in.string(), reading);
  return watched(*opened, [&] {
    auto file = opened;
    // Checked first: files of the DAPHNE runtime start alike, but mean other cells.
    const Format* format = nullptr;
    try {
      format = &format_to_read(file, reading);
    } catch (const Error& e) {
      if (e.code() != Errc::not_recognised) throw;
    }
    if (format != nullptr && format->info.name == detail::dataset::kFormat) {
      throw Error(
          Errc::invalid_argument, file->name(), std::nullopt,
          "a state of a data set is not repaired: open the one before; a part can be, which "
          "makes a file that is committed as a new part");
    }
    if (format != nullptr && format->info.name == kCollectionFormat) {
      file = open_packed(file, reading.array);
    } else if (format != nullptr && format->info.name != dbdf::kDriver.format) {
      throw Error(Errc::invalid_argument, file->name(), std::nullopt,
                  "only dbdf files can be repaired, and the format of this one is " +
                      std::string(format->info.name),
                  "format");
    }
    dbdf::require_repairable(*file);
    return dbdf::repair_dbdf(file, out, options, progress);
  });
}

}  // namespace dapple
