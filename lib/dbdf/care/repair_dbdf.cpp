#include "lib/dbdf/care/repair_dbdf.h"

#include <optional>
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

/// The content of the hint with the meanings of columns, whose trailer may be damaged: according to
/// the index, or else where the walk found it.
std::optional<Hint> find_columns(const MappedFile& file, std::uint64_t body,
                                 const Inspection& found) {
  try {
    if (const auto trailer = find_trailer(file, body + kPosition + kDenseHeader)) {
      if (const auto hint = find_hint(file, body, *trailer, kColumnsTag)) return hint;
    }
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
  }
  if (!found.columns) return std::nullopt;
  return Hint{found.columns->offset + kDenseHeader, found.columns->bytes - kDenseHeader};
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
  if (schema.kind == ObjectKind::frame) {
    if (const auto hint = find_columns(*file, body, found)) {
      const std::size_t before = report.lost.size();
      save_columns(file, hint->offset, hint->bytes, schema.columns, report.lost);
      report.meanings_lost = report.lost.size() - before;
    }
  }
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
