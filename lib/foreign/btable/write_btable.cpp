#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bytes.h"
#include "lib/foreign/btable/btable.h"
#include "lib/foreign/utf16.h"
#include "lib/foreign/utf8.h"
#include "lib/object/convert_cells.h"
#include "lib/object/pieces.h"
#include "lib/parallel.h"

namespace dapple::detail::btable {

namespace {

/// Labels are handed to the sink once this many bytes have gathered.
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

/// What a band of rows has at most: entries, so that its bytes stay in a core's cache; more for a
/// single row of tiles, which it is costly to take apart; rows, which take bytes without entries.
constexpr double kBandEntries = 1 << 17;
constexpr double kTileRowEntries = 1 << 20;
constexpr std::uint64_t kBandRows = std::uint64_t{1} << 18;

/// A frame's label; a matrix has none, its columns are called by their numbers.
class LabelText {
 public:
  std::string_view of(const Schema& schema, std::uint64_t col) {
    if (schema.kind == ObjectKind::frame) return schema.columns[col].label;
    const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), col).ptr;
    return {digits_.data(), static_cast<std::size_t>(end - digits_.data())};
  }

 private:
  std::array<char, 20> digits_;
};

[[noreturn]] void refuse_label(std::uint64_t col, const std::string& detail) {
  throw Error(Errc::unsupported, detail + " in the label of column " + std::to_string(col));
}

/// UTF-16 code units of one label. Throws unsupported.
std::uint64_t code_units(std::string_view label, std::uint64_t col) {
  std::uint64_t units = 0;
  for (std::size_t at = 0; at < label.size();) {
    const auto c = next_utf8(label.substr(at));
    if (!c) {
      refuse_label(
          col, "expected UTF-8, got byte " + std::to_string(static_cast<unsigned char>(label[at])));
    }
    if (c->value == kSeparator) {
      refuse_label(col, "expected no U+001F, which separates the labels of a BTable, got one");
    }
    units += c->value < 0x10000 ? 1 : 2;
    at += c->size;
  }
  return units;
}

/// Length of all labels joined. Throws unsupported.
std::uint64_t joined_units(const Schema& schema) {
  if (schema.cols == 0) {
    throw Error(Errc::unsupported, "expected at least one column for a BTable, got none");
  }
  LabelText text;
  std::uint64_t units = schema.cols - 1;
  for (std::uint64_t col = 0; col < schema.cols && units <= kLargest; ++col) {
    units += code_units(text.of(schema, col), col);
  }
  if (units > kLargest) {
    throw Error(Errc::unsupported,
                "expected labels of at most 2147483647 UTF-16 code units for a BTable, got more (" +
                    std::to_string(schema.cols) + " columns)");
  }
  return units;
}

void write_header(const Schema& schema, ByteSink& sink) {
  std::vector<std::byte> out(8);
  store_be(out.data(), kVersion);
  store_be(out.data() + 4, static_cast<std::int32_t>(joined_units(schema)));
  LabelText text;
  for (std::uint64_t col = 0; col < schema.cols; ++col) {
    if (col > 0) append_utf8_as_utf16be("\x1F", out);
    append_utf8_as_utf16be(text.of(schema, col), out);
    if (out.size() >= kFlushBytes) {
      sink.write(out);
      out.clear();
    }
  }
  sink.write(out);
}

/// The bytes of a band of rows, whose entries come in ascending order.
class BandBytes {
 public:
  void start(Range rows) {
    rows_ = rows;
    next_ = rows.begin;
    used_ = 0;
  }

  /// The next cells, at least one, values in f64.
  void append(std::span<const StoredCell> cells) {
    const std::uint64_t end = std::max(next_, cells.back().row + 1);
    make_room(cells.size() * kEntryBytes + (end - next_) * kCountBytes);
    for (const StoredCell& cell : cells) {
      if (cell.row >= next_) start_row(cell.row);
      std::byte* const p = buffer_.data() + used_;
      store_be(p, static_cast<std::uint32_t>(cell.col));
      store_be(p + 4, cell.bits);
      used_ += kEntryBytes;
      ++count_;
    }
  }

  /// Ends all rows of the band. Valid until the next `start`.
  std::span<const std::byte> finish() {
    make_room((rows_.end - next_) * kCountBytes);
    if (next_ < rows_.end) start_row(rows_.end - 1);
    close_row();
    return {buffer_.data(), used_};
  }

 private:
  /// Ends the rows before `row`, which is none of those begun; the next entries are its own.
  void start_row(std::uint64_t row) {
    for (; next_ <= row; ++next_) {
      close_row();
      count_at_ = used_;
      used_ += kCountBytes;
      count_ = 0;
    }
  }
  void close_row() noexcept {
    if (next_ > rows_.begin) store_be(buffer_.data() + count_at_, count_);
  }
  void make_room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) buffer_.resize(std::max(2 * buffer_.size(), used_ + bytes));
  }

  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  Range rows_{0, 0};
  std::uint64_t next_ = 0;    // the first row that was not begun
  std::size_t count_at_ = 0;  // of the row that is open
  std::uint32_t count_ = 0;
};

bool holds_only_f64(const Schema& schema) {
  if (schema.kind == ObjectKind::matrix) return schema.value_type == ValueType::f64;
  return std::all_of(schema.columns.begin(), schema.columns.end(),
                     [](const Column& column) { return column.value_type == ValueType::f64; });
}

/// The f64 of the same number. Throws unsupported when there is none.
std::uint64_t as_f64(const Schema& schema, const StoredCell& cell) {
  const ValueType type = schema.type_of(cell.col);
  std::uint64_t bits;
  if (!convert_cell(type, cell.bits, ValueType::f64, bits)) {
    const bool negative = is_signed(type) && static_cast<std::int64_t>(cell.bits) < 0;
    throw Error(Errc::unsupported,
                "expected values that f64, the only type of a BTable, holds exactly, got " +
                    (negative ? std::to_string(static_cast<std::int64_t>(cell.bits))
                              : std::to_string(cell.bits)) +
                    " in row " + std::to_string(cell.row) + ", column " + std::to_string(cell.col));
  }
  return bits;
}

/// Bands of rows, none with many more entries than kBandEntries as far as the index tells. Rows of
/// one tiling's tiles are kept together where that is possible.
std::vector<Range> bands_of(const Source& source) {
  const auto grid = source.store().index().grid();
  const std::uint64_t block_rows = grid ? grid->tile.rows : 1;
  std::vector<Range> bands;
  walk_in_pieces({0, source.rows()}, block_rows, [&](Range rows) {
    const double entries = source.load({rows, {0, source.cols()}}).stored;
    const double most = rows.size() > block_rows ? kBandEntries : kTileRowEntries;
    const bool fits = entries <= most && rows.size() <= kBandRows;
    if (fits || rows.size() == 1) bands.push_back(rows);
    return fits || rows.size() == 1;
  });
  return bands;
}

}  // namespace

void write_btable(const Source& source, ByteSink& sink, const ConvertOptions&) {
  const Schema& schema = source.schema();
  write_header(schema, sink);
  const bool as_they_are = holds_only_f64(schema);
  const std::vector<Range> bands = bands_of(source);
  struct Worker {
    BandBytes bytes;
    std::vector<StoredCell> converted;
  };
  std::vector<Worker> workers(worker_limit(source.threads()));
  parallel_in_order(bands.size(), source.threads(), [&](std::uint64_t i, unsigned w, Turn& turn) {
    Worker& worker = workers[w];
    worker.bytes.start(bands[i]);
    const Region band{bands[i], {0, schema.cols}};
    source.entries(band, [&](std::span<const StoredCell> cells) {
      if (!as_they_are) {
        worker.converted.assign(cells.begin(), cells.end());
        for (StoredCell& cell : worker.converted) cell.bits = as_f64(schema, cell);
        cells = worker.converted;
      }
      worker.bytes.append(cells);
    });
    const auto bytes = worker.bytes.finish();
    turn.take([&] {
      sink.write(bytes);
      source.progress(bands[i].end);
    });
  });
  source.progress(schema.rows);
}

}  // namespace dapple::detail::btable
