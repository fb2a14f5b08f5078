#include <algorithm>
#include <charconv>
#include <limits>

#include "lib/foreign/csv/csv.h"
#include "lib/foreign/csv/csv_dialect.h"
#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/csv/csv_state.h"
#include "lib/foreign/daphne_meta.h"
#include "lib/text.h"

namespace dapple::detail::csv {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The value type of integers and fractions as they were seen.
ValueType type_of_seen(std::uint8_t seen) noexcept {
  if ((seen & flag::fraction) != 0) return ValueType::f64;
  if ((seen & flag::above_i64) == 0) return ValueType::i64;
  return (seen & flag::negative) == 0 ? ValueType::u64 : ValueType::f64;
}

class Opener {
 public:
  Opener(std::shared_ptr<MappedFile> file, const CsvOptions& options)
      : file_(std::move(file)),
        options_(options),
        base_(file_->size() > 0 ? reinterpret_cast<const char*>(file_->map()) : ""),
        end_(base_ + file_->size()),
        text_(std::string_view(base_, file_->size()).starts_with(kByteOrderMark)
                  ? base_ + kByteOrderMark.size()
                  : base_),
        meta_(find_daphne_meta(file_->name())) {}

  std::shared_ptr<const Store> open() {
    if (std::all_of(text_, end_, [](char c) { return c == '\n' || c == '\r'; }))
      return open_empty();
    delimiter_ = options_.delimiter.value_or(
        guess_delimiter({text_, static_cast<std::size_t>(end_ - text_)}));
    read_first_line();
    given_.resize(cols_);
    take_meta_types();
    take_option_types();
    const ScanInput input{file_->name(),           base_,  end_,   delimiter_,
                          options_.missing_as_nan, given_, labels_};
    const Rows rows = scan_rows(input, text_, first_line_);
    if (meta_ && meta_->rows != rows.rows) fail_meta_rows(rows.end, rows.rows);
    Schema schema = make_schema(rows);
    BlockIndex index = make_index(rows, schema);
    return make_store(std::move(schema), std::move(index));
  }

 private:
  std::shared_ptr<const Store> make_store(Schema schema, BlockIndex index) {
    auto state = std::make_unique<State>();
    state->delimiter = delimiter_;
    state->missing_as_nan = options_.missing_as_nan;
    state->first_line = first_line_;
    return std::make_shared<const Store>(file_, std::move(schema), std::move(index), kCodec,
                                         std::move(state));
  }

  /// A file of nothing but line ends: without rows, as its .meta file must say.
  std::shared_ptr<const Store> open_empty() {
    if (!meta_) {
      throw Error(Errc::corrupt, file_->name(), 0,
                  "expected a line of labels or values, got an empty file");
    }
    if (meta_->rows != 0) fail_meta_rows(file_->size(), 0);
    Schema schema;
    schema.kind = meta_->kind;
    schema.cols = meta_->cols;
    schema.value_type = meta_->value_type;
    schema.columns = meta_->columns;
    return make_store(std::move(schema),
                      BlockIndex::from_entries({}, 0, meta_->cols, file_->name()));
  }

  [[noreturn]] void fail_meta_rows(std::uint64_t offset, std::uint64_t rows) const {
    throw Error(Errc::corrupt, file_->name(), offset,
                "expected " + std::to_string(meta_->rows) + " rows as the .meta file says, got " +
                    std::to_string(rows));
  }

  /// Tells labels and number of columns; `text_` is the first row afterwards.
  void read_first_line() {
    const char* next = nullptr;
    const std::vector<Field> first =
        split_line(next, text_, end_, delimiter_, file_->name(), base_, 1);
    cols_ = first.size();
    if (meta_ && meta_->cols != cols_) {
      throw Error(Errc::corrupt, file_->name(), offset(text_),
                  "expected " + fields_text(meta_->cols) +
                      " in line 1 as the .meta file says, got " + std::to_string(cols_));
    }
    if (options_.header.value_or(!meta_ && guess_header(first, next))) {
      if (at_line_end(text_, end_)) {
        throw Error(Errc::corrupt, file_->name(), offset(text_),
                    "expected labels in line 1, got a blank line");
      }
      for (const Field& field : first) labels_.push_back(unquoted(field));
      first_line_ += static_cast<std::uint64_t>(std::count(text_, next, '\n'));
      text_ = next;
    }
    if (!meta_) return;
    labels_.clear();
    for (const Column& column : meta_->columns) labels_.push_back(column.label);
  }

  std::uint64_t offset(const char* p) const { return static_cast<std::uint64_t>(p - base_); }

  bool guess_header(const std::vector<Field>& first, const char* p) const {
    if (p == end_ || at_line_end(p, end_)) return csv::guess_header(first, {});
    const char* ignored = nullptr;
    const std::uint64_t line = 1 + static_cast<std::uint64_t>(std::count(text_, p, '\n'));
    return csv::guess_header(first,
                             split_line(ignored, p, end_, delimiter_, file_->name(), base_, line));
  }

  void take_meta_types() {
    if (!meta_) return;
    for (std::size_t c = 0; c < cols_; ++c) {
      given_[c] =
          meta_->kind == ObjectKind::matrix ? meta_->value_type : meta_->columns[c].value_type;
    }
  }

  void take_option_types() {
    for (const auto& [key, type] : options_.types) {
      const auto label = std::find(labels_.begin(), labels_.end(), key);
      std::uint64_t col = static_cast<std::uint64_t>(label - labels_.begin());
      if (label == labels_.end()) {
        const auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), col);
        if (error != std::errc() || stop != key.data() + key.size() || col >= cols_) {
          throw Error(Errc::invalid_argument, file_->name(), std::nullopt,
                      "expected a column's label or its number below " + std::to_string(cols_) +
                          " to give a type to, got " + shown(key));
        }
      }
      given_[col] = type;
    }
  }

  Schema make_schema(const Rows& rows) const {
    Schema schema;
    schema.rows = rows.rows;
    schema.cols = cols_;
    if (labels_.empty()) {
      schema.value_type = matrix_type(rows);
      return schema;
    }
    schema.kind = ObjectKind::frame;
    for (std::size_t c = 0; c < cols_; ++c) {
      const ValueType seen = rows.rows == 0 ? ValueType::f64 : type_of_seen(rows.seen[c]);
      schema.columns.push_back({labels_[c], given_[c].value_or(seen)});
    }
    return schema;
  }

  /// The one type that holds all columns: i64, u64 or f64, or the one that all are given.
  ValueType matrix_type(const Rows& rows) const {
    if (meta_ && meta_->kind == ObjectKind::matrix && options_.types.empty()) {
      return meta_->value_type;
    }
    std::uint8_t seen = 0;
    std::vector<ValueType> types;
    for (std::size_t c = 0; c < cols_; ++c) {
      if (given_[c]) {
        types.push_back(*given_[c]);
      } else {
        seen |= rows.seen[c];
      }
    }
    if (types.size() < cols_) types.push_back(rows.rows == 0 ? ValueType::f64 : type_of_seen(seen));
    std::vector<ValueType> candidates = {ValueType::i64, ValueType::u64, ValueType::f64};
    candidates.insert(candidates.begin(), types.begin(), types.end());
    for (ValueType wide : candidates) {
      const auto held = [&](ValueType type) { return holds_all(wide, type); };
      if (!std::all_of(types.begin(), types.end(), held)) continue;
      if (is_float(wide)) require_exact_integers(rows);
      return wide;
    }
    require_exact_integers(rows);
    return ValueType::f64;
  }

  /// A matrix of floats must hold its columns of integers to the last digit.
  void require_exact_integers(const Rows& rows) const {
    for (std::size_t c = 0; c < cols_; ++c) {
      const bool asked = given_[c] && is_float(*given_[c]);
      if (asked || (rows.seen[c] & flag::fraction) != 0 || (rows.seen[c] & flag::wide) == 0) {
        continue;
      }
      throw Error(
          Errc::type_mismatch, file_->name(), std::nullopt,
          "expected columns that one value type holds, got integers beyond 2^53 in column " +
              std::to_string(c + 1) +
              " beside columns that are not integers; a header line makes it a frame, "
              "and the type f64 for that column rounds it");
    }
  }

  BlockIndex make_index(const Rows& rows, const Schema& schema) const {
    EntryTable entries;
    if (cols_ > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(Errc::unsupported, file_->name(), 0,
                  "expected at most 4294967295 columns, got " + std::to_string(cols_));
    }
    entries.reserve(rows.strips.size());
    const ValueType type = strip_type(schema);
    for (std::size_t i = 0; i < rows.strips.size(); ++i) {
      const bool last = i + 1 == rows.strips.size();
      const Strip here = rows.strips[i];
      const Strip next = last ? Strip{rows.rows, rows.end} : rows.strips[i + 1];
      Entry entry;
      entry.pos = {here.row, 0};
      entry.rows = static_cast<std::uint32_t>(next.row - here.row);
      entry.cols = static_cast<std::uint32_t>(cols_);
      entry.offset = here.offset;
      entry.bytes = next.offset - here.offset;
      entry.stored = std::uint64_t{entry.rows} * entry.cols;
      entry.kind = BlockKind::dense;
      entry.value_type = type;
      entries.push_back(entry);
    }
    return BlockIndex::from_entries(std::move(entries), rows.rows, cols_, file_->name());
  }

  /// A strip spans columns of several types, its entry names one: the widest.
  static ValueType strip_type(const Schema& schema) {
    if (schema.kind == ObjectKind::matrix) return schema.value_type;
    ValueType widest = schema.columns.front().value_type;
    for (const Column& column : schema.columns) {
      const ValueType type = column.value_type;
      if (holds_all(widest, type)) continue;
      widest = holds_all(type, widest) ? type : ValueType::f64;
    }
    return widest;
  }

  std::shared_ptr<MappedFile> file_;
  const CsvOptions& options_;
  const char* const base_;
  const char* const end_;
  const char* text_;
  std::optional<DaphneMeta> meta_;
  char delimiter_ = ',';
  std::uint64_t first_line_ = 1;
  std::uint64_t cols_ = 0;
  std::vector<std::string> labels_;
  std::vector<std::optional<ValueType>> given_;
};

}  // namespace

Match recognise_csv(const Probe& probe) {
  return probe.extension == ".csv" || probe.extension == ".tsv" ? Match::by_name : Match::no;
}

std::shared_ptr<const Store> open_csv(std::shared_ptr<MappedFile> file,
                                      const OpenOptions& options) {
  return Opener(std::move(file), options.csv).open();
}

}  // namespace dapple::detail::csv
