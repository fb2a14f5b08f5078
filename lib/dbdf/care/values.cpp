#include "lib/dbdf/care/values.h"

#include <algorithm>

#include "lib/dbdf/codes.h"

namespace dapple::detail::dbdf {

namespace {

/// Calls f(columns) for the runs of columns of one declared type, counted from the block's first.
template <class F>
void for_each_run(const Store& store, const Entry& e, const F& f) {
  for (std::uint64_t c = 0; c < e.cols;) {
    const ValueType type = store.schema().type_of(e.pos.cx + c);
    std::uint64_t end = c + 1;
    while (end < e.cols && store.schema().type_of(e.pos.cx + end) == type) ++end;
    f(Range{c, end});
    c = end;
  }
}

/// Reads the columns of such a run, a strip of rows at a time: f(first row, cells).
template <class F>
void read_run(const Store& store, const Entry& e, Range cols, const F& f) {
  constexpr std::uint64_t kBuffer = 1 << 20;
  const ValueType type = store.schema().type_of(e.pos.cx + cols.begin);
  const std::uint64_t row_bytes = cols.size() * size_of(type);
  const std::uint64_t strip = std::max<std::uint64_t>(1, kBuffer / row_bytes);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(strip, e.rows) * row_bytes);
  for (std::uint64_t r = 0; r < e.rows; r += strip) {
    const Range rows{r, std::min<std::uint64_t>(e.rows, r + strip)};
    store.driver().read(store, e, {rows, cols}, {buffer.data(), type, row_bytes, size_of(type)});
    f(r, DenseCells{buffer.data(), type, static_cast<std::uint32_t>(rows.size()),
                    static_cast<std::uint32_t>(cols.size()), row_bytes});
  }
}

}  // namespace

void read_all(const Store& store, const Entry& e) {
  if (e.kind == BlockKind::empty) return;
  const Driver& driver = store.driver();
  if (e.kind != BlockKind::dense && driver.entries != nullptr) {
    const CellRun::Take ignore = [](std::span<const StoredCell>) {};
    CellRun run(ignore);
    driver.entries(store, e, {{0, e.rows}, {0, e.cols}}, run);
    return;
  }
  for_each_run(store, e, [&](Range cols) {
    const ValueType type = store.schema().type_of(e.pos.cx + cols.begin);
    const bool cannot_fail = holds_all(type, e.value_type) && driver.in_place != nullptr &&
                             driver.in_place(store, e).has_value();
    if (!cannot_fail) read_run(store, e, cols, [](std::uint64_t, const DenseCells&) {});
  });
}

void check_codes(const Store& store, std::vector<Error>& findings) {
  const Schema& schema = store.schema();
  for (std::uint64_t number = 0; number < store.index().size(); ++number) {
    const Entry e = store.confirmed_entry(number);
    if (e.kind == BlockKind::empty) continue;
    std::optional<std::string> bad;
    for_each_run(store, e, [&](Range cols) {
      const std::uint64_t first = e.pos.cx + cols.begin;
      if (bad || !hold_codes(schema, {first, e.pos.cx + cols.end})) return;
      read_run(store, e, cols, [&](std::uint64_t row, const DenseCells& cells) {
        if (!bad) bad = find_bad_code(schema, {e.pos.rx + row, first}, cells);
      });
    });
    if (bad) findings.emplace_back(Errc::corrupt, store.file().name(), e.offset, *bad);
  }
}

}  // namespace dapple::detail::dbdf
