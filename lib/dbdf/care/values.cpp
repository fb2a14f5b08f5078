#include "lib/dbdf/care/values.h"

#include "lib/dbdf/codes.h"
#include "lib/object/decoded_cells.h"

namespace dapple::detail::dbdf {

void read_all(const Store& store, const Entry& e) {
  if (e.kind == BlockKind::empty) return;
  if (e.kind != BlockKind::dense) {
    return store.entries(e, {{0, e.rows}, {0, e.cols}}, [](std::span<const StoredCell>) {});
  }
  const Driver& driver = store.driver();
  Band band;
  const Schema& schema = store.schema();
  for (Range cols{0, 0}; cols.begin < e.cols; cols.begin = cols.end) {
    cols.end = schema.end_of_type({e.pos.cx + cols.begin, e.pos.cx + e.cols}) - e.pos.cx;
    const bool cannot_fail = holds_all(schema.type_of(e.pos.cx + cols.begin), e.value_type) &&
                             driver.in_place != nullptr && driver.in_place(store, e).has_value();
    if (cannot_fail) continue;
    for_each_decoded(store, e, {{0, e.rows}, cols}, band,
                     [](const Part&, ValueType, const std::byte*, std::size_t) {});
  }
}

void check_codes(const Store& store, std::vector<Error>& findings) {
  const Schema& schema = store.schema();
  Band band;
  for (std::uint64_t number = 0; number < store.index().size(); ++number) {
    const Entry e = store.confirmed_entry(number);
    if (e.kind == BlockKind::empty) continue;
    std::optional<std::string> bad;
    for (Range cols{0, 0}; cols.begin < e.cols && !bad; cols.begin = cols.end) {
      cols.end = schema.end_of_type({e.pos.cx + cols.begin, e.pos.cx + e.cols}) - e.pos.cx;
      if (!hold_codes(schema, {e.pos.cx + cols.begin, e.pos.cx + cols.end})) continue;
      for_each_decoded(
          store, e, {{0, e.rows}, cols}, band,
          [&](const Part& piece, ValueType type, const std::byte* cells, std::size_t step) {
            const DenseCells rows{cells, type, static_cast<std::uint32_t>(piece.rows.size()),
                                  static_cast<std::uint32_t>(piece.cols.size()), step};
            const BlockPos first{e.pos.rx + piece.rows.begin, e.pos.cx + piece.cols.begin};
            if (!bad) bad = find_bad_code(schema, first, rows);
          });
    }
    if (bad) findings.emplace_back(Errc::corrupt, store.file().name(), e.offset, *bad);
  }
}

}  // namespace dapple::detail::dbdf
