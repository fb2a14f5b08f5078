#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/utf16.h"
#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/source.h"
#include "lib/foreign/btable/btable.h"

namespace dapple::detail::btable {

namespace {

/// Labels are handed to the sink once this many bytes have gathered.
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
  throw Error(Errc::unsupported,
              "a BTable cannot hold the label of column " + std::to_string(col) + ": " + detail);
}

/// UTF-16 code units of one label. Throws unsupported.
std::uint64_t code_units(std::string_view label, std::uint64_t col) {
  std::uint64_t units = 0;
  for (std::size_t at = 0; at < label.size();) {
    const auto c = next_utf8(label.substr(at));
    if (!c) {
      refuse_label(col, "it is not UTF-8");
    }
    if (c->value == kSeparator) {
      refuse_label(col, "it has U+001F, which separates labels");
    }
    units += c->value < 0x10000 ? 1 : 2;
    at += c->size;
  }
  return units;
}

/// Length of all labels joined. Throws unsupported.
std::uint64_t joined_units(const Schema& schema) {
  if (schema.cols == 0) {
    throw Error(Errc::unsupported, "a BTable cannot hold an object without columns");
  }
  LabelText text;
  std::uint64_t units = schema.cols - 1;
  for (std::uint64_t col = 0; col < schema.cols && units <= kLargest; ++col) {
    units += code_units(text.of(schema, col), col);
  }
  if (units > kLargest) {
    throw Error(Errc::unsupported, "the labels of " + std::to_string(schema.cols) +
                                       " columns are longer than a BTable can hold");
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

/// The f64 of the same number. Throws unsupported when there is none.
std::uint64_t as_f64(const Schema& schema, const StoredCell& cell) {
  const ValueType type = schema.type_of(cell.col);
  std::uint64_t bits;
  if (!convert_cell(type, cell.bits, ValueType::f64, bits)) {
    const bool negative = is_signed(type) && static_cast<std::int64_t>(cell.bits) < 0;
    throw Error(Errc::unsupported,
                "the value " +
                    (negative ? std::to_string(static_cast<std::int64_t>(cell.bits))
                              : std::to_string(cell.bits)) +
                    " in row " + std::to_string(cell.row) + ", column " + std::to_string(cell.col) +
                    " is not exact as f64, the only type of a BTable");
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

/// Bands of rows as they are in the file, in memory that is kept.
class BandEncoder {
 public:
  /// Valid until the next call. Values are f64, or as their columns' types.
  std::span<const std::byte> encode(const Schema& schema, const SourceRows& band) {
    bytes_.reset(band.rows.size() * kCountBytes + band.entries() * kEntryBytes);
    std::byte* p = bytes_.data();
    const std::byte* value = band.values.data();
    for (std::uint64_t r = 0; r < band.rows.size(); ++r) {
      const std::uint64_t begin = band.row_ptr[r], end = band.row_ptr[r + 1];
      store_be(p, static_cast<std::uint32_t>(end - begin));
      p += kCountBytes;
      for (std::uint64_t k = begin; k < end; ++k, p += kEntryBytes) {
        const std::uint64_t col = band.col_idx[k];
        store_be(p, static_cast<std::uint32_t>(col));
        if (band.type == ValueType::f64) {
          store_be(p + 4, load_le<std::uint64_t>(value + k * sizeof(double)));
        } else {
          const std::byte* const from = value + k * size_of(band.type);
          store_be(p + 4, as_f64(schema, {band.rows.begin + r, col, load_bits(band.type, from)}));
        }
      }
    }
    return {bytes_.data(), bytes_.size()};
  }

 private:
  Array<std::byte> bytes_;
};

/// Rows without entries.
void write_empty_rows(std::uint64_t rows, ByteSink& sink) {
  static constexpr std::array<std::byte, 1024 * kCountBytes> kZeros{};
  for (std::uint64_t count = 0; rows > 0; rows -= count) {
    count = std::min<std::uint64_t>(rows, kZeros.size() / kCountBytes);
    sink.write(std::span(kZeros).first(count * kCountBytes));
  }
}

}  // namespace

void write_btable(const Source& source, ByteSink& sink, const ConvertOptions&) {
  write_header(source.schema(), sink);
  source.progress(0);
  const std::optional<ValueType> type =
      fits_f64(source.schema()) ? std::optional(ValueType::f64) : std::nullopt;
  std::vector<BandEncoder> encoders(worker_limit(source.threads()));
  std::uint64_t row = 0;
  source.for_each_band({{0, source.rows()}, {0, source.cols()}}, type,
                       [&](const SourceRows& band, unsigned worker, Turn& turn) {
                         const auto bytes = encoders[worker].encode(source.schema(), band);
                         turn.take([&] {
                           write_empty_rows(band.rows.begin - row, sink);
                           sink.write(bytes);
                           row = band.rows.end;
                           source.progress(row);
                         });
                       });
  write_empty_rows(source.rows() - row, sink);
  source.progress(source.rows());
}

}  // namespace dapple::detail::btable
