#include <utility>

#include "dapple/verify.h"
#include "lib/dbdf/block_writer.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/inspect.h"
#include "lib/dbdf/open_dbdf.h"
#include "lib/foreign/formats.h"

namespace dapple {

namespace {

RepairReport repair_file(const std::shared_ptr<detail::MappedFile>& file,
                         const std::filesystem::path& out, const WriteOptions& options,
                         const OpenOptions& reading, const TakeProgress& progress) {
  using namespace detail;
  std::uint64_t body = 0;
  Schema schema;
  try {
    schema = dbdf::read_header(*file, body);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    throw Error(
        Errc::not_recognised, file->name(), e.offset(),
        "expected the header of a DAPHNE binary file to repair, got damage there: " + e.detail());
  }
  // Files of the DAPHNE runtime start alike, but their bytes mean other cells.
  if (const Format& format = format_to_read(*file, reading);
      format.info.name != dbdf::kCodec.format) {
    throw Error(Errc::unsupported, file->name(), std::nullopt,
                "expected a DAPHNE binary file to repair, got one of the format " +
                    std::string(format.info.name) +
                    ", which convert reads; --from dbdf takes it for the former all the same");
  }
  dbdf::Inspection found = dbdf::inspect(file, body, schema, Level::payload, progress);
  RepairReport report;
  report.lost = std::move(found.findings);
  report.blocks_lost = found.lost;
  report.blocks_kept = found.sound.size();
  BlockWriter writer(out, std::move(schema), options, Gaps::leave);
  for (std::uint64_t i = 0; i < found.sound.size(); ++i) {
    const Entry e = found.sound[i];
    writer.put_bytes(e, file->bytes(e.offset - dbdf::kPosition, dbdf::kPosition + e.bytes));
  }
  if (!file->is_intact()) file->fail_changed("it");  // before anything is published
  report.written = writer.finish();
  return report;
}

}  // namespace

RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options, const OpenOptions& reading,
                    const TakeProgress& progress) {
  const auto file = detail::MappedFile::open(in, reading.guard);
  return detail::watched(*file, [&] { return repair_file(file, out, options, reading, progress); });
}

}  // namespace dapple
