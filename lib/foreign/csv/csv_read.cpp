// Reading: text to cells. Opening has checked that every row has all its fields and that none holds
// a line end, and found out whether one holds a delimiter in its quotes, so rows, and mostly
// columns too, that nobody asked for are skipped with memchr. Even if the file has changed since
// then, nothing outside the block is read.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "lib/base/number_window.h"
#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/csv/csv_state.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/foreign/csv/field_window.h"
#include "lib/object/misfit.h"

namespace dapple::detail::csv {

namespace {

/// Neighbouring columns of one declared type, and where their values go.
struct Run {
  std::uint64_t col;  // first, in the object
  std::uint64_t cols;
  ValueType type;
  Target out;
  const FieldReader* fields = nullptr;  // of one column that is no plain number
};

/// The type that the fields of a column are read as.
ValueType text_type(const Store& store, std::uint64_t col) {
  const State& state = store.state<State>();
  return state.types.empty() ? store.schema().type_of(col) : state.types[col];
}

/// How the fields of a column are read that is no plain number, or null.
const FieldReader* field_reader(const Store& store, std::uint64_t col) {
  const State& state = store.state<State>();
  return state.fields.empty() ? nullptr : state.fields[col].get();
}

std::vector<Run> runs_of(const Store& store, Range cols, const Target& out) {
  if (store.schema().kind == ObjectKind::matrix && store.state<State>().types.empty()) {
    return {{cols.begin, cols.size(), store.schema().value_type, out}};
  }
  std::vector<Run> runs;
  for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
    const ValueType type = text_type(store, c);
    const FieldReader* const fields = field_reader(store, c);
    if (runs.empty() || runs.back().type != type || fields != nullptr ||
        runs.back().fields != nullptr) {
      Target at = out;
      at.data = out.cell(0, c - cols.begin);
      runs.push_back({c, 0, type, at, fields});
    }
    ++runs.back().cols;
  }
  return runs;
}

/// The columns in the order of the text; neighbours in text and memory become one run.
std::vector<Run> runs_of(const Store& store, std::span<const ColumnBuffer> columns) {
  std::vector<ColumnBuffer> sorted(columns.begin(), columns.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ColumnBuffer& a, const ColumnBuffer& b) { return a.col < b.col; });
  std::vector<Run> runs;
  for (const ColumnBuffer& c : sorted) {
    const ValueType type = text_type(store, c.col);
    const std::size_t size = size_of(c.value_type);
    const FieldReader* const fields = field_reader(store, c.col);
    if (!runs.empty() && fields == nullptr && runs.back().fields == nullptr) {
      Run& run = runs.back();
      if (run.col + run.cols == c.col && run.type == type && run.out.type == c.value_type &&
          run.out.row_step == c.step && run.out.cell(0, run.cols) == c.data) {
        ++run.cols;
        continue;
      }
    }
    runs.push_back({c.col, 1, type, {c.data, c.value_type, c.step, size}, fields});
  }
  return runs;
}

class Reader {
 public:
  Reader(const Store& store, const Entry& entry)
      : store_(store),
        state_(store.state<State>()),
        entry_(entry),
        held_(store.payload(entry)),
        text_(reinterpret_cast<const char*>(held_.data())),
        end_(text_ + entry.bytes),
        window_(end_),
        fields_(end_, state_.delimiter) {}

  /// Reads rows of the block; the first goes to row `first_out` of the runs' targets.
  void read(Range rows, std::span<const Run> runs, std::uint64_t first_out) {
    memories_.assign(runs.size(), {RecentWords(end_)});
    const char* line = text_;
    for (std::uint64_t r = 0; r < rows.begin; ++r) line = next_line(line);
    for (row_ = rows.begin; row_ < rows.end; ++row_) {
      line_start_ = line;
      const char* p = line;
      std::uint64_t col = 0;  // of the field at `p`, or the next one once that has been read
      for (const Run& run : runs) {
        if (run.col < col) {
          p = line;
          col = 0;
        }
        p = find_column(p, col, run.col);
        std::byte* const out = run.out.cell(first_out + row_ - rows.begin, 0);
        if (run.fields != nullptr) {
          p = read_described(p, run, out, memories_[static_cast<std::size_t>(&run - runs.data())]);
        } else {
          visit_type(run.type, [&](auto value) { p = read_run(p, run, out, value); });
        }
        col = run.col + run.cols;
      }
      line = next_line(p);
    }
  }

 private:
  const char* find(const char* p, char c) const {
    return static_cast<const char*>(std::memchr(p, c, static_cast<std::size_t>(end_ - p)));
  }

  /// The start of the next row. REQUIRES p outside of quotes, at the start or end of a field.
  const char* next_line(const char* p) const {
    if (p != end_ && *p == '\n') return p + 1;
    while (state_.quoted_line_ends && !at_line_end(p, end_)) {
      const std::optional<Field> field =
          find_field(*p == state_.delimiter ? p + 1 : p, end_, state_.delimiter);
      if (!field) return end_;
      p = field->end;
    }
    const char* const stop = find(p, '\n');
    return stop != nullptr ? stop + 1 : end_;
  }

  /// The start of field `wanted`, from the end of field `col - 1`, or from the line's start.
  const char* find_column(const char* p, std::uint64_t col, std::uint64_t wanted) const {
    if (col > 0) p = past_delimiter(p, col);
    for (; col < wanted; ++col) {
      const char* const stop =
          state_.quoted_delimiters ? delimiter_behind_field(p) : find(p, state_.delimiter);
      if (stop == nullptr) fail_count(end_, col + 1);
      p = stop + 1;
    }
    return p;
  }

  const char* delimiter_behind_field(const char* p) const {
    const std::optional<Field> field = find_field(p, end_, state_.delimiter);
    const bool more = field && field->end != end_ && *field->end == state_.delimiter;
    return more ? field->end : nullptr;
  }

  const char* past_delimiter(const char* p, std::uint64_t fields) const {
    if (p == end_ || *p != state_.delimiter) fail_count(p, fields);
    return p + 1;
  }

  /// A field of a column that is no plain number, as its code or ticks.
  const char* read_described(const char* p, const Run& run, std::byte* out, WordMemory& memory) {
    const std::optional<Field> field = fields_.field(p);
    const std::optional<std::uint64_t> bits =
        field ? run.fields->read(*field, state_.missing, memory) : std::nullopt;
    if (!bits) fail_described(p, run);
    std::uint64_t result = *bits;
    if (run.type != run.out.type && !convert_cell(run.type, *bits, run.out.type, result)) {
      fail(p, run.col, run.out.type);
    }
    store_bits(run.out.type, out, result);
    return field->end;
  }

  template <Value T>
  const char* read_run(const char* p, const Run& run, std::byte* out, T value) {
    const bool direct = run.out.type == value_type_of<T>();
    if (!direct && values_.size() < run.cols * sizeof(T)) values_.resize(run.cols * sizeof(T));
    std::byte* to = direct ? out : values_.data();
    const std::size_t step = direct ? run.out.col_step : sizeof(T);
    for (std::uint64_t i = 0; i < run.cols; ++i) {
      if (i > 0) p = past_delimiter(p, run.col + i);
      p = read_field(p, run.col + i, value);
      std::memcpy(to, &value, sizeof value);
      to += step;
    }
    if (direct) return p;
    const std::size_t done = convert_cells(run.type, values_.data(), sizeof(T), run.out.type, out,
                                           run.out.col_step, run.cols);
    if (done != run.cols) {
      const std::uint64_t col = run.col + done;
      const bool rounds = can_be_rounded(run.type, values_.data() + done * sizeof(T), run.out.type);
      fail(find_column(line_start_, 0, col), col, run.out.type, rounds);
    }
    return p;
  }

  template <Value T>
  const char* read_field(const char* p, std::uint64_t col, T& value) {
    if (state_.missing.has_numbers()) return read_unusual_field(p, col, value);
    const NumberText number = window_.read_at(p, value);
    if (number.error == NumberError::none && at_field_end(number.end, end_, state_.delimiter)) {
      return number.end;
    }
    return read_unusual_field(p, col, value);
  }

  /// A field with quotes or blanks around it, a missing value, or nothing that T holds.
  template <Value T>
  const char* read_unusual_field(const char* p, std::uint64_t col, T& value) const {
    const std::optional<Field> field = find_field(p, end_, state_.delimiter);
    if (!field) fail(p, col, value_type_of<T>());
    const std::string_view text = trimmed(field->text);
    if (std::is_floating_point_v<T> && state_.missing_as_nan && state_.missing.has(text)) {
      value = std::numeric_limits<T>::quiet_NaN();
      return field->end;
    }
    if constexpr (std::is_floating_point_v<T>) {
      const std::optional<std::uint64_t> mark = missing_mark(col);
      if (mark && state_.missing.has(text)) {
        value = std::bit_cast<T>(static_cast<BitsOf<T>>(*mark));
        return field->end;
      }
    }
    const char* const stop = text.data() + text.size();
    const NumberText number = read_number(text.data(), stop, value);
    if (number.error != NumberError::none || number.end != stop) fail(p, col, value_type_of<T>());
    return field->end;
  }

  std::uint64_t offset(const char* p) const {
    return entry_.offset + static_cast<std::uint64_t>(p - text_);
  }
  std::uint64_t line() const { return state_.first_line + entry_.pos.rx + row_; }

  /// Of a column of numbers, if it has missing cells.
  std::optional<std::uint64_t> missing_mark(std::uint64_t col) const {
    const Schema& schema = store_.schema();
    if (schema.kind != ObjectKind::frame) return std::nullopt;
    return schema.columns[col].meaning.missing;
  }

  /// Opening looks at words, times and truth values, but not at how large integers are.
  [[noreturn]] void fail_described(const char* p, const Run& run) const {
    if (run.fields->meaning().kind == MeaningKind::number) {
      const std::optional<Field> field = find_field(p, end_, state_.delimiter);
      if (!field || !run.fields->is_mark(*field)) fail(p, run.col, run.type);
      fail_at(Errc::type_mismatch, place(p, run.col),
              shown(field->text) + " is what marks a missing cell in a column of " +
                  std::string(name(run.type)));
    }
    store_.fail(Errc::corrupt, offset(p),
                "line " + std::to_string(line()) + ", column " + std::to_string(run.col + 1) +
                    " is not what it was when the file was opened");
  }

  Place place(const char* p, std::uint64_t col) const {
    const Schema& schema = store_.schema();
    const bool labelled = schema.kind == ObjectKind::frame;
    const std::string_view label = labelled ? schema.columns[col].label : std::string_view();
    return {store_.file().name(), offset(p), line(), col, label};
  }

  /// `rounds`: the field is a number that the type does not hold exactly.
  [[noreturn]] void fail(const char* p, std::uint64_t col, ValueType type,
                         bool rounds = false) const {
    fail_field(place(p, col), p, end_, state_.delimiter, state_.missing, type, rounds);
  }

  [[noreturn]] void fail_count(const char* p, std::uint64_t fields) const {
    store_.fail(Errc::corrupt, offset(p), count_text(line(), fields, store_.schema().cols));
  }

  const Store& store_;
  const State& state_;
  const Entry& entry_;
  const HeldBytes held_;
  const char* const text_;
  const char* const end_;
  NumberWindow window_;
  FieldWindow fields_;
  std::uint64_t row_ = 0;  // read now, counted from the block's first
  const char* line_start_ = nullptr;
  std::vector<std::byte> values_;     // of a run, before they are converted
  std::vector<WordMemory> memories_;  // of each run
};

/// Reads rows of a block. Words that are in a sidecar are right only while that is intact.
void read_strip(const Store& store, const Entry& entry, Range rows, std::span<const Run> runs,
                std::uint64_t first_out) {
  const auto read = [&] { Reader(store, entry).read(rows, runs, first_out); };
  const ByteSource* const sidecar = store.state<State>().sidecar.get();
  const auto has_words = [](const Run& run) {
    return run.fields != nullptr && run.fields->words() != nullptr;
  };
  if (sidecar == nullptr || std::none_of(runs.begin(), runs.end(), has_words)) return read();
  watched(*sidecar, read);
}

void read_block(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  const Range cols{entry.pos.cx + part.cols.begin, entry.pos.cx + part.cols.end};
  read_strip(store, entry, part.rows, runs_of(store, cols, out), 0);
}

void read_columns(const Store& store, Range rows, std::span<const ColumnBuffer> columns,
                  const ReadOptions& options) {
  const std::vector<Run> runs = runs_of(store, columns);
  const Region whole{rows, {0, store.schema().cols}};
  store.require_inside(whole);
  const std::vector<std::uint64_t> numbers = store.index().touching(whole);
  parallel_for(numbers.size(), options.threads, [&](std::uint64_t i) {
    const Entry entry = store.confirmed_entry(numbers[i]);
    const Range part = intersect(entry.cells().rows, rows);
    read_strip(store, entry, {part.begin - entry.pos.rx, part.end - entry.pos.rx}, runs,
               part.begin - rows.begin);
  });
}

}  // namespace

const Driver kDriver = {
    .format = "csv", .read = read_block, .sequential = true, .read_rows = read_columns};

}  // namespace dapple::detail::csv
