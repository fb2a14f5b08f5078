#include "lib/foreign/mtx/mtx_array.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/mtx/mtx_values.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::mtx {

namespace {

// Each value of a column goes to its own cache line of the caller's row-major memory, which the
// next seven columns share. That many lines stay in the L2 cache until they do.
constexpr std::uint64_t kBlockCells = std::uint64_t{4} << 10;
// Half of a symmetric block comes from other columns, a few values from each: the wider, the more.
constexpr std::uint64_t kSymmetricBlockCells = std::uint64_t{64} << 10;

struct ArrayState : DriverState {
  Header header;
  Positions positions;

  /// Rows between the diagonal and the first cell that a column of a symmetric matrix stores.
  std::uint64_t below_diagonal() const noexcept {
    return header.symmetry == Symmetry::skew ? 1 : 0;
  }

  /// The number of the value that holds a cell. REQUIRES a cell that the file stores: any of a
  /// general matrix, otherwise at least `below_diagonal` rows below the diagonal.
  std::uint64_t number_of(std::uint64_t row, std::uint64_t col) const noexcept {
    if (header.symmetry == Symmetry::general) return col * header.rows + row;
    const std::uint64_t above = col % 2 == 0 ? col / 2 * (col - 1) : (col - 1) / 2 * col;
    return col * (header.rows - below_diagonal()) - above + (row - col - below_diagonal());
  }

  /// The number of the first value of a column, or the count of all values after the last.
  std::uint64_t first_of(std::uint64_t col) const noexcept {
    return number_of(header.symmetry == Symmetry::general ? 0 : col + below_diagonal(), col);
  }
};

/// Decodes a part of a block. Cells above the diagonal of a symmetric matrix are those of the
/// mirrored column, read as a row.
class ArrayReader {
 public:
  ArrayReader(const Store& store, const Target& out)
      : state_(store.state<ArrayState>()),
        text_(store.file()),
        values_(text_, state_.positions),
        out_(out) {}

  template <class T>
  void read(const Region& cells) {
    const auto [r0, r1] = cells.rows;
    const auto [c0, c1] = cells.cols;
    const Symmetry symmetry = state_.header.symmetry;
    if (symmetry == Symmetry::general) {
      for (std::uint64_t c = c0; c < c1; ++c) {
        read_run<T>(state_.number_of(r0, c), r1 - r0, out_.cell(0, c - c0), out_.row_step, false);
      }
      return;
    }
    const std::uint64_t below = state_.below_diagonal();
    const bool skew = below > 0;
    if (skew) fill_zero(out_, r1 - r0, c1 - c0);  // the diagonal
    for (std::uint64_t c = c0; c < c1; ++c) {
      const std::uint64_t first = std::max(r0, c + below);
      if (first >= r1) continue;
      read_run<T>(state_.number_of(first, c), r1 - first, out_.cell(first - r0, c - c0),
                  out_.row_step, false);
    }
    for (std::uint64_t r = r0; r < r1; ++r) {
      const std::uint64_t first = std::max(c0, r + 1);
      if (first >= c1) continue;
      read_run<T>(state_.number_of(first, r), c1 - first, out_.cell(r - r0, first - c0),
                  out_.col_step, skew);
    }
  }

 private:
  /// Reads `n` values from number `first` on to cells `step` bytes apart.
  template <class T>
  void read_run(std::uint64_t first, std::uint64_t n, std::byte* to, std::size_t step,
                bool negate) {
    values_.seek(first);
    const ValueType type = value_type_of<T>();
    for (std::uint64_t i = 0; i < n; ++i, to += step) {
      T value = values_.read<T>();
      if (negate) value = negated(value);
      const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
      if (out_.type == type) {
        std::memcpy(to, bytes, sizeof value);
      } else if (convert_cells(type, bytes, sizeof value, out_.type, to, step, 1) == 0) {
        values_.fail_type(out_.type, can_be_rounded(type, bytes, out_.type));
      }
    }
  }

  template <class T>
  T negated(T value) const {
    if (std::is_integral_v<T> && value == std::numeric_limits<T>::min()) {
      values_.fail_type(value_type_of<T>());
    }
    return value == T{} ? value : static_cast<T>(T{} - value);
  }

  const ArrayState& state_;
  const Text text_;
  ValueReader values_;
  const Target& out_;
};

void read_array_block(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  const Region cells{{entry.pos.rx + part.rows.begin, entry.pos.rx + part.rows.end},
                     {entry.pos.cx + part.cols.begin, entry.pos.cx + part.cols.end}};
  ArrayReader reader(store, out);
  switch (store.schema().value_type) {
    case ValueType::i64:
      return reader.read<std::int64_t>(cells);
    case ValueType::u64:
      return reader.read<std::uint64_t>(cells);
    default:
      return reader.read<double>(cells);
  }
}

const Driver kArrayDriver = {.format = "mtx", .read = read_array_block};

/// Values that an array file of this header holds. Throws corrupt when they cannot be counted.
std::uint64_t count_of(const Text& text, const Header& header) {
  const std::uint64_t n = header.rows;
  std::uint64_t count = 0;
  if (!multiply(n, header.cols, count)) {
    throw Error(Errc::corrupt, text.file, header.data,
                "no file holds the " + std::to_string(n) + " x " + std::to_string(header.cols) +
                    " values that the header announces");
  }
  if (header.symmetry == Symmetry::symmetric) return n + (count - n) / 2;
  return header.symmetry == Symmetry::skew ? (count - n) / 2 : count;
}

/// Blocks of whole columns, or of parts of one where columns are longer, in file order.
EntryTable make_entries(const Text& text, const ArrayState& state) {
  const Header& header = state.header;
  EntryTable entries;
  if (header.rows == 0 || header.cols == 0) return entries;
  const bool general = header.symmetry == Symmetry::general;
  const std::uint64_t cells = general ? kBlockCells : kSymmetricBlockCells;
  const std::uint64_t tile_rows = general ? std::min(header.rows, cells) : header.rows;
  const std::uint64_t tile_cols = std::clamp<std::uint64_t>(cells / header.rows, 1, header.cols);
  ValueReader values(text, state.positions);
  for (std::uint64_t c = 0; c < header.cols; c += tile_cols) {
    for (std::uint64_t r = 0; r < header.rows; r += tile_rows) {
      Entry entry;
      entry.pos = {r, c};
      entry.rows = static_cast<std::uint32_t>(std::min(tile_rows, header.rows - r));
      entry.cols = static_cast<std::uint32_t>(std::min(tile_cols, header.cols - c));
      // A symmetric block's own columns; its cells above the diagonal are elsewhere.
      values.seek(general ? state.number_of(r, c) : state.first_of(c));
      entry.offset = text.offset(values.at());
      entry.stored = std::uint64_t{entry.rows} * entry.cols;
      entry.kind = BlockKind::dense;
      entry.value_type = header.value_type;
      entries.push_back(entry);
    }
  }
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    Entry entry = entries[i];
    const bool last = i + 1 == entries.size();
    entry.bytes = (last ? text.offset(text.end) : entries[i + 1].offset) - entry.offset;
    entries.set(i, entry);
  }
  return entries;
}

}  // namespace

std::shared_ptr<const Store> open_array(std::shared_ptr<ByteSource> file, const Header& header) {
  const Text text(*file);
  auto state = std::make_unique<ArrayState>();
  state->header = header;
  state->positions = find_values(text, header.data, count_of(text, header));
  Schema schema;
  schema.rows = header.rows;
  schema.cols = header.cols;
  schema.value_type = header.value_type;
  BlockIndex index =
      BlockIndex::from_entries(make_entries(text, *state), header.rows, header.cols, file->name());
  return std::make_shared<const Store>(std::move(file), std::move(schema), std::move(index),
                                       kArrayDriver, std::move(state));
}

}  // namespace dapple::detail::mtx
