// Writing: sparse matrices, and what stores few values, as coordinate; all others as array.
#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/mtx/mtx.h"
#include "lib/foreign/mtx/mtx_text.h"
#include "lib/foreign/text/write_cells.h"
#include "lib/io/scratch.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kBandBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();

/// The one type of all columns. Throws unsupported.
ValueType type_to_write(const Schema& schema) {
  if (schema.kind == ObjectKind::matrix) return schema.value_type;
  ValueType type = ValueType::f64;
  for (const Column& column : schema.columns) {
    if (&column == &schema.columns.front()) type = column.value_type;
    if (column.value_type != type) {
      throw Error(Errc::unsupported,
                  "mtx has one value type for all columns, and these are " +
                      std::string(name(type)) + " and " + std::string(name(column.value_type)),
                  "value_type");
    }
  }
  return type;
}

/// Banner and sizes. `wide`: some values are larger than i64 holds.
std::string header(const Source& source, bool coordinate, ValueType type, bool wide) {
  std::string text = "%%MatrixMarket matrix ";
  text += coordinate ? "coordinate " : "array ";
  // SciPy and this library read unsigned-integer; other readers know only integer.
  text += is_float(type) ? "real" : wide ? "unsigned-integer" : "integer";
  text += " general\n" + std::to_string(source.rows()) + ' ' + std::to_string(source.cols());
  return text;
}

void append_entries(std::span<const StoredCell> cells, ValueType type, bool short_floats,
                    std::string& out) {
  constexpr std::size_t kIndexRoom = 21;  // 20 digits and a blank
  visit_type(type, [&](auto value) {
    const std::size_t room = 2 * kIndexRoom + kNumberRoom + 1;
    append_items(cells.size(), room, out, [&](char* to, std::uint64_t i) {
      const StoredCell& cell = cells[i];
      to = write_number(to, cell.row + 1);
      *to++ = ' ';
      to = write_number(to, cell.col + 1);
      *to++ = ' ';
      std::memcpy(&value, &cell.bits, sizeof value);
      to = write_cell(to, value, short_floats);
      *to++ = '\n';
      return to;
    });
  });
}

/// Goes through the entries twice: the header tells their number.
void write_coordinate(const Source& source, ValueType type, bool short_floats, ByteSink& sink) {
  const Region all{{0, source.rows()}, {0, source.cols()}};
  std::uint64_t count = 0;
  bool wide = false;
  source.entries(all, [&](const StoredCell& cell) {
    ++count;
    wide = wide || cell.bits > kMostSigned;
  });
  wide = wide && type == ValueType::u64;
  sink.write(header(source, true, type, wide) + ' ' + std::to_string(count) + '\n');

  ParallelText texts(source.threads(), sink);
  std::vector<StoredCell> cells;
  const auto flush = [&] {
    texts.write(cells.size(), 1, [&](Range some, std::string& text) {
      append_entries(std::span(cells).subspan(some.begin, some.size()), type, short_floats, text);
    });
    if (!cells.empty()) source.progress(cells.back().row);
    cells.clear();
  };
  source.entries(all, [&](const StoredCell& cell) {
    cells.push_back(cell);
    if (cells.size() == texts.values_at_once()) flush();
  });
  flush();
  source.progress(source.rows());
}

/// The cells of a source in columns: bands of rows, each stored column by column.
class Columns {
 public:
  Columns(const Source& source, ValueType type, std::uint64_t bytes)
      : cols_(source.cols()), type_(type), cells_(bytes) {
    Array<std::byte> room;
    const std::size_t size = size_of(type);
    source.for_each_piece(
        [&](const Region& region) {
          const std::uint64_t height = region.rows.size(), n = height * region.cols.size() * size;
          if (room.size() < n) room.reset(n);
          const std::span part(room.data(), n);
          source.read(region, {part.data(), type, size, height * size}, source.threads());
          if (type == ValueType::u64) note_wide(part);
          if (bands_.empty() || bands_.back().begin != region.rows.begin) {
            bands_.push_back(region.rows);
          }
          cells_.write_at((region.rows.begin * cols_ + region.cols.begin * height) * size, part);
        },
        band_bytes(source.packed_row()));
  }

  bool wide() const noexcept { return wide_; }

  /// Parts of columns, in the order of the file.
  std::uint64_t parts() const noexcept { return cols_ * bands_.size(); }

  void append_part(std::uint64_t number, bool short_floats, std::string& out) const {
    const std::uint64_t col = number / bands_.size();
    const Range rows = bands_[number % bands_.size()];
    const std::uint64_t first = rows.begin * cols_ + col * rows.size();
    visit_type(type_, [&](auto value) {
      const std::byte* p = cells_.at(first * sizeof value, rows.size() * sizeof value);
      append_items(rows.size(), kNumberRoom + 1, out, [&](char* to, std::uint64_t i) {
        to = write_cell(to, load_le<decltype(value)>(p + i * sizeof value), short_floats);
        *to++ = '\n';
        return to;
      });
    });
  }

 private:
  /// A column's part of a band holds at most the values of one text.
  static std::uint64_t band_bytes(std::uint64_t row_bytes) noexcept {
    constexpr std::uint64_t kValues = ParallelText::kValues;
    return row_bytes > kBandBytes / kValues ? kBandBytes : row_bytes * kValues;
  }

  void note_wide(std::span<const std::byte> values) {
    for (std::size_t i = 0; i < values.size(); i += 8) {
      wide_ = wide_ || load_le<std::uint64_t>(values.data() + i) > kMostSigned;
    }
  }

  std::uint64_t cols_;
  ValueType type_;
  Scratch cells_;
  std::vector<Range> bands_;
  bool wide_ = false;
};

/// The file is column-major, sources are best read in rows: the cells pass through working space.
void write_array(const Source& source, ValueType type, bool short_floats, ByteSink& sink) {
  std::uint64_t bytes = 0;
  if (!multiply(source.rows(), source.cols(), bytes) || !multiply(bytes, size_of(type), bytes)) {
    throw Error(Errc::unsupported,
                extents_text(source.rows(), source.cols()) + " values do not fit in a file");
  }
  const Columns columns(source, type, bytes);
  sink.write(header(source, false, type, columns.wide()) + '\n');
  if (bytes == 0) return;
  ParallelText texts(source.threads(), sink);
  const std::uint64_t values = source.rows() * source.cols();
  texts.write(columns.parts(), values / columns.parts(), [&](Range some, std::string& text) {
    for (std::uint64_t part = some.begin; part < some.end; ++part) {
      columns.append_part(part, short_floats, text);
    }
  });
}

/// Whether lines of row, column and value are fewer bytes than a line for every cell.
bool stores_few(const Source& source) {
  constexpr double kFew = 1.0 / 8;
  if (source.fills_with_nan()) return false;
  const Source::Load load = source.load({{0, source.rows()}, {0, source.cols()}});
  return load.area > 0 && load.stored <= load.area * kFew;
}

}  // namespace

void write_mtx(const Source& source, ByteSink& sink, const ConvertOptions& options) {
  const Schema& schema = source.schema();
  const ValueType type = type_to_write(schema);
  const bool sparse = schema.kind == ObjectKind::matrix && schema.storage == Storage::csr;
  if (sparse || stores_few(source)) {
    if (options.note && std::max(source.rows(), source.cols()) > kMostIndex) {
      options.note("dapple itself does not read mtx files of more than " +
                   std::to_string(kMostIndex) + " rows or columns, as this one has");
    }
    write_coordinate(source, type, options.short_floats, sink);
  } else {
    write_array(source, type, options.short_floats, sink);
  }
}

}  // namespace dapple::detail::mtx
