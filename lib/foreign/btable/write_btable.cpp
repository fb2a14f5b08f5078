#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/utf16.h"
#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/pieces.h"
#include "lib/compute/row_gatherer.h"
#include "lib/foreign/btable/btable.h"

namespace dapple::detail::btable {

namespace {

/// Labels are handed to the sink once this many bytes have gathered.
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

/// What a band of rows has at most: entries, so that its bytes stay in a core's cache; more for a
/// single row of tiles, which it is costly to take apart; rows, which take bytes without entries.
constexpr std::uint64_t kBandEntries = std::uint64_t{1} << 15;
constexpr std::uint64_t kTileEntries = std::uint64_t{1} << 20;
constexpr std::uint64_t kBandRows = std::uint64_t{1} << 18;

/// Objects may have rows without number.
constexpr std::size_t kBandsAtOnce = 4096;

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

/// True when f64 holds every value that the columns can have.
bool fits_f64(const Schema& schema) {
  if (schema.kind == ObjectKind::matrix) return holds_all(ValueType::f64, schema.value_type);
  return std::all_of(schema.columns.begin(), schema.columns.end(), [](const Column& column) {
    return holds_all(ValueType::f64, column.value_type);
  });
}

/// Hands bands of rows to `take`, many at a time and in order, none with many more entries than
/// kBandEntries as far as the index tells. Rows of one tiling's tiles are kept together where that
/// is possible, unless they can be gathered band by band.
template <class Take>
void for_each_bands(const Source& source, bool gathers, const Take& take) {
  const auto grid = source.store().index().grid();
  const std::uint64_t block_rows = grid && !gathers ? grid->tile.rows : 1;
  std::vector<Range> bands;
  walk_in_pieces({0, source.rows()}, block_rows, [&](Range rows) {
    const double entries = source.load({rows, {0, source.cols()}}).stored;
    const auto most = static_cast<double>(rows.size() > block_rows ? kBandEntries : kTileEntries);
    const bool fits = entries <= most && rows.size() <= kBandRows;
    if (!fits && rows.size() > 1) return false;
    bands.push_back(rows);
    if (bands.size() == kBandsAtOnce) {
      take(std::span<const Range>(bands));
      bands.clear();
    }
    return true;
  });
  take(std::span<const Range>(bands));
}

/// Encodes bands of rows, one after the other, in memory that it keeps.
class BandEncoder {
 public:
  BandEncoder(const Source& source, bool gathers)
      : source_(&source), gathers_(gathers), as_they_are_(holds_only_f64(source.schema())) {}

  /// The rows as they stand in the file. Valid until the next call.
  std::span<const std::byte> encode(Range rows) {
    rows_ = rows;
    const Region band{rows, {0, source_->cols()}};
    if (gathers_ && source_->gather(band, ValueType::f64, kTileEntries, gatherer_)) {
      copy(gatherer_.rows());
      return bytes();
    }
    const Source::Load load = source_->load(band);
    cells_.clear();
    // Blocks give their entries row by row, so that those of blocks side by side, one block after
    // the other, need no more than to be dealt out to the rows.
    if (load.stored < load.area / 4 && source_->collect(band, 2 * kTileEntries, cells_) && deal()) {
      return bytes();
    }
    cells_.clear();
    source_->entries(band, [&](std::span<const StoredCell> cells) {
      cells_.insert(cells_.end(), cells.begin(), cells.end());
    });
    deal();
    return bytes();
  }

 private:
  /// What is known of a row while its entries are written.
  struct RowEnd {
    std::size_t at = 0;          // where its next entry goes
    std::uint64_t next_col = 0;  // the least column that it may have
  };

  std::span<const std::byte> bytes() const noexcept { return {buffer_.data(), size_}; }

  /// Room for the band's rows with so many entries.
  void make_room(std::uint64_t entries) {
    size_ = rows_.size() * kCountBytes + entries * kEntryBytes;
    if (buffer_.size() < size_) buffer_.resize(size_);
  }

  void copy(const CsrRows& rows) {
    make_room(rows.entries());
    std::byte* p = buffer_.data();
    for (std::uint64_t r = 0; r < rows_.size(); ++r) {
      const std::uint64_t begin = rows.row_ptr[r], end = rows.row_ptr[r + 1];
      store_be(p, static_cast<std::uint32_t>(end - begin));
      p += kCountBytes;
      const std::byte* value = rows.values.data() + begin * sizeof(double);
      for (std::uint64_t k = begin; k < end; ++k, p += kEntryBytes, value += sizeof(double)) {
        store_be(p, rows.col_idx[k]);
        store_be(p + 4, load_le<std::uint64_t>(value));
      }
    }
  }

  /// Writes the cells to their rows. False when they do not come in ascending columns.
  bool deal() {
    ends_.assign(rows_.size(), {});
    for (const StoredCell& cell : cells_) ++ends_[cell.row - rows_.begin].at;
    make_room(cells_.size());
    std::size_t at = 0;
    for (RowEnd& end : ends_) {
      const auto count = static_cast<std::uint32_t>(end.at);
      store_be(buffer_.data() + at, count);
      end.at = at + kCountBytes;
      at = end.at + std::size_t{count} * kEntryBytes;
    }
    for (const StoredCell& cell : cells_) {
      RowEnd& end = ends_[cell.row - rows_.begin];
      if (cell.col < end.next_col) return false;
      end.next_col = cell.col + 1;
      std::byte* const p = buffer_.data() + end.at;
      store_be(p, static_cast<std::uint32_t>(cell.col));
      store_be(p + 4, as_they_are_ ? cell.bits : as_f64(source_->schema(), cell));
      end.at += kEntryBytes;
    }
    return true;
  }

  const Source* source_;
  bool gathers_;
  bool as_they_are_;
  Range rows_{0, 0};
  RowGatherer gatherer_;
  std::vector<StoredCell> cells_;
  std::vector<RowEnd> ends_;  // one for each row
  std::vector<std::byte> buffer_;
  std::size_t size_ = 0;  // of what is used of the buffer
};

}  // namespace

void write_btable(const Source& source, ByteSink& sink, const ConvertOptions&) {
  write_header(source.schema(), sink);
  const bool gathers = fits_f64(source.schema()) && source.gathers_bands();
  const unsigned threads = source.threads();
  std::vector<BandEncoder> encoders;
  for (unsigned i = 0; i < worker_limit(threads); ++i) encoders.emplace_back(source, gathers);
  for_each_bands(source, gathers, [&](std::span<const Range> bands) {
    parallel_in_order(bands.size(), threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
      const auto bytes = encoders[worker].encode(bands[i]);
      turn.take([&] {
        sink.write(bytes);
        source.progress(bands[i].end);
      });
    });
  });
  source.progress(source.rows());
}

}  // namespace dapple::detail::btable
