#include "lib/foreign/mtx/mtx_coordinate.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "lib/cells/convert_cells.h"
#include "lib/foreign/mtx/mtx_entries.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::mtx {

namespace {

struct CoordinateState : DriverState {
  Header header;
  unsigned threads = 1;
  Strips strips;
  mutable std::once_flag sorted;
  mutable std::unique_ptr<StripRecords> records;  // made at the latest when needed
};

/// The records of a block. The first call parses and sorts those of the whole file, if opening has
/// not.
Records records_of(const Store& store, const Entry& entry) {
  const auto& state = store.state<CoordinateState>();
  std::call_once(state.sorted, [&] {
    if (state.records != nullptr) return;
    state.records = sort_entries(Text(store.file()), state.header, state.strips, state.threads);
  });
  return state.records->of(entry.pos.rx >> state.strips.shift);
}

/// Calls `f` with every record of a block inside `part`, in ascending order.
template <class F>
void for_each_record(const Store& store, const Entry& entry, const Part& part, const F& f) {
  const Records records = records_of(store, entry);
  const std::uint64_t begin = records.find_row(part.rows.begin);
  records.for_each(begin, records.find_row(part.rows.end, begin), [&](const Record& record) {
    if (part.cols.contains(record.col)) f(record);
  });
}

/// The value of a record as `type`. Throws type_mismatch when that does not hold it.
std::uint64_t value_of(const Store& store, const Entry& entry, const Record& r, ValueType type) {
  std::uint64_t bits = r.bits;
  const ValueType stored = store.schema().value_type;
  if (type != stored && !convert_cell(stored, r.bits, type, bits)) {
    fail_misfit_of(store, entry.pos.rx + r.row, r.col, r.bits, type);
  }
  return bits;
}

void read_strip(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  fill_zero(out, part.rows.size(), part.cols.size());
  if (entry.kind == BlockKind::empty) return;
  for_each_record(store, entry, part, [&](const Record& r) {
    store_bits(out.type, out.cell(r.row - part.rows.begin, r.col - part.cols.begin),
               value_of(store, entry, r, out.type));
  });
}

void strip_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  for_each_record(store, entry, part, [&](const Record& r) {
    take({entry.pos.rx + r.row, r.col, r.bits});
  });
}

bool strip_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                  const CsrTarget& out) {
  const Records records = records_of(store, entry);
  const std::uint64_t begin =
      cursor.row == rows.begin ? cursor.entries : records.find_row(rows.begin);
  const std::uint64_t end =
      rows.end == entry.rows ? records.size() : records.find_row(rows.end, begin);
  if (end - begin > out.room) return false;
  visit_bits(out.type, [&](auto tag) {
    using Bits = decltype(tag);
    const bool same = out.type == entry.value_type;
    std::uint64_t row = rows.begin, k = 0;
    records.for_each(begin, end, [&](const Record& record) {
      while (row <= record.row) out.row_ptr[row++ - rows.begin] = k;
      const std::uint64_t bits = same ? record.bits : value_of(store, entry, record, out.type);
      out.col_idx[k] = record.col;
      store_le(out.values + k * sizeof(Bits), static_cast<Bits>(bits));
      ++k;
    });
    while (row <= rows.end) out.row_ptr[row++ - rows.begin] = k;
  });
  cursor = {rows.end, end};
  return true;
}

void skip_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  cursor = {row, records_of(store, entry).find_row(row)};
}

const Driver kCoordinateDriver = {.format = "mtx",
                                  .read = read_strip,
                                  .entries = strip_entries,
                                  .csr_arrays = strip_arrays,
                                  .skip_rows = skip_rows};

}  // namespace

std::shared_ptr<const Store> open_coordinate(std::shared_ptr<ByteSource> file, const Header& header,
                                             unsigned threads) {
  auto state = std::make_unique<CoordinateState>();
  state->header = header;
  state->threads = threads;
  Entries read = read_entries(Text(*file), header, threads);
  state->strips = std::move(read.strips);
  state->records = std::move(read.records);
  Schema schema;
  schema.rows = header.rows;
  schema.cols = header.cols;
  schema.value_type = header.value_type;
  schema.storage = Storage::csr;
  EntryTable entries;
  entries.reserve(state->strips.count());
  for (std::uint64_t strip = 0; strip < state->strips.count() && header.cols > 0; ++strip) {
    Entry entry;
    entry.pos = {strip << state->strips.shift, 0};
    entry.rows = static_cast<std::uint32_t>(
        std::min(std::uint64_t{1} << state->strips.shift, header.rows - entry.pos.rx));
    entry.cols = static_cast<std::uint32_t>(header.cols);
    entry.offset = header.data;  // its entries may be anywhere after it
    entry.stored = state->strips.entries[strip];
    entry.kind = entry.stored > 0 ? BlockKind::csr : BlockKind::empty;
    entry.value_type = header.value_type;
    entries.push_back(entry);
  }
  BlockIndex index =
      BlockIndex::from_entries(std::move(entries), header.rows, header.cols, file->name());
  return std::make_shared<const Store>(std::move(file), std::move(schema), std::move(index),
                                       kCoordinateDriver, std::move(state));
}

}  // namespace dapple::detail::mtx
