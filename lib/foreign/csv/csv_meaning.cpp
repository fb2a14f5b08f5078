#include "lib/foreign/csv/csv_meaning.h"

#include <algorithm>
#include <bit>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::csv {

namespace {

/// Words that appear this often on average make a category, others a text.
constexpr std::uint64_t kRepeats = 2;

bool has_doubled_quotes(const Field& field) noexcept {
  return field.quoted && field.text.find('"') != field.text.npos;
}

/// The field's text. Most fields need no copy.
std::string_view word_of(const Field& field, std::string& scratch) {
  if (!has_doubled_quotes(field)) return field.text;
  scratch = unquoted(field);
  return scratch;
}

/// Surely all units can express it.
bool is_near(const TimePoint& time) noexcept {
  constexpr std::int64_t kSoon = 9'000'000'000;  // seconds around 1970
  return time.seconds > -kSoon && time.seconds < kSoon;
}

/// The finest unit in which the time has room.
TimeUnit finest_of(const TimePoint& time) noexcept {
  TimeUnit unit = TimeUnit::nanosecond;
  while (unit != TimeUnit::day && !is_near(time) && !ticks_of(time, unit)) {
    unit = static_cast<TimeUnit>(static_cast<std::uint8_t>(unit) - 1);
  }
  return unit;
}

}  // namespace

std::optional<std::uint64_t> truth_of(std::string_view text) noexcept {
  constexpr std::uint32_t kLower = 0x20202020, kTrue = 0x65757274, kFals = 0x736c6166;
  const std::size_t n = text.size();
  if (n != 4 && n != 5) return std::nullopt;
  // Without a branch on the value, which no processor could foresee.
  const std::uint32_t four =
      load_le<std::uint32_t>(reinterpret_cast<const std::byte*>(text.data())) | kLower;
  const unsigned truth = four == kTrue ? 1 : 0, falsity = four == kFals ? 1 : 0;
  const unsigned last = (text.back() | 0x20) == 'e' ? 1 : 0;
  if (((truth & (n == 4)) | (falsity & (n == 5) & last)) == 0) return std::nullopt;
  return truth;
}

ValueType stored_type(const Meaning& meaning) noexcept {
  if (meaning.has_words()) return code_type(meaning.words->size());
  return meaning.has_time() ? ValueType::i64 : ValueType::u8;
}

ColumnGuess::ColumnGuess(std::optional<MeaningKind> wanted, const char* end, TimeUnit unit)
    : wanted_(wanted),
      boolean_(!wanted || *wanted == MeaningKind::boolean),
      time_(!wanted || *wanted == MeaningKind::timestamp),
      duration_(wanted && *wanted == MeaningKind::duration),
      unit_(unit),
      recent_(end) {}

void ColumnGuess::expect_words() noexcept {
  if (!wanted_) boolean_ = time_ = false;
}

std::size_t ColumnGuess::see(const FieldColumn& fields, const MissingWords& missing,
                             ColumnCells& cells) {
  for (std::size_t i = 0; i < fields.n; ++i) {
    std::size_t usual = 0;
    if (has_words()) {
      usual = recent_.find(fields.after(i), cells.room());
      values_ += usual - std::count(cells.room(), cells.room() + usual, 0);
    } else if (missing.more().empty() && (boolean_ ? !time_ : time_ && values_ > 0)) {
      usual = boolean_ ? see_truths(fields.after(i), cells.room())
                       : see_times(fields.after(i), cells.room());
      values_ += usual;
    }
    cells.took(usual, false);
    i += usual;
    if (i < fields.n && !see_other(fields[i], missing, cells)) return i;
  }
  return fields.n;
}

/// Takes truth values without blanks around them, up to another field; returns how many.
std::size_t ColumnGuess::see_truths(const FieldColumn& fields, std::uint64_t* cells) noexcept {
  std::size_t i = 0;
  for (; i < fields.n; ++i) {
    const auto truth = truth_of(fields[i].text);
    if (!truth) break;
    cells[i] = *truth;
  }
  return i;
}

/// The same of times that change nothing of what is known. REQUIRES that there was one.
std::size_t ColumnGuess::see_times(const FieldColumn& fields, std::uint64_t* cells) const noexcept {
  std::size_t i = 0;
  for (; i < fields.n; ++i) {
    const auto time = read_far_time(fields[i].text);
    if (!time || time->has_zone != zoned_ || unit_of(*time) > unit_ || !is_near(*time)) break;
    cells[i] = std::bit_cast<std::uint64_t>(ticks_of(*time, unit_).value_or(0));
  }
  return i;
}

/// REQUIRES that it is none of the recent words.
bool ColumnGuess::see_other(const Field& field, const MissingWords& missing, ColumnCells& cells) {
  const bool unsure = !has_words() && missing.may_be_missing(field);
  if (unsure || missing.has(field)) {
    (unsure ? unsure_ : missing_) += 1;
    if (has_words()) recent_.put(field, 0);
    cells.put_missing();
    return true;
  }
  ++values_;
  if (!has_words()) {
    const std::uint64_t bits = see_value(trimmed(field.text));
    if (!has_words()) {
      cells.put(bits);
      return true;
    }
    if (wanted_) return false;
    settle();
  }
  collect(field, cells);
  return true;
}

/// A word. In a large table, it waits until its place has been loaded.
void ColumnGuess::collect(const Field& field, ColumnCells& cells) {
  const bool doubled = has_doubled_quotes(field);
  if (doubled || words_->size() < kLargeTable) {
    if (doubled) add_pending(cells);
    const std::uint32_t code = words_->add(word_of(field, scratch_));
    recent_.put(field, code);
    cells.put(code);
    return;
  }
  const std::uint32_t tag = word_tag(field.text);
  words_->prefetch(tag);
  pending_.push_back({field, tag, cells.size()});
  cells.put(0);
  if (pending_.size() == kPending) add_pending(cells);
}

void ColumnGuess::add_pending(ColumnCells& cells) {
  for (const Pending& word : pending_) {
    const std::uint32_t code = words_->add(word.field.text, word.tag);
    recent_.put(word.field, code);
    cells.set(word.cell, code);
  }
  pending_.clear();
}

void ColumnGuess::skip(std::uint64_t n, std::uint64_t unsure, bool missing) noexcept {
  missing_ += missing ? 1 : 0;
  values_ += n;
  unsure_ += unsure;
  if (n > 0) boolean_ = time_ = duration_ = false;
  settle();
}

/// In a column of words, fields that may have been missing are words.
void ColumnGuess::settle() noexcept {
  if (!has_words()) return;
  values_ += unsure_;
  unsure_ = 0;
}

void ColumnGuess::narrow(const ColumnGuess& later) noexcept {
  const bool first = values_ == 0;
  boolean_ = boolean_ && later.boolean_;
  time_ = time_ && later.time_ && (first || zoned_ == later.zoned_);
  const auto in_days = [](const ColumnGuess& guess) { return guess.unit_ == TimeUnit::day; };
  duration_ = duration_ && later.duration_ && (first || in_days(*this) == in_days(later));
  zoned_ = later.zoned_;
  unit_ = std::max(unit_, later.unit_);
  finest_ = std::min(finest_, later.finest_);
}

bool ColumnGuess::agrees(const ColumnGuess& later) const noexcept {
  if (!wanted_ || has_words() || later.values_ == 0) return true;
  ColumnGuess both = *this;
  both.narrow(later);
  return !both.has_words();
}

std::vector<std::uint32_t> ColumnGuess::merge(const ColumnGuess& later) {
  missing_ += later.missing_;
  unsure_ += later.unsure_;
  if (later.values_ > 0) {
    narrow(later);
    values_ += later.values_;
  }
  settle();
  std::vector<std::uint32_t> codes(1, 0);
  words_->add(*later.words_, &codes);
  return codes;
}

Meaning ColumnGuess::finish() const {
  Meaning meaning;
  if (boolean_) {
    meaning.kind = MeaningKind::boolean;
  } else if (is_time() || duration_) {
    meaning.kind = duration_ ? MeaningKind::duration : MeaningKind::timestamp;
    meaning.unit = unit_;
    if (!duration_ && zoned_) meaning.zone = "UTC";
  } else {
    const bool repeat = words_->size() * kRepeats <= values_;
    meaning.kind = wanted_.value_or(repeat ? MeaningKind::category : MeaningKind::text);
    meaning.words = words_;
  }
  if (missing_ + unsure_ > 0) meaning.missing = missing_mark(meaning.kind);
  return meaning;
}

/// The cell of a field of truth values or times, as far as it is one of them.
std::uint64_t ColumnGuess::see_value(std::string_view text) noexcept {
  std::uint64_t bits = 0;
  if (boolean_) {
    const auto truth = truth_of(text);
    boolean_ = truth.has_value();
    bits = truth.value_or(0);
  }
  if (time_) bits |= see_time(text);
  if (duration_) bits |= see_duration(text);
  return bits;
}

std::uint64_t ColumnGuess::see_time(std::string_view text) noexcept {
  const auto time = read_far_time(text);
  time_ = time && (values_ == 1 || time->has_zone == zoned_);
  if (!time_) return 0;
  zoned_ = time->has_zone;
  unit_ = std::max(unit_, unit_of(*time));
  finest_ = std::min(finest_, finest_of(*time));
  return std::bit_cast<std::uint64_t>(ticks_of(*time, unit_).value_or(0));
}

std::uint64_t ColumnGuess::see_duration(std::string_view text) noexcept {
  for (;;) {
    if (const auto ticks = read_duration(text, unit_)) return std::bit_cast<std::uint64_t>(*ticks);
    // Days are no multiple of a finer unit here: their texts have different forms.
    duration_ = unit_ != TimeUnit::nanosecond && (unit_ != TimeUnit::day || values_ == 1);
    if (!duration_) return 0;
    unit_ = static_cast<TimeUnit>(static_cast<std::uint8_t>(unit_) + 1);
  }
}

}  // namespace dapple::detail::csv
