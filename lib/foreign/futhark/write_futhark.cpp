#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/futhark.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/text/write_cells.h"

namespace dapple::detail::futhark {

namespace {

/// Columns of a frame are read together as far as they fit this.
constexpr std::uint64_t kColumnBytes = std::uint64_t{32} << 20;

ElementType element_of(ValueType type) { return *find_element(&ElementInfo::name, name(type)); }

/// One array of the output: where its cells come from is the caller's business.
struct Array {
  ValueType type;
  std::vector<std::uint64_t> dims;  // one or two

  std::uint64_t cols() const { return dims.back(); }
  bool empty() const { return std::find(dims.begin(), dims.end(), 0U) != dims.end(); }
};

/// Cells of an array that follow each other in row-major order.
struct Run {
  std::uint64_t row = 0, col = 0;  // of the first one
  const std::byte* cells = nullptr;
  std::uint64_t count = 0;
};

class BinaryOutput {
 public:
  BinaryOutput(ByteSink& sink, unsigned) : sink_(sink) {}

  void begin(const Array& array) {
    const ElementInfo& element = info(element_of(array.type));
    sink_.write(std::string_view("b\x02"));
    sink_.write(std::string(1, static_cast<char>(array.dims.size())));
    sink_.write(element.code);
    for (const std::uint64_t dim : array.dims) {
      std::array<std::byte, 8> bytes;
      store_le(bytes.data(), dim);
      sink_.write(std::span<const std::byte>(bytes));
    }
    size_ = element.size;
  }
  void cells(const Array&, const Run& run) { sink_.write(std::span(run.cells, run.count * size_)); }
  void end(const Array&) { sink_.write(std::string_view("\n")); }
  std::uint64_t size() const noexcept { return sink_.size(); }

 private:
  ByteSink& sink_;
  std::size_t size_ = 0;
};

/// Room for "-f64.inf", or a number and its suffix.
constexpr std::size_t kElementRoom = kNumberRoom + 3;

template <class T>
char* write_digits(char* to, T value) {
  char* const end = write_number(to, value);
  if constexpr (std::is_same_v<T, float>) {
    // Some readers make a double of the digits first. Rarely the shortest ones that give `value`
    // back are so close to the middle of two floats that this rounds to the other one.
    double read = 0;
    read_number(to, end, read);
    if (static_cast<float>(read) != value) return write_number(to, static_cast<double>(value));
  }
  return end;
}

template <class T>
char* write_element(char* to, T value, std::string_view suffix) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      if (value < 0) *to++ = '-';
      to = std::copy(suffix.begin(), suffix.end(), to);
      const std::string_view word = std::isnan(value) ? ".nan" : ".inf";
      return std::copy(word.begin(), word.end(), to);
    }
  }
  to = write_digits(to, value);
  return std::copy(suffix.begin(), suffix.end(), to);
}

class TextOutput {
 public:
  TextOutput(ByteSink& sink, unsigned threads) : sink_(sink), texts_(threads, sink) {}

  void begin(const Array& array) { sink_.write(std::string_view(array.empty() ? "empty(" : "[")); }
  void cells(const Array& array, const Run& run) {
    texts_.write(run.count, 1,
                 [&](Range part, std::string& text) { write_part(array, run, part, text); });
  }
  void end(const Array& array) {
    sink_.write(array.empty() ? text(element_of(array.type), array.dims) + ")\n"
                              : std::string("]\n"));
  }
  std::uint64_t size() const noexcept { return sink_.size(); }

 private:
  // Cells `part` of the run as text, with the commas and inner brackets in front of each.
  static void write_part(const Array& array, const Run& run, Range part, std::string& text) {
    constexpr std::size_t kPunctuation = 4;  // "], ["
    const bool rows = array.dims.size() == 2;
    const std::string_view suffix = name(array.type);
    const std::uint64_t before = run.col + part.begin;
    std::uint64_t row = run.row + before / array.cols(), col = before % array.cols();
    text.resize(part.size() * (kElementRoom + kPunctuation) + 1);
    char* to = text.data();
    visit_type(array.type, [&](auto tag) {
      using T = decltype(tag);
      for (std::uint64_t i = part.begin; i < part.end; ++i) {
        if (row > 0 || col > 0) {
          *to++ = ',';
          *to++ = ' ';
        }
        if (rows && col == 0) *to++ = '[';
        to = write_element(to, load_le<T>(run.cells + i * sizeof(T)), suffix);
        if (++col < array.cols()) continue;
        col = 0;
        ++row;
        if (rows) *to++ = ']';
      }
    });
    text.resize(static_cast<std::size_t>(to - text.data()));
  }

  ByteSink& sink_;
  ParallelText texts_;
};

void require_countable(const Array& array) {
  std::uint64_t bytes = 0;
  const auto count = count_elements(array.dims);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!count || !multiply(*count, size_of(array.type), bytes) || bytes > kMost) {
    throw Error(Errc::unsupported, text(element_of(array.type), array.dims) +
                                       " takes 2^63 bytes or more, too many for Futhark");
  }
}

template <class Output>
void write_matrix(const Source& source, Output& output) {
  const Array array{source.schema().value_type, {source.rows(), source.cols()}};
  require_countable(array);
  output.begin(array);
  if (!array.empty()) {
    source.for_each_packed(output.size(), [&](const Region& piece, auto cells) {
      output.cells(array, {piece.rows.begin, piece.cols.begin, cells.data(),
                           piece.rows.size() * piece.cols.size()});
    });
  }
  output.end(array);
}

/// A column that is too long to be held, strip by strip.
template <class Output>
void write_long_column(const Source& source, std::uint64_t col, const Array& array, Output& output,
                       std::vector<std::byte>& cells) {
  const std::size_t size = size_of(array.type);
  const std::uint64_t strip = kColumnBytes / size;
  cells.resize(kColumnBytes);
  for (std::uint64_t row = 0; row < source.rows();) {
    const Range rows{row, row + std::min(strip, source.rows() - row)};
    source.read({rows, {col, col + 1}}, {cells.data(), array.type, size, size}, source.threads());
    output.cells(array, {0, row, cells.data(), rows.size()});
    row = rows.end;
  }
}

template <class Output>
void write_frame(const Source& source, Output& output) {
  const std::uint64_t rows = source.rows(), cols = source.cols();
  if (cols == 0) {
    throw Error(Errc::unsupported, "Futhark cannot hold a frame without columns");
  }
  std::vector<Array> arrays;
  for (const Column& column : source.schema().columns) {
    arrays.push_back({column.value_type, {rows}});
    require_countable(arrays.back());
  }
  std::vector<std::byte> cells;
  for (std::uint64_t col = 0; col < cols;) {
    // As many columns as fit, because reading one of a file that is stored by rows costs nearly
    // as much as reading all of them.
    std::vector<ColumnBuffer> group;
    std::uint64_t bytes = 0, end = col;
    for (; end < cols; ++end) {
      const std::size_t size = size_of(arrays[end].type);
      if (rows > (kColumnBytes - bytes) / size) break;
      group.push_back({end, arrays[end].type, nullptr, size});
      bytes += rows * size;
    }
    const bool longer = end == col;
    if (longer) ++end;
    cells.resize(bytes);
    std::uint64_t at = 0;
    for (ColumnBuffer& column : group) {
      column.data = cells.data() + at;
      at += rows * column.step;
    }
    if (rows > 0 && !longer) source.read_columns({0, rows}, group, source.threads());
    for (std::uint64_t c = col; c < end; ++c) {
      output.begin(arrays[c]);
      if (longer) {
        write_long_column(source, c, arrays[c], output, cells);
      } else if (rows > 0) {
        output.cells(arrays[c], {0, 0, group[c - col].data, rows});
      }
      output.end(arrays[c]);
    }
    col = end;
    source.progress(rows / cols * col);
  }
  source.progress(rows);
}

template <class Output>
void write(const Source& source, ByteSink& sink) {
  Output output(sink, source.threads());
  if (source.kind() == ObjectKind::frame) {
    write_frame(source, output);
  } else {
    write_matrix(source, output);
  }
}

}  // namespace

void write_futhark(const Source& source, ByteSink& sink, const ConvertOptions&) {
  write<BinaryOutput>(source, sink);
}

void write_futhark_text(const Source& source, ByteSink& sink, const ConvertOptions&) {
  write<TextOutput>(source, sink);
}

}  // namespace dapple::detail::futhark
