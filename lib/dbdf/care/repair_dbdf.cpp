#include "lib/dbdf/care/repair_dbdf.h"

#include <utility>

#include "lib/dbdf/care/inspect.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/write/block_writer.h"

namespace dapple::detail::dbdf {

void require_repairable(const MappedFile& file) {
  try {
    std::uint64_t body = 0;
    read_header(file, body);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    throw Error(Errc::not_recognised, file.name(), e.offset(),
                "this is not a dbdf file, or its header cannot be repaired: " + e.detail());
  }
}

namespace {

/// Gives the columns their meanings from the file. Damaged ones become a finding.
void keep_meanings(const std::shared_ptr<MappedFile>& file, std::uint64_t body, Schema& schema,
                   std::vector<Error>& lost) {
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (!trailer || schema.kind != ObjectKind::frame) return;
  std::vector<Column> columns = schema.columns;
  try {
    const auto hint = find_hint(*file, body, *trailer, kColumnsTag);
    if (!hint) return;
    read_columns(file, hint->offset, hint->bytes, columns);
    emit_columns(columns);  // reads every word
    schema.columns = std::move(columns);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    lost.push_back(e);
  }
}

}  // namespace

RepairReport repair_dbdf(const std::shared_ptr<MappedFile>& file, const std::filesystem::path& out,
                         const WriteOptions& options, const TakeProgress& progress) {
  std::uint64_t body = 0;
  Schema schema = read_header(*file, body);
  Inspection found = inspect(file, body, schema, Level::payload, progress);
  RepairReport report;
  report.lost = std::move(found.findings);
  report.blocks_lost = found.lost;
  report.blocks_kept = found.sound.size();
  keep_meanings(file, body, schema, report.lost);
  BlockWriter writer(out, std::move(schema), options, Gaps::leave);
  for (std::uint64_t i = 0; i < found.sound.size(); ++i) {
    const Entry e = found.sound[i];
    writer.put_bytes(e, file->bytes(e.offset - kPosition, kPosition + e.bytes));
  }
  if (!file->is_intact()) file->fail_changed("it");  // before the result is published
  found = Inspection();                              // frees its memory for the index
  report.written = writer.finish();
  return report;
}

}  // namespace dapple::detail::dbdf
