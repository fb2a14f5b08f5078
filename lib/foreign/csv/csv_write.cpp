// Writing: strips of rows, read in their own types, become lines of text.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dapple/csv.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/csv/csv.h"
#include "lib/foreign/csv/csv_meaning.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/foreign/text/write_cells.h"
#include "lib/object/own_columns.h"

namespace dapple::detail::csv {

namespace {

/// True for what starts like a mark of UTF-8, UTF-16 or UTF-32.
bool starts_like_a_mark(std::string_view text) noexcept {
  using namespace std::string_view_literals;
  return text.starts_with('\xef') || text.starts_with("\xff\xfe"sv) ||
         text.starts_with("\xfe\xff"sv) || text.starts_with("\0\0\xfe\xff"sv);
}

/// True for texts that would be taken for something else without quotes around them.
bool needs_quotes(std::string_view text) {
  constexpr std::string_view kSpecial = "\",;\t\r\n";
  const std::string_view inner = trimmed(text);
  return is_missing(inner) || Dialect().is_number(inner) || starts_like_a_mark(text) ||
         text.starts_with('%') || text.find_first_of(kSpecial) != std::string_view::npos;
}

/// The same of words in a column, which may also look like truth values or times.
bool word_needs_quotes(std::string_view word) {
  const std::string_view inner = trimmed(word);
  return needs_quotes(word) || truth_of(inner) || read_far_time(inner);
}

void append_field(std::string_view text, bool quotes, std::string& line) {
  if (!quotes) {
    line += text;
    return;
  }
  line += '"';
  for (char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

/// How text is written.
struct Style {
  char delimiter = ',';
  bool short_floats = false;
};

std::string header_line(const std::vector<Column>& columns, const Style& style) {
  std::string line;
  for (const Column& column : columns) {
    append_csv_label(column.label, line);
    line += style.delimiter;
  }
  line.back() = '\n';
  return line;
}

/// The names of a matrix's columns, if they have some.
std::vector<Column> named_columns(const Source& source) {
  std::vector<Column> columns;
  if (source.drops_labels()) return columns;
  const auto& group = source.schema().group;
  const auto names = source.names_to_write();
  if (names == nullptr && (group == nullptr || group->slot_names == nullptr)) return columns;
  for (std::uint64_t col = 0; col < source.cols(); ++col) {
    columns.push_back({names != nullptr ? std::string((*names)[col]) : group->label(col)});
  }
  return columns;
}

/// Neighbouring columns of one type.
struct TypeRun {
  std::uint64_t cols;
  ValueType type;
  const Column* column = nullptr;  // one that is no plain number
};

std::vector<TypeRun> type_runs(const Schema& schema, Range cols) {
  if (schema.kind == ObjectKind::matrix) return {{cols.size(), schema.value_type}};
  std::vector<TypeRun> runs;
  for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
    const Column* const column = is_plain(schema.columns[c]) ? nullptr : &schema.columns[c];
    if (runs.empty() || runs.back().type != schema.type_of(c) || column != nullptr ||
        runs.back().column != nullptr) {
      runs.push_back({0, schema.type_of(c), column});
    }
    ++runs.back().cols;
  }
  return runs;
}

/// Appends `n` values of type T, each followed by a delimiter.
template <Value T>
void append_values(const std::byte* cells, std::uint64_t n, T value, const Style& style,
                   std::string& out) {
  append_items(n, kNumberRoom + 1, out, [&](char* to, std::uint64_t i) {
    std::memcpy(&value, cells + i * sizeof value, sizeof value);
    to = write_cell(to, value, style.short_floats);
    *to++ = style.delimiter;
    return to;
  });
}

/// Appends a cell of a column that is no plain number, and a delimiter.
void append_described(const Column& column, const std::byte* cell, const Style& style,
                      std::string& out) {
  const std::uint64_t bits = load_bits(column.value_type, cell);
  if (column.meaning.kind == MeaningKind::number && !is_missing(column.meaning, bits)) {
    visit_type(column.value_type, [&](auto value) { append_values(cell, 1, value, style, out); });
    return;
  }
  append_csv(column, bits, out);
  out += style.delimiter;
}

/// Writes the cells of a region, packed row after row in `cells`.
void write_cells(const Source& source, const Region& region, const std::byte* cells,
                 const Style& style, ByteSink& sink) {
  const std::vector<TypeRun> runs = type_runs(source.schema(), region.cols);
  const std::uint64_t row_bytes = source.packed_row(region.cols);
  const bool line_ends = region.cols.end == source.cols();
  ParallelText texts(source.threads(), sink);
  texts.write(region.rows.size(), region.cols.size(), [&](Range rows, std::string& text) {
    const std::byte* p = cells + rows.begin * row_bytes;
    for (std::uint64_t r = rows.begin; r < rows.end; ++r) {
      for (const TypeRun& run : runs) {
        if (run.column != nullptr) {
          const std::size_t begin = text.size();
          append_described(*run.column, p, style, text);
          // A missing cell of the only column would be a blank line, which is no row.
          if (source.cols() == 1 && text.size() == begin + 1) text.insert(begin, "NA");
        } else {
          visit_type(run.type, [&](auto value) { append_values(p, run.cols, value, style, text); });
        }
        p += run.cols * size_of(run.type);
      }
      if (line_ends) text.back() = '\n';
    }
  });
}

/// Rows that are held as text at once when some of their columns are text.
constexpr std::uint64_t kTextRows = 4096;

/// One row of numbers and texts in the order of the file. `texts[i]` is the row's text of column
/// source.text_columns()[i].
void append_mixed_row(const Source& source, const std::byte* cells,
                      std::span<const std::string* const> texts, const Style& style,
                      std::string& line) {
  const auto columns = source.store().text_columns();
  std::size_t next = 0;
  for (std::uint64_t col = 0; col <= source.cols(); ++col) {
    for (; next < texts.size() && columns[source.text_columns()[next]].before <= col; ++next) {
      append_csv_word(*texts[next], line);
      line += style.delimiter;
    }
    if (col == source.cols()) break;
    const ValueType type = source.schema().type_of(col);
    if (const Column& column = source.schema().columns[col]; !is_plain(column)) {
      append_described(column, cells, style, line);
    } else {
      visit_type(type, [&](auto value) { append_values(cells, 1, value, style, line); });
    }
    cells += size_of(type);
  }
  line.back() = '\n';
}

/// A frame that has text columns, too.
void write_mixed(const Source& source, const Style& style, ByteSink& sink) {
  const auto columns = source.store().text_columns();
  const std::size_t n = source.text_columns().size();
  std::vector<Column> labels = source.schema().columns;
  for (std::size_t i = n; i-- > 0;) {
    const TextColumn& column = columns[source.text_columns()[i]];
    labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(column.before), {column.label, {}});
  }
  sink.write(header_line(labels, style));
  const std::uint64_t row_bytes = source.packed_row();
  std::vector<std::byte> cells;
  std::vector<std::vector<std::string>> texts(n, std::vector<std::string>(kTextRows));
  std::vector<const std::string*> row_texts(n);
  std::string lines;
  for (std::uint64_t row = 0; row < source.rows(); row += kTextRows) {
    const Range rows{row, row + std::min(kTextRows, source.rows() - row)};
    cells.resize(rows.size() * row_bytes);
    source.read_packed({rows, {0, source.cols()}}, cells.data(), source.threads());
    for (std::size_t i = 0; i < n; ++i) {
      source.read_text(source.text_columns()[i], rows,
                       [&](std::uint64_t r, std::string_view text) { texts[i][r - row] = text; });
    }
    lines.clear();
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      for (std::size_t i = 0; i < n; ++i) row_texts[i] = &texts[i][r];
      append_mixed_row(source, cells.data() + r * row_bytes, row_texts, style, lines);
    }
    sink.write(lines);
    source.progress(rows.end);
  }
}

void write_text(const Source& source, ByteSink& sink, const Style& style) {
  if (!source.text_columns().empty()) return write_mixed(source, style, sink);
  const bool frame = source.kind() == ObjectKind::frame;
  if (source.cols() == 0 && (frame || source.rows() > 0)) {
    throw Error(Errc::unsupported, "delimited text cannot hold an object without columns");
  }
  const std::vector<Column> columns = frame ? source.schema().columns : named_columns(source);
  if (!columns.empty()) sink.write(header_line(columns, style));
  std::vector<std::byte> cells;
  source.for_each_piece([&](const Region& region) {
    cells.resize(region.rows.size() * source.packed_row(region.cols));
    source.read_packed(region, cells.data(), source.threads());
    write_cells(source, region, cells.data(), style, sink);
  });
}

/// An integer that the reader takes for a word, as of postal codes: 007.
bool is_padded(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() > 1 && text.front() == '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What a field of a column may be taken for, as a set.
enum Look : unsigned { kTruth = 1, kTime = 2, kNumber = 4, kAnyLook = 7 };

/// What a word in quotes looks like; a missing value, as which it would be read among numbers, too.
unsigned looks_of(std::string_view word) {
  const std::string_view inner = trimmed(word);
  unsigned looks = 0;
  if (truth_of(inner)) looks |= kTruth;
  if (read_far_time(inner)) looks |= kTime;
  if (is_missing(inner) || (Dialect().is_number(inner) && !is_padded(inner))) looks |= kNumber;
  return looks;
}

/// What all words of the cells that were seen look like. An empty one passes for anything.
struct CommonLooks {
  unsigned of_all = kAnyLook;
  unsigned of_any = 0;

  void add(std::string_view word) {
    const unsigned looks = looks_of(word);
    of_all &= word.empty() ? kAnyLook : looks;
    of_any |= looks;
  }
  unsigned common() const noexcept { return of_all & of_any; }
};

/// Whether the test holds for the bits of a cell in the first `n` rows that is not missing. Cells
/// are read some at a time up to that one.
template <class Test>
bool any_cell(const Source& source, std::uint64_t col, std::uint64_t n, const Test& test) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 16;
  const Column& column = source.schema().columns[col];
  const std::size_t size = size_of(column.value_type);
  std::vector<std::byte> cells;
  for (Range rows{0, 0}; rows.begin < n; rows.begin = rows.end) {
    rows.end = rows.begin + std::min(kRows, n - rows.begin);
    cells.resize(rows.size() * size);
    const ColumnBuffer buffer{col, column.value_type, cells.data(), size};
    source.read_columns(rows, {&buffer, 1}, source.threads());
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t bits = load_bits(column.value_type, cells.data() + i * size);
      if (!is_missing(column.meaning, bits) && test(bits)) return true;
    }
  }
  return false;
}

/// What all words in the column look like. Cells tell where the dictionary has words of several
/// looks, which may be in none.
unsigned looks_of(const Source& source, std::uint64_t col) {
  const Dictionary& words = *source.schema().columns[col].meaning.words;
  CommonLooks looks;
  for (std::uint64_t i = 0; i < words.size(); ++i) looks.add(words[i]);
  if (looks.common() == looks.of_any) return looks.common();
  CommonLooks used;
  any_cell(source, col, source.rows(), [&](std::uint64_t code) {
    used.add(words[code - 1]);
    return used.of_all == 0;
  });
  return used.common();
}

/// Whether a column of numbers holds one, without quotes, so early in the text that the reader, who
/// looks at a megabyte, finds it.
bool has_numbers(const Source& source) {
  constexpr std::uint64_t kCells = std::uint64_t{1} << 15;
  const std::vector<Column>& columns = source.schema().columns;
  const std::uint64_t rows = std::min(source.rows(), kCells / source.cols() + 1);
  for (std::uint64_t col = 0; col < columns.size(); ++col) {
    if (columns[col].meaning.kind != MeaningKind::number) continue;
    if (any_cell(source, col, rows, [](std::uint64_t) { return true; })) return true;
  }
  return false;
}

/// The columns of words that are read back as something else.
std::vector<std::string_view> mistaken_words(const Source& source) {
  const std::vector<Column>& columns = source.schema().columns;
  std::optional<bool> numbers;
  std::vector<std::string_view> labels;
  for (std::uint64_t col = 0; col < columns.size(); ++col) {
    const Column& column = columns[col];
    if (!column.meaning.has_words() || column.meaning.words == nullptr) continue;
    const unsigned looks = looks_of(source, col);
    if (looks == kNumber && !numbers) numbers = has_numbers(source);
    if (looks != 0 && !(looks == kNumber && *numbers)) labels.push_back(column.label);
  }
  return labels;
}

/// Whether the labels are taken for cells: they all look like some, and the fields below have
/// quotes, too.
bool hides_labels(const Source& source) {
  const std::vector<Column>& columns = source.schema().columns;
  if (columns.empty() || source.rows() == 0) return false;
  for (std::uint64_t col = 0; col < columns.size(); ++col) {
    const Column& column = columns[col];
    const std::string_view label = trimmed(column.label);
    if (!is_missing(label) && !Dialect().is_number(label)) return false;
    if (!column.meaning.has_words() || column.meaning.words == nullptr) return false;
    std::byte cell[8];
    const ColumnBuffer buffer{col, column.value_type, cell, sizeof cell};
    source.read_columns({0, 1}, {&buffer, 1});
    std::string field;
    append_csv(column, load_bits(column.value_type, cell), field);
    if (!field.starts_with('"')) return false;
  }
  return true;
}

}  // namespace

void note_mistaken(const Source& source, const std::string& target, const TakeNote& note) {
  if (source.kind() == ObjectKind::matrix && source.rows() == 0 && named_columns(source).empty()) {
    note(target + " has the columns of a matrix in its rows; the file is empty, and no table");
  }
  note_named("column", mistaken_words(source),
             target +
                 " does not tell such words from numbers, times or truth values; give the columns "
                 "the type text when it is read",
             note);
  if (!hides_labels(source)) return;
  note(target +
       " does not tell such labels from cells; say that the first line holds labels when it is "
       "read");
}

void write_csv(const Source& source, ByteSink& sink, const ConvertOptions& options) {
  write_text(source, sink, {',', options.short_floats});
}

void write_tsv(const Source& source, ByteSink& sink, const ConvertOptions& options) {
  write_text(source, sink, {'\t', options.short_floats});
}

}  // namespace dapple::detail::csv

namespace dapple {

void append_csv(const Column& column, std::uint64_t bits, std::string& out) {
  if (!column.meaning.has_words() || is_missing(column.meaning, bits)) {
    return append_text(column, bits, out);
  }
  std::string word;
  append_text(column, bits, word);
  append_csv_word(word, out);
}

void append_csv_word(std::string_view word, std::string& out) {
  detail::csv::append_field(word, detail::csv::word_needs_quotes(word), out);
}

void append_csv_label(std::string_view label, std::string& out) {
  detail::csv::append_field(label, detail::csv::needs_quotes(label), out);
}

}  // namespace dapple
