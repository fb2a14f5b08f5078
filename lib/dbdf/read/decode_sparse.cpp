#include "lib/dbdf/read/decode_sparse.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>

#include "lib/cells/convert_cells.h"
#include "lib/dbdf/read/scattered_rows.h"
#include "lib/object/block_rows.h"
#include "lib/object/misfit.h"
#include "lib/object/sparse.h"

namespace dapple::detail::dbdf {

namespace {

// A block, and its entries.
struct Stream {
  const Store& store;
  const Entry& entry;
  SparsePayload payload;

  Stream(const Store& s, const Entry& e) : Stream(s, e, s.payload(e)) {}
  Stream(const Store& s, const Entry& e, HeldBytes bytes)
      : store(s), entry(e), payload(s.blocks(), entry, std::move(bytes), s.payload_offset(e)) {}

  // Calls take(row, col, value bytes) for every entry inside `part`, of values of `kSize` bytes.
  template <std::size_t kSize, class Take>
  void each(const Part& part, const Take& take) const {
    each_entry<kSize>(payload, part, cursor_at(store, entry, part.rows.begin), take);
  }
  // The same, whatever the value type, for what need not be fast.
  template <class Take>
  void each_value(const Part& part, const Take& take) const {
    detail::each_value(payload, part, cursor_at(store, entry, part.rows.begin), take);
  }
};

// True for pairs of different types where To holds every value of From. They get loops of their
// own; all others, which must check each value, share one loop per size of value.
template <class From, class To>
constexpr bool kPlain =
    !std::is_same_v<From, To> && holds_all(value_type_of<To>(), value_type_of<From>());

// A memset clears this many bytes in the time of one entry's store; twice as many for COO, which
// also checks the row.
constexpr std::size_t kClearedAtOnce = 64;

// Implements `ClearRows` with a store for each entry, of `stride` bytes, in [begin, end). Even if
// somebody has written to the file since, only these cells are touched.
template <class Cell>
void clear_csr(const Part& part, Cell* cells, const std::byte* begin, const std::byte* end,
               std::size_t stride) {
  const auto first_col = static_cast<std::uint32_t>(part.cols.begin);
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  for (std::uint64_t row = 0; row < part.rows.size() && end - begin >= 4; ++row, cells += width) {
    const std::size_t bytes = load_le<std::uint32_t>(begin) * stride;
    begin += 4;
    if (bytes > static_cast<std::size_t>(end - begin)) return;
    for (const std::byte* const row_end = begin + bytes; begin != row_end; begin += stride) {
      const std::uint32_t col = load_le<std::uint32_t>(begin) - first_col;
      if (col < width) cells[col] = 0;
    }
  }
}

template <class Cell>
void clear_coo(const Part& part, Cell* cells, const std::byte* begin, const std::byte* end,
               std::size_t stride, bool with_col) {
  const auto first_row = static_cast<std::uint32_t>(part.rows.begin);
  const auto first_col = static_cast<std::uint32_t>(part.cols.begin);
  const auto height = static_cast<std::uint32_t>(part.rows.size());
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  for (; begin != end; begin += stride) {
    const std::uint32_t row = load_le<std::uint32_t>(begin) - first_row;
    const std::uint32_t col = (with_col ? load_le<std::uint32_t>(begin + 4) : 0) - first_col;
    if (row < height && col < width) cells[std::size_t{row} * width + col] = 0;
  }
}

// Implements `ClearRows` for memory that holds values of `type`.
void clear(const Stream& stream, ValueType type, const Part& part, std::byte* cells,
           const std::byte* begin, const std::byte* end) {
  const bool csr = stream.entry.kind == BlockKind::csr, with_col = stream.entry.cols != 1;
  const std::size_t stride = (csr || !with_col ? 4 : 8) + size_of(stream.entry.value_type);
  const std::size_t bytes = part.rows.size() * part.cols.size() * size_of(type);
  if (static_cast<std::size_t>(end - begin) / stride > bytes / (kClearedAtOnce << (csr ? 0 : 1))) {
    std::memset(cells, 0, bytes);
    return;
  }
  visit_bits(type, [&](auto tag) {
    auto* const values = reinterpret_cast<decltype(tag)*>(cells);
    if (csr) {
      clear_csr(part, values, begin, end, stride);
    } else {
      clear_coo(part, values, begin, end, stride, with_col);
    }
  });
}

// Stores every entry inside `part` with `put(cell, position, value)`, and zeros elsewhere.
template <std::size_t kSize, class Put>
void scatter(const Stream& stream, const Part& part, const Target& out, const Put& put) {
  struct Row {
    std::byte* first;
    std::uint32_t number;
  };
  ScatteredRows rows(
      out, part,
      [&](const Part& rows_left, std::byte* cells, const std::byte* begin, const std::byte* end) {
        clear(stream, out.type, rows_left, cells, begin, end);
      });
  // Local copies: stores through a byte pointer may alias anything else.
  const std::size_t step = out.col_step;
  const auto first_col = static_cast<std::uint32_t>(part.cols.begin);
  each_entry<kSize>(
      stream.payload, part, cursor_at(stream.store, stream.entry, part.rows.begin),
      [&](Row row, std::uint32_t col, const std::byte* value) {
        put(row.first + (col - first_col) * step, CellInBlock{row.number, col}, value);
      },
      [&](std::uint32_t row, const std::byte* at) {
        return Row{rows.row(row, at), row};
      });
  rows.finish();
}

template <class From, class To>
void read_plain(const Stream& stream, const Part& part, const Target& out) {
  scatter<sizeof(From)>(
      stream, part, out, [&](std::byte* cell, CellInBlock at, const std::byte* value) {
        const From stored = load_le<From>(value);
        if constexpr (std::is_floating_point_v<From> && !std::is_same_v<From, To>) {
          // The conversion instruction would make a signalling NaN quiet.
          if (stored != stored) [[unlikely]] {
            return store_bits(out.type, cell,
                              value_as(stream.store, stream.entry, at, value, out.type));
          }
        }
        store_le(cell, static_cast<To>(stored));
      });
}

void read_cells(const Stream& stream, const Part& part, const Target& out) {
  const Entry& e = stream.entry;
  if (e.value_type == out.type) {
    return visit_bits(
        out.type, [&](auto tag) { read_plain<decltype(tag), decltype(tag)>(stream, part, out); });
  }
  const bool done = visit_type(e.value_type, [&](auto from) {
    return visit_type(out.type, [&](auto to) {
      if constexpr (kPlain<decltype(from), decltype(to)>) {
        read_plain<decltype(from), decltype(to)>(stream, part, out);
        return true;
      } else {
        return false;
      }
    });
  });
  if (done) return;
  visit_bits(e.value_type, [&](auto bits) {
    scatter<sizeof bits>(
        stream, part, out, [&](std::byte* cell, CellInBlock at, const std::byte* value) {
          store_bits(out.type, cell, value_as(stream.store, stream.entry, at, value, out.type));
        });
  });
}

// Converts stored values to another type in batches before passing them on.
class Widener {
 public:
  Widener(const Stream& stream, ValueType type, CellRun& take)
      : stream_(stream), type_(type), take_(take) {}

  void add(CellInBlock cell, const std::byte* value, std::uint64_t bits) {
    const BlockPos pos = stream_.entry.pos;
    cells_[size_] = {pos.rx + cell.row, pos.cx + cell.col, 0};
    values_[size_] = value;
    bits_[size_] = bits;
    if (++size_ == kMost) flush();
  }

  void flush() {
    const std::size_t fitting =
        convert_cells(stream_.entry.value_type, reinterpret_cast<const std::byte*>(bits_.data()),
                      sizeof(std::uint64_t), type_, reinterpret_cast<std::byte*>(&cells_[0].bits),
                      sizeof(StoredCell), size_);
    if (fitting < size_) {
      const StoredCell& bad = cells_[fitting];
      const BlockPos pos = stream_.entry.pos;
      fail_misfit(stream_.store, stream_.entry, {bad.row - pos.rx, bad.col - pos.cx},
                  values_[fitting], type_);
    }
    for (std::size_t i = 0; i < size_; ++i) take_(cells_[i]);
    size_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 128;

  const Stream& stream_;
  ValueType type_;
  CellRun& take_;
  std::size_t size_ = 0;
  std::array<StoredCell, kMost> cells_;
  std::array<const std::byte*, kMost> values_;  // in the file, for error messages
  std::array<std::uint64_t, kMost> bits_;
};

}  // namespace

void read_sparse(const Store& store, const Entry& e, const Part& part, const Target& out) {
  Entry rows = e;  // a block of its own, of a few rows that are encoded apart
  HeldBytes some = store.decoded_rows(e, part.rows, rows.stored);
  if (some.data() == nullptr) return read_cells(Stream(store, e), part, out);
  rows.pos.rx += part.rows.begin;
  rows.rows = static_cast<std::uint32_t>(part.rows.size());
  read_cells(Stream(store, rows, std::move(some)), {{0, part.rows.size()}, part.cols}, out);
}

void require_sparse_fits(const Store& store, const Entry& e, const Part& part, ValueType type) {
  const Stream stream(store, e);
  stream.each_value(part, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
    value_as(store, e, {row, col}, value, type);
  });
}

void sparse_entries(const Store& store, const Entry& e, const Part& part, CellRun& take) {
  const Stream stream(store, e);
  const Schema& schema = store.schema();
  const std::optional<ValueType> declared =
      declared_type(schema, {e.pos.cx + part.cols.begin, e.pos.cx + part.cols.end});
  if (declared == e.value_type) {
    visit_bits(e.value_type, [&](auto bits) {
      stream.each<sizeof bits>(
          part, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
            take({e.pos.rx + row, e.pos.cx + col, load_le<decltype(bits)>(value)});
          });
    });
  } else if (declared) {
    Widener widener(stream, *declared, take);
    visit_bits(e.value_type, [&](auto bits) {
      stream.each<sizeof bits>(part,
                               [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
                                 widener.add({row, col}, value, load_le<decltype(bits)>(value));
                               });
    });
    widener.flush();
  } else {
    stream.each_value(part, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
      const std::uint64_t at = e.pos.cx + col;
      take({e.pos.rx + row, at, value_as(store, e, {row, col}, value, schema.type_of(at))});
    });
  }
}

}  // namespace dapple::detail::dbdf
