#include <utility>

#include "dapple/verify.h"
#include "lib/dbdf/block_writer.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/inspect.h"

namespace dapple {

RepairReport repair(const std::filesystem::path& in, const std::filesystem::path& out,
                    const WriteOptions& options) {
  using namespace detail;
  auto file = MappedFile::open(in);
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
  dbdf::Inspection found = dbdf::inspect(file, body, schema, Level::payload);
  RepairReport report;
  report.lost = std::move(found.findings);
  report.blocks_kept = found.sound.size();
  BlockWriter writer(out, std::move(schema), options);
  for (std::uint64_t i = 0; i < found.sound.size(); ++i) {
    const Entry e = found.sound[i];
    writer.put_bytes(e, file->bytes(e.offset - dbdf::kPosition, dbdf::kPosition + e.bytes));
  }
  report.written = writer.finish(false);
  return report;
}

}  // namespace dapple
