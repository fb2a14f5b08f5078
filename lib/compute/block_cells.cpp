#include "lib/compute/block_cells.h"

#include <array>

namespace dapple::detail {

namespace {

constexpr std::uint64_t kEntriesAtOnce = 16384;

}

bool holds_stored(const Schema& schema, Range cols, ValueType stored) {
  if (schema.kind == ObjectKind::matrix) return holds_all(schema.value_type, stored);
  for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
    if (!holds_all(schema.type_of(c), stored)) return false;
  }
  return true;
}

EncodedRun::EncodedRun(const EncodedRows& from, const Entry& entry, Range rows)
    : from_(from),
      entry_(entry),
      stop_(rows.end),
      at_once_(std::clamp<std::uint64_t>(kEntriesAtOnce * entry.rows / (entry.stored + 1), 1,
                                         kEntriesAtOnce)),
      first_(rows.begin),
      end_(rows.begin) {}

bool EncodedRun::next() {
  first_ = end_;
  if (first_ == stop_) return false;
  end_ += std::min(at_once_, stop_ - first_);
  starts_.reset(rows() + 1);
  from_.starts(static_cast<std::uint32_t>(first_), static_cast<std::uint32_t>(end_),
               starts_.data());
  const std::uint32_t count = starts_[rows()] - starts_[0];
  cols_.reset(count);
  values_.reset(count * size_of(entry_.value_type));
  from_.entries({starts_.begin(), starts_.end()}, cols_.data(), entry_.value_type, values_.data());
  return true;
}

namespace {

std::vector<Range> strips(std::uint64_t n, std::uint64_t tiles, std::uint64_t tile,
                          std::uint64_t most) {
  std::vector<Range> cut;
  if (n == 0) return cut;
  const bool at_tiles = tiles >= most;
  const std::uint64_t units = at_tiles ? tiles : n;
  const std::uint64_t count = std::clamp<std::uint64_t>(most, 1, units);
  const std::uint64_t each = units / count, longer = units % count;  // the first ones take one more
  std::uint64_t unit = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = unit;
    unit += each + (i < longer ? 1 : 0);
    const std::uint64_t size = at_tiles ? tile : 1;
    cut.push_back({begin * size, i + 1 == count ? n : unit * size});
  }
  return cut;
}

}  // namespace

void block_cells::each_stored_run(const Store& store, const Entry& e, const Part& part,
                                  const CellRun::Take& take) {
  std::array<StoredCell, CellRun::kMost> cells;
  std::size_t n = 0;
  visit_bits(e.value_type, [&](auto bits) {
    using Bits = decltype(bits);
    each_entry<sizeof(Bits)>(sparse_payload(store, e), part, cursor_at(store, e, part.rows.begin),
                             [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
                               cells[n++] = {e.pos.rx + row, e.pos.cx + col, load_le<Bits>(value)};
                               if (n < cells.size()) return;
                               take(cells);
                               n = 0;
                             });
  });
  take(std::span(cells).first(n));
}

void require_covered(const Store& store, Absent absent) {
  if (absent != Absent::zero) {
    store.require_covered({{0, store.schema().rows}, {0, store.schema().cols}}, absent);
  }
}

std::vector<Range> row_strips(const Store& store, std::uint64_t most) {
  const auto& grid = store.index().grid();
  return strips(store.schema().rows, grid ? grid->rows : 0, grid ? grid->tile.rows : 1, most);
}

std::vector<Range> column_strips(const Store& store, std::uint64_t most) {
  const auto& grid = store.index().grid();
  return strips(store.schema().cols, grid ? grid->cols : 0, grid ? grid->tile.cols : 1, most);
}

}  // namespace dapple::detail
