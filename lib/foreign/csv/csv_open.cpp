#include <algorithm>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/foreign/csv/csv.h"
#include "lib/foreign/csv/csv_dialect.h"
#include "lib/foreign/csv/csv_meaning.h"
#include "lib/foreign/csv/csv_options.h"
#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/csv/csv_tiles.h"
#include "lib/foreign/csv/csv_types.h"
#include "lib/foreign/csv/csv_utf8.h"
#include "lib/foreign/meta/daphne_meta.h"

namespace dapple::detail::csv {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// A column takes one or two kilobytes while the text is parsed, and as little as two bytes of it.
constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 21;

bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

class Parser {
 public:
  Parser(const ByteSource& file, const OpenOptions& options, texts::Import& import)
      : file_(file),
        options_(read_options(options.format_options)),
        first_rows_(options.first_rows),
        import_(import),
        missing_(options_.missing_words),
        threads_(options.threads),
        base_(reinterpret_cast<const char*>(file_.at(0, file_.size()))),
        end_(base_ + file_.size()),
        text_(base_),
        meta_(find_daphne_meta(file_)) {
    if (std::string_view(base_, file_.size()).starts_with(kByteOrderMark)) {
      text_ += kByteOrderMark.size();
    }
  }

  void parse() {
    require_text({base_, static_cast<std::size_t>(end_ - base_)}, base_, file_.name());
    if (meta_) {
      schema_.kind = meta_->kind;
      schema_.value_type = meta_->value_type;
      schema_.columns = std::move(meta_->columns);
    }
    find_dialect();
    if (std::all_of(text_, end_, is_line_end)) return parse_empty();
    read_first_line();
    take_types();
    if (first_rows_) end_ = end_of_rows(*first_rows_);
    ScanInput input{
        file_.name(), base_,  end_,    dialect_,        options_.missing_as_nan, missing_,
        false,        given_, wanted_, schema_.columns, trailing_delimiter_,     threads_};
    const Rows rows = import_all(input);
    if (meta_ && !first_rows_ && meta_->rows != rows.rows) fail_meta_rows(rows.end, rows.rows);
    finish_schema(input, rows);
    require_numbers(rows, input);
    std::string note = note_of_rounding(rows, schema_, input);
    if (!note.empty() && !first_note_.empty()) note = "; " + note;
    import_.finish(std::move(schema_), first_note_ + note);
  }

 private:
  /// Parses the text as the first rows promise, and once more if it does not keep that.
  Rows import_all(ScanInput& input) {
    Rows rows = see_rows(input, text_, Extent::first);
    for (bool last = rows.whole;; last = true) {
      const Plan plan = make_plan(rows, input, !may_be_matrix(rows), labels());
      Tiles tiles(import_, input, plan);
      Imported imported = import_rows(input, text_, plan, tiles);
      rows = std::move(imported.rows);
      // A matrix has no place for missing cells: says where one is.
      if (may_be_matrix(rows) && any_seen(rows, flag::missing)) {
        input.numbers_only = true;
        see_rows(input, text_, Extent::all);
      }
      if (imported.fits && keeps_all(plan, tiles, rows, input)) return rows;
      if (last)
        throw Error(Errc::io, file_.name(), std::nullopt, "the file changes while it is read");
    }
  }

  /// The columns as they turned out to be.
  void finish_schema(const ScanInput& input, const Rows& rows) {
    schema_.rows = rows.rows;
    if (may_be_matrix(rows)) {
      schema_.value_type = matrix_type(rows, input);
      return;
    }
    const std::vector<std::string> names = labels();
    schema_.kind = ObjectKind::frame;
    schema_.columns.resize(names.size());
    for (std::size_t c = 0; c < names.size(); ++c) schema_.columns[c].label = names[c];
    require_utf8(input, rows, text_);
    for (std::size_t c = 0; c < names.size(); ++c) {
      Column& column = schema_.columns[c];
      if (rows.meanings[c]) {
        column.value_type = stored_type(*rows.meanings[c]);
        column.meaning = *rows.meanings[c];
        continue;
      }
      column.value_type = column_type(rows, c, input);
      if ((rows.seen.flags[c] & flag::missing) == 0) continue;
      column.meaning.missing = is_float(column.value_type) || given_[c]
                                   ? usual_mark(column.value_type)
                                   : integer_mark(rows.seen.flags[c]);
    }
  }

  /// Where the first `rows` rows end, or the text.
  const char* end_of_rows(std::uint64_t rows) const {
    const char* p = text_;
    for (; rows > 0 && p != end_; --rows) {
      const std::optional<Field> last =
          read_line(dialect_.past_comments(p, end_), end_, dialect_.delimiter).last;
      if (!last) return end_;  // parsing says what is wrong
      p = past_line_end(last->end, end_);
    }
    return p;
  }

  static bool any_seen(const Rows& rows, std::uint16_t flags) noexcept {
    return std::any_of(rows.seen.flags.begin(), rows.seen.flags.end(),
                       [flags](std::uint16_t seen) { return (seen & flags) != 0; });
  }
  /// Rows without labels whose columns are not all numbers are a frame all the same.
  bool may_be_matrix(const Rows& rows) const noexcept {
    return schema_.kind == ObjectKind::matrix && !any_seen(rows, flag::other) &&
           std::none_of(wanted_.begin(), wanted_.end(), [](auto m) { return m.has_value(); });
  }
  std::vector<std::string> labels() const {
    std::vector<std::string> all;
    for (std::uint64_t c = 0; c < schema_.cols; ++c) {
      all.push_back(schema_.columns.empty() ? std::string("c").append(std::to_string(c))
                                            : schema_.columns[c].label);
    }
    return all;
  }

  /// A file of nothing but line ends: without rows, as its .meta file must say.
  void parse_empty() {
    if (!meta_) {
      if (options_.skip > 0) {
        fail(text_, "after the lines that are skipped there is neither a label nor a value");
      }
      fail(base_, "the file is empty: there is neither a label nor a value");
    }
    if (meta_->rows != 0) fail_meta_rows(file_.size(), 0);
    for (Column& column : schema_.columns) {
      if (column.meaning.has_words()) column.meaning.words = std::make_shared<WordTable>();
    }
    schema_.cols = meta_->cols;
    import_.start(schema_, default_tile(1, schema_.cols));
    import_.finish(std::move(schema_), {});
  }

  [[noreturn]] void fail(const char* p, const std::string& what) const {
    throw Error(Errc::corrupt, file_.name(), static_cast<std::uint64_t>(p - base_), what);
  }

  [[noreturn]] void fail_meta_rows(std::uint64_t offset, std::uint64_t rows) const {
    fail(base_ + offset, "there are " + std::to_string(rows) + " rows, but the .meta file says " +
                             std::to_string(meta_->rows));
  }

  /// Tells how the text is written; `text_` is the first line of the table afterwards.
  void find_dialect() {
    dialect_.decimal = options_.decimal;
    dialect_.comment = options_.comment;
    const char* const start = text_;
    const auto text = [this] {
      return std::string_view(text_, static_cast<std::size_t>(end_ - text_));
    };
    const std::size_t said = separator_line(text(), dialect_.delimiter);
    text_ += said;
    for (std::uint64_t line = said > 0 ? 1 : 0; line < options_.skip && text_ != end_; ++line) {
      text_ = Dialect::past_comment(text_, end_);
    }
    text_ = dialect_.past_comments(text_, end_);
    first_line_ += count_lines(start, text_);
    if (options_.delimiter) {
      dialect_.delimiter = *options_.delimiter;
    } else if (said == 0) {
      dialect_.delimiter = guess_delimiter(text(), dialect_);
    }
    require_dialect(dialect_, file_.name());
    require_text(text(), base_, file_.name());
  }

  /// Tells the columns; `text_` is the first row afterwards.
  void read_first_line() {
    if (at_line_end(text_, end_)) {
      fail(text_, line_text() + " is blank: it has neither labels nor values");
    }
    const char* next = for_each_field([&](const Field&) { ++schema_.cols; });
    if (meta_ && meta_->cols != schema_.cols) {
      fail(text_, line_text() + " has " + counted(schema_.cols, "field") +
                      ", but the .meta file says " + std::to_string(meta_->cols));
    }
    if (schema_.cols > kMostColumns) {
      throw Error(Errc::unsupported, file_.name(), static_cast<std::uint64_t>(text_ - base_),
                  line_text() + " has " + counted(schema_.cols, "field") +
                      "; a table of more than 2097152 columns is not read");
    }
    if (!meta_) require_no_lines_before();
    next = dialect_.past_comments(next, end_);
    const char* const below = at_line_end(next, end_) ? nullptr : next;
    if (!options_.header.value_or(!meta_ && guess_header(text_, below, end_, dialect_, missing_))) {
      return;
    }
    if (!meta_) {
      schema_.kind = ObjectKind::frame;
      schema_.columns.reserve(schema_.cols);
      for_each_field([&](const Field& field) {
        if (!is_utf8(field.text)) {
          throw Error(
              Errc::unsupported, file_.name(),
              static_cast<std::uint64_t>(field.text.data() - base_),
              "the label " + shown(field.text) + " is not UTF-8; convert the text to UTF-8 first",
              "utf-8");
        }
        schema_.columns.push_back({unquoted(field), ValueType::f64});
      });
      fit_labels(next);
    }
    first_line_ += count_lines(text_, next);
    text_ = next;
  }

  std::string line_text() const { return "line " + std::to_string(first_line_); }

  /// Throws where the first lines are a title or the like.
  void require_no_lines_before() const {
    const LinesBefore found = lines_before_table(text_, end_, dialect_);
    const auto close = [&](std::uint64_t n) {
      return n + 1 == found.fields || n == found.fields + 1;
    };
    // Labels may be one more or one less than fields of a row.
    if (found.rows == 0 || (found.rows == 1 && close(schema_.cols))) return;
    if (found.fields == schema_.cols) return;  // a line between them is wrong, and will be told
    fail_lines_before(count_lines(text_, found.table), found.fields);
  }

  [[noreturn]] void fail_lines_before(std::uint64_t lines, std::uint64_t fields) const {
    fail(text_, line_text() + " has " + counted(schema_.cols, "field") + " where those from line " +
                    std::to_string(first_line_ + lines) + " on have " + std::to_string(fields) +
                    "; the option skip (" + std::to_string(first_line_ + lines - 1) +
                    ") leaves out what is before them");
  }

  /// True when the line before the first row, which starts at `p`, is a title rather than labels of
  /// all columns but the names of rows: those of R have no blanks, or quotes.
  bool is_title(const char* p) const {
    if (options_.header) return false;  // the caller says that these are labels
    const std::string_view line(text_, static_cast<std::size_t>(p - text_));
    const bool phrase =
        schema_.cols == 1 && line.front() != '"' &&
        trimmed(line.substr(0, line.find_first_of("\r\n"))).find(' ') != std::string_view::npos;
    return phrase || are_labels(p, end_, dialect_, missing_);
  }

  /// Where rows from `p` on have one field more than there are labels, or one less.
  void fit_labels(const char* p) {
    const FirstRows rows = look_at_rows(p, end_, dialect_);
    if (rows.fields == schema_.cols + 1 && rows.end_empty) {
      trailing_delimiter_ = true;
      return;
    }
    if (rows.fields == schema_.cols + 1) {
      if (is_title(p)) fail_lines_before(count_lines(text_, p), rows.fields);
      schema_.columns.insert(schema_.columns.begin(), {"", ValueType::f64});
      ++schema_.cols;
      first_note_ =
          "the rows have one field more than there are labels: the first, which R writes "
          "for names of rows, is a column without a label";
    }
    while (rows.fields > 0 && rows.fields < schema_.cols && schema_.columns.back().label.empty()) {
      schema_.columns.pop_back();
      --schema_.cols;
    }
  }

  /// Calls `take` with each field of the first line; gives the start of the second.
  template <class F>
  const char* for_each_field(const F& take) const {
    std::uint64_t col = 0;
    for (const char* p = text_;; ++p, ++col) {
      const std::optional<Field> field = find_field(p, end_, dialect_.delimiter);
      if (!field) {
        fail_field({file_.name(), static_cast<std::uint64_t>(p - base_), first_line_, col, {}}, p,
                   end_, dialect_, missing_, ValueType::f64);
      }
      take(*field);
      p = field->end;
      if (p == end_ || *p != dialect_.delimiter) return past_line_end(p, end_);
    }
  }

  /// Types that the .meta file gives, and over them those that the caller gives.
  void take_types() {
    given_.resize(schema_.cols);
    for (std::size_t c = 0; meta_ && c < given_.size(); ++c) given_[c] = schema_.type_of(c);
    const std::vector<bool> named = named_columns();
    for (const auto& [key, type] : options_.types) {
      for_columns(key, named, [&, given = type](std::uint64_t col) { given_[col] = given; });
    }
    wanted_.resize(schema_.cols);
    for (std::size_t c = 0; c < schema_.columns.size(); ++c) {
      if (!schema_.columns[c].meaning.has_words()) continue;
      wanted_[c] = schema_.columns[c].meaning.kind;  // as the .meta file says; words are read below
      given_[c].reset();
      schema_.columns[c] = {schema_.columns[c].label, ValueType::f64};
    }
    for (const auto& [key, meaning] : options_.meanings) {
      for_columns(key, named, [&, wanted = meaning](std::uint64_t col) {
        if (wanted != MeaningKind::number) wanted_[col] = wanted;
      });
    }
  }

  /// True for the key of the columns that no other key names.
  bool is_rest(const std::string& key) const {
    return key == "*" && std::none_of(schema_.columns.begin(), schema_.columns.end(),
                                      [](const Column& column) { return column.label == "*"; });
  }

  std::vector<bool> named_columns() const {
    std::vector<bool> named(schema_.cols);
    const auto add = [&](const auto& choices) {
      for (const auto& choice : choices) {
        if (!is_rest(choice.first)) named[column_of(choice.first)] = true;
      }
    };
    add(options_.types);
    add(options_.meanings);
    return named;
  }

  template <class F>
  void for_columns(const std::string& key, const std::vector<bool>& named, const F& take) const {
    if (!is_rest(key)) return take(column_of(key));
    for (std::uint64_t col = 0; col < schema_.cols; ++col) {
      if (!named[col]) take(col);
    }
  }

  /// The column of that label or, failing that, of that number.
  std::uint64_t column_of(const std::string& key) const {
    std::uint64_t col = 0;
    while (col < schema_.columns.size() && schema_.columns[col].label != key) ++col;
    if (col < schema_.columns.size()) return col;
    const auto number = find_number<std::uint64_t>(key);
    if (number && *number < schema_.cols) return *number;
    throw Error(Errc::invalid_argument, file_.name(), std::nullopt,
                "there is no column " + shown(key) +
                    " to give a type to: use a label or a number below " +
                    std::to_string(schema_.cols));
  }

  const ByteSource& file_;
  const Options options_;
  const std::optional<std::uint64_t> first_rows_;
  texts::Import& import_;
  const MissingWords missing_;
  const unsigned threads_;
  const char* const base_;
  const char* end_;
  const char* text_;  // what is read next
  std::optional<DaphneMeta> meta_;
  Schema schema_;
  std::vector<std::optional<ValueType>> given_;  // type of each column, where it is given
  WantedMeanings wanted_;                        // and its meaning
  Dialect dialect_;
  bool trailing_delimiter_ = false;  // each row ends in one
  std::string first_note_;           // about the labels
  std::uint64_t first_line_ = 1;
};

}  // namespace

void parse_csv(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
               texts::Import& import) {
  Parser(*file, options, import).parse();
}

}  // namespace dapple::detail::csv
