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

/// The field's text. Most fields need no copy.
std::string_view word_of(const Field& field, std::string& scratch) {
  if (!field.doubled) return field.text;
  scratch = unquoted(field);
  return scratch;
}

/// The bits of the number that is all of the text.
std::optional<std::uint64_t> bits_of(std::string_view text, ValueType type) noexcept {
  const char* const end = text.data() + text.size();
  std::byte cell[8] = {};
  const NumberText number = read_number(text.data(), end, type, cell);
  if (number.error != NumberError::none || number.end != end) return std::nullopt;
  return load_bits(type, cell);
}

}  // namespace

std::optional<std::uint64_t> truth_of(std::string_view text) noexcept {
  constexpr std::uint32_t kLower = 0x20202020, kTrue = 0x65757274, kFals = 0x736c6166;
  if (text.size() != 4 && text.size() != 5) return std::nullopt;
  const auto four = load_le<std::uint32_t>(reinterpret_cast<const std::byte*>(text.data()));
  if (text.size() == 4)
    return (four | kLower) == kTrue ? std::optional<std::uint64_t>(1) : std::nullopt;
  return (four | kLower) == kFals && (text[4] | 0x20) == 'e' ? std::optional<std::uint64_t>(0)
                                                             : std::nullopt;
}

ValueType stored_type(const Meaning& meaning) noexcept {
  if (meaning.has_words()) return code_type(meaning.words->size());
  return meaning.has_time() ? ValueType::i64 : ValueType::u8;
}

ColumnGuess::ColumnGuess(std::optional<MeaningKind> wanted, const char* end)
    : wanted_(wanted),
      boolean_(!wanted || *wanted == MeaningKind::boolean),
      time_(!wanted || *wanted == MeaningKind::timestamp),
      duration_(wanted && *wanted == MeaningKind::duration),
      recent_(end) {}

void ColumnGuess::expect_words() noexcept {
  if (!wanted_) boolean_ = time_ = false;
}

/// REQUIRES that it is none of the recent words.
bool ColumnGuess::see_other(const Field& field, const MissingWords& missing) {
  if (missing.has(field)) {
    missing_ = true;
    return true;
  }
  if (!has_words() && missing.may_be_missing(field)) {
    ++unsure_;
    return true;
  }
  ++values_;
  if (!has_words()) {
    const std::string_view text = trimmed(field.text);
    boolean_ = boolean_ && truth_of(text);
    if (time_) see_time(text);
    if (duration_) see_duration(text);
    if (!has_words()) return true;
    if (wanted_) return false;
    settle();
  }
  if (collected_ + 1 == values_) {
    collect(field);
    recent_.put(field, 0);
    ++collected_;
  }
  return true;
}

void ColumnGuess::collect(const Field& field) {
  if (field.doubled) {
    add_pending();
    words_->add(word_of(field, scratch_));
  } else if (words_->size() < kLargeTable) {
    words_->add(field.text);
  } else {
    const std::uint32_t tag = word_tag(field.text);
    words_->prefetch(tag);
    pending_[waiting_++] = {field.text, tag};
    if (waiting_ == kPending) add_pending();
  }
}

void ColumnGuess::add_pending() const {
  for (std::size_t i = 0; i < waiting_; ++i) words_->add(pending_[i].word, pending_[i].tag);
  waiting_ = 0;
}

void ColumnGuess::skip(std::uint64_t n, std::uint64_t unsure, bool missing) noexcept {
  missing_ = missing_ || missing;
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
  in_nanoseconds_ = in_nanoseconds_ && later.in_nanoseconds_;
}

bool ColumnGuess::agrees(const ColumnGuess& later) const noexcept {
  if (!wanted_ || has_words() || later.values_ == 0) return true;
  ColumnGuess both = *this;
  both.narrow(later);
  return !both.has_words();
}

void ColumnGuess::merge(const ColumnGuess& later) {
  missing_ = missing_ || later.missing_;
  unsure_ += later.unsure_;
  if (later.values_ == 0) return settle();
  narrow(later);
  const bool whole = collected_ == values_ && later.collected_ == later.values_;
  values_ += later.values_;
  collected_ = whole ? values_ : 0;
  settle();
  if (!whole) return;
  add_pending();
  later.add_pending();
  for (std::uint64_t i = 0; i < later.words_->size(); ++i) {
    collect({(*later.words_)[i], nullptr});
  }
  add_pending();
}

bool ColumnGuess::is_complete() const noexcept { return !has_words() || collected_ == values_; }

std::shared_ptr<const FieldReader> ColumnGuess::finish() const {
  add_pending();
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
  if (missing_ || unsure_ > 0) meaning.missing = missing_mark(meaning.kind);
  const ValueType type = stored_type(meaning);
  return std::make_shared<FieldReader>(std::move(meaning), type, has_words() ? words_ : nullptr);
}

void ColumnGuess::see_time(std::string_view text) noexcept {
  const auto time = read_time(text);
  time_ = time && (values_ == 1 || time->has_zone == zoned_);
  if (!time_) return;
  zoned_ = time->has_zone;
  unit_ = std::max(unit_, unit_of(*time));
  constexpr std::int64_t kSoon = 9'000'000'000;  // seconds around 1970 that surely can
  const bool near = time->seconds > -kSoon && time->seconds < kSoon;
  in_nanoseconds_ = in_nanoseconds_ && (near || ticks_of(*time, TimeUnit::nanosecond));
}

void ColumnGuess::see_duration(std::string_view text) noexcept {
  while (!read_duration(text, unit_)) {
    // Days are no multiple of a finer unit here: their texts have different forms.
    duration_ = unit_ != TimeUnit::nanosecond && (unit_ != TimeUnit::day || values_ == 1);
    if (!duration_) return;
    unit_ = static_cast<TimeUnit>(static_cast<std::uint8_t>(unit_) + 1);
  }
}

std::optional<std::uint64_t> FieldReader::read_word(const Field& field, const MissingWords& missing,
                                                    WordMemory& memory) const {
  std::optional<std::uint64_t> bits;
  if (missing.has(field)) {
    bits = meaning_.missing;
  } else {
    std::string scratch;
    bits = words_->find(word_of(field, scratch), memory.next);
  }
  if (bits) memory.recent.put(field, *bits);
  return bits;
}

bool FieldReader::is_mark(const Field& field) const noexcept {
  const auto bits = bits_of(trimmed(field.text), type_);
  return bits && bits == meaning_.missing;
}

std::optional<std::uint64_t> FieldReader::read_value(const Field& field,
                                                     const MissingWords& missing) const {
  if (meaning_.kind == MeaningKind::number) {  // quotes mean nothing here
    const std::string_view text = trimmed(field.text);
    if (missing.has(text)) return meaning_.missing;
    const auto bits = bits_of(text, type_);
    return bits == meaning_.missing ? std::nullopt : bits;
  }
  if (missing.has(field) || missing.may_be_missing(field)) return meaning_.missing;
  const std::string_view text = trimmed(field.text);
  if (meaning_.kind == MeaningKind::boolean) return truth_of(text);
  std::optional<std::int64_t> ticks;
  if (meaning_.kind == MeaningKind::duration) {
    ticks = read_duration(text, meaning_.unit);
  } else if (const auto time = read_time(text); time && time->has_zone != meaning_.zone.empty()) {
    ticks = ticks_of(*time, meaning_.unit);
  }
  return ticks ? std::optional(std::bit_cast<std::uint64_t>(*ticks)) : std::nullopt;
}

}  // namespace dapple::detail::csv
