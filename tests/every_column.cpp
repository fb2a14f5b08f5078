#include "tests/every_column.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "lib/object/dictionary.h"

namespace dapple::test {

namespace {

std::shared_ptr<const Dictionary> word_table(const std::vector<std::string>& words) {
  auto table = std::make_shared<detail::WordTable>();
  for (const std::string& word : words) table->add(word);
  return table;
}

}  // namespace

Column column_meaning(MeaningKind kind, ValueType type, const std::string& label) {
  Column column{label, type};
  column.meaning.kind = kind;
  return column;
}

std::vector<Column> every_column() {
  std::vector<Column> columns;
  for (const ValueType type : kValueTypes) columns.push_back({std::string(name(type)), type});
  columns.push_back({"i32?", ValueType::i32});
  columns.back().meaning.missing = 3;
  columns.push_back({"f64?", ValueType::f64});
  columns.back().meaning.missing = kMissingF64;
  columns.push_back({"f32?", ValueType::f32});
  columns.back().meaning.missing = kMissingF32;
  columns.push_back(column_meaning(MeaningKind::boolean, ValueType::u8, "boolean"));
  columns.back().meaning.missing = kMissingBoolean;
  for (const TimeUnit unit : {TimeUnit::day, TimeUnit::second, TimeUnit::millisecond,
                              TimeUnit::microsecond, TimeUnit::nanosecond}) {
    for (const auto kind : {MeaningKind::timestamp, MeaningKind::duration}) {
      Column column = column_meaning(kind, ValueType::i64, std::string(name(kind)));
      column.meaning.unit = unit;
      column.meaning.missing = kMissingTick;
      columns.push_back(column);
    }
  }
  const std::vector<std::string> words = {"medium", "",    "large",
                                          "Small",  "a,b", "\xc3\xa9t\xc3\xa9"};
  for (const char* label : {"category", "ordered", "text"}) {
    const bool text = std::string_view(label) == "text";
    Column column = column_meaning(text ? MeaningKind::text : MeaningKind::category,
                                   text ? ValueType::u32 : ValueType::u8, label);
    column.meaning.ordered = std::string_view(label) == "ordered";
    column.meaning.missing = kMissingCode;
    column.meaning.words = word_table(words);
    columns.push_back(column);
  }
  return columns;
}

std::uint64_t random_stored(const Column& column, Rng& rng) {
  const Meaning& meaning = column.meaning;
  if (meaning.missing && rng.chance(15)) return *meaning.missing;
  if (meaning.has_words()) return 1 + rng.below(meaning.words->size());
  if (meaning.kind == MeaningKind::boolean) return rng.below(2);
  if (meaning.has_time()) {
    constexpr std::int64_t kNanos = 1'000'000'000;
    const std::int64_t per_day[] = {1, 86400, 86400 * std::int64_t{1000}, 86400'000'000,
                                    86400 * kNanos};
    // Half of them whole seconds around 1970, or days where the unit is one.
    const std::int64_t day = per_day[static_cast<std::size_t>(meaning.unit)];
    const std::int64_t second = std::max<std::int64_t>(1, day / 86400);
    const auto some = static_cast<std::int64_t>(rng.below(9)) - 4;
    const auto part = rng.chance(50) ? std::int64_t{0} : static_cast<std::int64_t>(rng.below(3));
    return static_cast<std::uint64_t>((rng.chance(50) ? day : second) * some + part);
  }
  return visit_type(column.value_type, [&](auto tag) -> std::uint64_t {
    using T = decltype(tag);
    if (std::is_floating_point_v<T> && rng.chance(10)) {
      return column.value_type == ValueType::f32 ? 0x7fc00000U : 0x7ff8000000000000U;
    }
    const auto least = std::is_signed_v<T> ? T{3} : T{0};
    const T value = static_cast<T>(static_cast<T>(rng.below(9)) - least);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  });
}

}  // namespace dapple::test
