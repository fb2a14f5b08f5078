#include "lib/object/block_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/cells/convert_cells.h"
#include "lib/object/sparse.h"

namespace dapple::detail {

namespace {

/// Brings cells into ascending order. Throws corrupt when one is stored twice.
void sort_cells(const Store& store, const Entry& entry, KeptCells& cells) {
  const auto cell = [&](std::uint32_t i) {
    return std::uint64_t{cells.rows[i]} << 32 | cells.cols[i];
  };
  std::vector<std::uint32_t> order(cells.rows.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return cell(a) < cell(b); };
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::sort(order.begin(), order.end(), before);
  }
  const auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](auto a, auto b) { return cell(a) == cell(b); });
  if (twice != order.end()) {
    const BlockPos pos{entry.pos.rx + cells.rows[*twice], entry.pos.cx + cells.cols[*twice]};
    throw Error(Errc::corrupt, store.file().name(), std::nullopt,
                "cell " + text(pos) + " is stored twice (R5)");
  }
  const auto arrange = [&](auto& values) {
    auto sorted = values;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
    values.swap(sorted);
  };
  arrange(cells.rows);
  arrange(cells.cols);
  arrange(cells.bits);
}

bool ascend(const KeptCells& cells) noexcept {
  for (std::size_t i = 1; i < cells.rows.size(); ++i) {
    if (cells.rows[i] < cells.rows[i - 1] ||
        (cells.rows[i] == cells.rows[i - 1] && cells.cols[i] <= cells.cols[i - 1])) {
      return false;
    }
  }
  return true;
}

}  // namespace

void read_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                 const CsrTarget& out) {
  if (!store.driver().csr_arrays(store, entry, rows, cursor, out)) {
    store.file().fail_changed("block " + text(entry.pos));
  }
}

std::optional<ValueType> declared_type(const Schema& schema, Range cols) noexcept {
  if (schema.end_of_type(cols) < cols.end) return std::nullopt;
  return schema.type_of(cols.begin);
}

Range KeptCells::in(Range wanted) const noexcept {
  const auto at = [&](std::uint64_t row) {
    return static_cast<std::uint64_t>(std::lower_bound(rows.begin(), rows.end(), row) -
                                      rows.begin());
  };
  return {at(wanted.begin), at(wanted.end)};
}

BlockRows::BlockRows(const Store& store, const Entry& entry) : store_(store), entry_(entry) {
  const Driver& driver = store.driver();
  if (entry_.kind == BlockKind::empty) return;
  if (entry_.kind == BlockKind::dense) {
    way_ = Way::dense;
    if (driver.in_place == nullptr) return;
    if (auto place = driver.in_place(store, entry_)) {
      held_ = std::move(place->held);
      row_step_ = place->row_step;
    }
    return;
  }
  way_ = Way::kept;
  if (entry_.kind != BlockKind::csr) return;
  if (HeldRows encoded = store.encoded_rows(entry_); encoded.rows != nullptr) {
    way_ = Way::encoded;
    held_ = std::move(encoded.held);
    encoded_ = std::move(encoded.rows);
  } else if (driver.sparse_in_place) {
    way_ = Way::csr;
    payload_.emplace(sparse_payload(store, entry_));
    held_ = payload_->held;
  } else if (driver.skip_rows != nullptr && driver.csr_arrays != nullptr && entry_.codec == 0) {
    // A value that does not fit its column is an error only where it is wanted. What is encoded is
    // decoded once, as a whole.
    const std::optional<ValueType> declared =
        declared_type(store.schema(), {entry_.pos.cx, entry_.pos.cx + entry_.cols});
    if (declared && holds_all(*declared, entry_.value_type)) way_ = Way::arrays;
  }
}

void BlockRows::skip(std::uint64_t row, RowCursor& cursor) const {
  if (way_ == Way::encoded) {
    const auto at = static_cast<std::uint32_t>(std::min<std::uint64_t>(row, entry_.rows));
    std::uint32_t before = 0;
    encoded_->starts(at, at, &before);
    cursor = {at, before};
    return;
  }
  if (way_ == Way::arrays) return store_.driver().skip_rows(store_, entry_, row, cursor);
  each_csr_row(*payload_, {row, row}, cursor, [](const StoredRow&) {});
}

const KeptCells& BlockRows::kept() const {
  const std::lock_guard lock(mutex_);
  if (kept_) return *kept_;
  KeptCells cells;
  const std::optional<ValueType> declared =
      declared_type(store_.schema(), {entry_.pos.cx, entry_.pos.cx + entry_.cols});
  if (store_.driver().sparse_in_place) {
    keep_payload(cells);
  } else if (store_.driver().csr_arrays != nullptr &&
             !has_rare_entries(entry_.rows, entry_.stored) && declared &&
             holds_all(*declared, entry_.value_type)) {
    keep_arrays(cells);
  } else {
    keep_entries(cells);
  }
  if (!ascend(cells)) sort_cells(store_, entry_, cells);
  return kept_.emplace(std::move(cells));
}

void BlockRows::keep_payload(KeptCells& cells) const {
  const SparsePayload payload = sparse_payload(store_, entry_);
  const Part whole{{0, entry_.rows}, {0, entry_.cols}};
  each_value(payload, whole, {}, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
    cells.rows.push_back(row);
    cells.cols.push_back(col);
    cells.bits.push_back(load_bits(entry_.value_type, value));
  });
}

void BlockRows::keep_arrays(KeptCells& cells) const {
  std::vector<std::uint64_t> row_ptr(std::size_t{entry_.rows} + 1);
  cells.cols.resize(entry_.stored);
  std::vector<std::byte> values(entry_.stored * size_of(entry_.value_type));
  RowCursor cursor;
  const CsrTarget target{row_ptr.data(), cells.cols.data(), values.data(), entry_.value_type,
                         entry_.stored};
  read_arrays(store_, entry_, {0, entry_.rows}, cursor, target);
  const std::uint64_t count = row_ptr.back();
  cells.cols.resize(count);
  cells.bits.resize(count);
  cells.rows.reserve(count);
  for (std::uint32_t row = 0; row < entry_.rows; ++row) {
    cells.rows.insert(cells.rows.end(), row_ptr[row + 1] - row_ptr[row], row);
  }
  for (std::size_t k = 0; k < count; ++k) {
    cells.bits[k] = load_bits(entry_.value_type, values.data() + k * size_of(entry_.value_type));
  }
}

void BlockRows::keep_entries(KeptCells& cells) const {
  cells.declared = true;
  const CellRun::Take take = [&](std::span<const StoredCell> run) {
    for (const StoredCell& cell : run) {
      cells.rows.push_back(static_cast<std::uint32_t>(cell.row - entry_.pos.rx));
      cells.cols.push_back(static_cast<std::uint32_t>(cell.col - entry_.pos.cx));
      cells.bits.push_back(cell.bits);
    }
  };
  store_.entries(entry_, {{0, entry_.rows}, {0, entry_.cols}}, take);
}

}  // namespace dapple::detail
