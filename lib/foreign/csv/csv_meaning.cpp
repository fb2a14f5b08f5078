#include "lib/foreign/csv/csv_meaning.h"

#include <algorithm>
#include <array>
#include <bit>

#include "lib/base/text.h"
#include "lib/base/timestamp.h"

namespace dapple::detail::csv {

namespace {

/// Words that appear this often on average make a category, others a text.
constexpr std::uint64_t kRepeats = 2;

std::optional<std::uint64_t> truth_of(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 2> kWords = {"false", "true"};
  for (std::uint64_t value = 0; value < 2; ++value) {
    const std::string_view word = kWords[value];
    const auto same = [](char a, char b) { return a == (b | 0x20) || a == b; };
    if (std::equal(word.begin(), word.end(), text.begin(), text.end(), same)) return value;
  }
  return std::nullopt;
}

bool is_missing_field(const Field& field) noexcept {
  return !field.quoted && is_missing(trimmed(field.text));
}

/// The field's text. Most fields need no copy.
std::string_view word_of(const Field& field, std::string& scratch) {
  if (!field.quoted || field.text.find('"') == std::string_view::npos) return field.text;
  scratch = unquoted(field);
  return scratch;
}

/// What a column may still be, while its fields are read.
class ColumnGuess {
 public:
  explicit ColumnGuess(std::optional<MeaningKind> wanted)
      : wanted_(wanted),
        boolean_(!wanted || *wanted == MeaningKind::boolean),
        time_(!wanted || *wanted == MeaningKind::timestamp),
        duration_(wanted && *wanted == MeaningKind::duration) {}

  /// False when the field is none that the column must hold.
  bool see(const Field& field) {
    if (is_missing_field(field)) {
      missing_ = true;
      return true;
    }
    ++values_;
    const std::string_view text = trimmed(field.text);
    boolean_ = boolean_ && truth_of(text);
    time_ = time_ && see_time(text);
    duration_ = duration_ && see_duration(text);
    if (boolean_ || time_ || duration_) return true;
    if (wanted_ && *wanted_ != MeaningKind::category && *wanted_ != MeaningKind::text) return false;
    // Fields before this one were truth values or times, and not collected as words.
    if (words_->size() == 0 && values_ > 1 && !collecting_) incomplete_ = true;
    collecting_ = true;
    if (!incomplete_) words_->add(word_of(field, scratch_));
    return true;
  }

  /// What the caller wants, if anything.
  MeaningKind wanted() const noexcept { return wanted_.value_or(MeaningKind::text); }

  /// True when the fields must be seen once more, as words.
  bool restart() {
    if (!incomplete_) return false;
    incomplete_ = false;
    values_ = 0;
    return true;
  }

  std::shared_ptr<const FieldReader> finish(Column& column) {
    Meaning meaning;
    column.value_type = ValueType::i64;
    if (boolean_ && values_ > 0) {
      meaning.kind = MeaningKind::boolean;
      column.value_type = ValueType::u8;
      if (missing_) meaning.missing = kMissingBoolean;
    } else if ((time_ || duration_) && values_ > 0) {
      meaning.kind = time_ ? MeaningKind::timestamp : MeaningKind::duration;
      meaning.unit = unit_;
      if (time_ && zoned_) meaning.zone = "UTC";
      if (missing_) meaning.missing = kMissingTick;
    } else {
      const bool repeat = words_->size() * kRepeats <= values_;
      meaning.kind = wanted_.value_or(repeat ? MeaningKind::category : MeaningKind::text);
      meaning.words = words_;
      column.value_type = code_type(words_->size());
      if (missing_) meaning.missing = kMissingCode;
    }
    column.meaning = std::move(meaning);
    return std::make_shared<FieldReader>(column, words_);
  }

 private:
  bool see_time(std::string_view text) noexcept {
    const auto time = read_time(text);
    if (!time || (values_ > 1 && time->has_zone != zoned_)) return false;
    zoned_ = time->has_zone;
    unit_ = std::max(unit_, unit_of(*time));
    return ticks_of(*time, TimeUnit::nanosecond) || unit_ <= TimeUnit::second;
  }

  bool see_duration(std::string_view text) noexcept {
    while (!read_duration(text, unit_)) {
      if (unit_ == TimeUnit::nanosecond) return false;
      unit_ = static_cast<TimeUnit>(static_cast<std::uint8_t>(unit_) + 1);
    }
    return true;
  }

  std::optional<MeaningKind> wanted_;
  bool boolean_, time_, duration_;  // all fields so far are
  bool missing_ = false, zoned_ = false;
  bool collecting_ = false, incomplete_ = false;
  TimeUnit unit_ = TimeUnit::day;
  std::uint64_t values_ = 0;
  std::shared_ptr<WordTable> words_ = std::make_shared<WordTable>();
  std::string scratch_;
};

/// Passes over all rows once and shows each described column its fields.
class Describer {
 public:
  Describer(const ScanInput& input, const char* first_row, std::uint64_t first_line,
            std::uint64_t rows)
      : in_(input), first_(first_row), first_line_(first_line), rows_(rows) {}

  void pass(const std::vector<std::size_t>& cols, std::vector<ColumnGuess>& guesses) const {
    const char* p = first_;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      std::size_t next = 0;
      for (std::size_t col = 0;; ++col) {
        const std::optional<Field> field = find_field(p, in_.end, in_.delimiter);
        if (!field) fail(p, row, col, "the quote of this field is not closed");
        if (next < cols.size() && cols[next] == col) {
          if (!guesses[next].see(*field)) {
            fail(p, row, col,
                 shown(field->text) + " is not a " + std::string(name(guesses[next].wanted())));
          }
          ++next;
        }
        p = field->end;
        if (p == in_.end || *p != in_.delimiter) break;
        ++p;
      }
      p = past_line_end(p, in_.end);
    }
  }

 private:
  [[noreturn]] void fail(const char* p, std::uint64_t row, std::size_t col,
                         const std::string& what) const {
    std::string_view label;
    if (!in_.columns.empty()) label = in_.columns[col].label;
    fail_at(Errc::unsupported,
            {in_.file, static_cast<std::uint64_t>(p - in_.base), first_line_ + row, col, label},
            what);
  }

  const ScanInput& in_;
  const char* first_;
  std::uint64_t first_line_, rows_;
};

}  // namespace

std::optional<std::uint64_t> FieldReader::read(const Field& field) const {
  const Meaning& meaning = column_.meaning;
  if (is_missing_field(field)) return meaning.missing;
  const std::string_view text = trimmed(field.text);
  switch (meaning.kind) {
    case MeaningKind::boolean:
      return truth_of(text);
    case MeaningKind::timestamp: {
      const auto time = read_time(text);
      if (!time || time->has_zone == meaning.zone.empty()) return std::nullopt;
      const auto ticks = ticks_of(*time, meaning.unit);
      return ticks ? std::optional(std::bit_cast<std::uint64_t>(*ticks)) : std::nullopt;
    }
    case MeaningKind::duration: {
      const auto ticks = read_duration(text, meaning.unit);
      return ticks ? std::optional(std::bit_cast<std::uint64_t>(*ticks)) : std::nullopt;
    }
    case MeaningKind::category:
    case MeaningKind::text: {
      std::string scratch;
      const auto code = words_->find(word_of(field, scratch));
      return code ? std::optional<std::uint64_t>(*code) : std::nullopt;
    }
    case MeaningKind::number:
      break;
  }
  return std::nullopt;
}

std::vector<std::shared_ptr<const FieldReader>> describe_columns(
    const ScanInput& input, const char* first_row, std::uint64_t first_line, const Rows& rows,
    const WantedMeanings& wanted, std::vector<Column>& columns) {
  std::vector<std::shared_ptr<const FieldReader>> readers(columns.size());
  std::vector<std::size_t> cols;
  std::vector<ColumnGuess> guesses;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool other = (rows.seen[c] & flag::other) != 0 && !input.given[c];
    if (!wanted[c] && !other) continue;
    cols.push_back(c);
    guesses.emplace_back(wanted[c]);
  }
  const Describer describer(input, first_row, first_line, rows.rows);
  if (!cols.empty()) describer.pass(cols, guesses);
  std::vector<std::size_t> again;
  std::vector<ColumnGuess> restarted;
  for (std::size_t k = 0; k < cols.size(); ++k) {
    if (guesses[k].restart()) {
      again.push_back(cols[k]);
      restarted.push_back(std::move(guesses[k]));
    } else {
      readers[cols[k]] = guesses[k].finish(columns[cols[k]]);
    }
  }
  if (!again.empty()) describer.pass(again, restarted);
  for (std::size_t k = 0; k < again.size(); ++k) {
    readers[again[k]] = restarted[k].finish(columns[again[k]]);
  }
  return readers;
}

}  // namespace dapple::detail::csv
