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

namespace dapple::detail::btable {

namespace {

/// Whole rows are handed to the sink once this many bytes have gathered.
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

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

/// Gathers rows and hands them on whole.
class RowWriter {
 public:
  explicit RowWriter(ByteSink& sink) : sink_(sink), buffer_(2 * kFlushBytes) {}

  /// The next cells, values in f64, in ascending order of rows.
  void append(std::span<const StoredCell> cells) {
    for (; !cells.empty(); cells = cells.subspan(std::min(cells.size(), kCellsAtOnce))) {
      make_room(kCellsAtOnce * kEntryBytes);
      for (const StoredCell& cell : cells.first(std::min(cells.size(), kCellsAtOnce))) {
        if (cell.row >= rows_) start_row(cell.row);
        std::byte* const p = buffer_.data() + used_;
        store_be(p, static_cast<std::uint32_t>(cell.col));
        store_be(p + 4, cell.bits);
        used_ += kEntryBytes;
        ++count_;
      }
    }
  }

  /// Ends all rows before `rows`.
  void finish(std::uint64_t rows) {
    if (rows > rows_) start_row(rows - 1);
    close_row();
    flush();
  }

 private:
  static constexpr std::size_t kCellsAtOnce = 256;

  /// Ends the rows before `row`, which is none of those begun; the next entries are its own.
  void start_row(std::uint64_t row) {
    while (rows_ <= row) {
      close_row();
      if (used_ >= kFlushBytes) flush();
      make_room(kCountBytes + kCellsAtOnce * kEntryBytes);
      count_at_ = used_;
      used_ += kCountBytes;
      count_ = 0;
      ++rows_;
    }
  }
  void close_row() noexcept {
    if (rows_ > 0) store_be(buffer_.data() + count_at_, count_);
  }
  void make_room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) buffer_.resize(2 * buffer_.size());
  }
  void flush() {
    sink_.write(std::span(buffer_.data(), used_));
    used_ = 0;
  }

  ByteSink& sink_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  std::size_t count_at_ = 0;  // of the row that is open
  std::uint32_t count_ = 0;
  std::uint64_t rows_ = 0;  // begun so far
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

}  // namespace

void write_btable(const Source& source, ByteSink& sink, const ConvertOptions&) {
  const Schema& schema = source.schema();
  write_header(schema, sink);
  RowWriter out(sink);
  const bool as_they_are = holds_only_f64(schema);
  std::vector<StoredCell> converted;
  source.entries({{0, schema.rows}, {0, schema.cols}}, [&](std::span<const StoredCell> cells) {
    if (!as_they_are) {
      converted.assign(cells.begin(), cells.end());
      for (StoredCell& cell : converted) cell.bits = as_f64(schema, cell);
      cells = converted;
    }
    out.append(cells);
    source.progress(cells.back().row);
  });
  out.finish(schema.rows);
  source.progress(schema.rows);
}

}  // namespace dapple::detail::btable
