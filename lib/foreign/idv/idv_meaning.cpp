#include "lib/foreign/idv/idv_meaning.h"

#include <limits>
#include <string>
#include <utility>

#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {

namespace {

constexpr std::int64_t kMissingTicks = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kTicksPerSecond = 10'000'000;

/// Calls f(first row, rows, bytes) for every block of a column.
template <class F>
void for_each_block(const ByteSource& file, const Header& header, const TocColumn& column,
                    const F& f) {
  const std::uint64_t count = header.rows == 0 ? 0 : block_count(header.rows, column.block_rows);
  for (std::uint64_t number = 0; number < count; ++number) {
    const BlockPlace place = find_place(file, header, column, number);
    f(number * column.block_rows, rows_of_block(header, column, number),
      read_block(file, column.compression, place));
  }
}

/// True when the smallest tick is a missing time. Among today's time spans it is the longest one.
bool marks_missing(const Header& header, const ItemType& item) {
  const bool old = header.version < kLastVersion || item.load_name.starts_with("Dv");
  return old || item.title != "TimeSpan";
}

struct Times {
  std::optional<TimeUnit> unit;  // that holds all of them; nothing when none does
  bool missing = false;          // some are
};

Times look_at_times(const ByteSource& file, const Header& header, const TocColumn& column,
                    std::uint32_t part, bool since_1970) {
  const TickScale nanoseconds = scale_of(TimeUnit::nanosecond, since_1970);
  const TickScale microseconds = scale_of(TimeUnit::microsecond, since_1970);
  const bool marks = marks_missing(header, *column.codec.item);
  bool fit_micro = true, fit_nano = true, missing = false;
  try {
    for_each_block(file, header, column,
                   [&](std::uint64_t, std::uint64_t rows, const BlockBytes& block) {
                     const ItemRun items(block.reader(), *column.codec.item, rows);
                     for (std::uint64_t i = 0; i < rows; ++i) {
                       const auto ticks = static_cast<std::int64_t>(items.bits(part, i));
                       const bool least = ticks == kMissingTicks;
                       missing = missing || (least && marks);
                       const bool fits = !least || marks;
                       fit_micro = fit_micro && fits && microseconds.to_column(ticks).has_value();
                       fit_nano = fit_nano && fits && nanoseconds.to_column(ticks).has_value();
                     }
                   });
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
    return {};  // the error is that of reading the damaged block
  }
  if (fit_micro) return {TimeUnit::microsecond, missing};
  return {fit_nano ? std::optional(TimeUnit::nanosecond) : std::nullopt, missing};
}

/// The words of a column of texts.
class Texts final : public LazyWords {
 public:
  Texts(std::shared_ptr<ByteSource> file, const Header& header, TocColumn column)
      : file_(std::move(file)), header_(header), column_(std::move(column)) {}

 private:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override {
    std::string text;
    const auto read = [&](std::uint64_t, std::uint64_t rows, const BlockBytes& block) {
      ByteReader in = block.reader();
      const TextRun texts(in, rows);
      codes.reserve(codes.size() + rows);
      for (std::uint64_t i = 0; i < rows; ++i) {
        text.clear();
        texts.append(i, text);
        codes.push_back(texts.missing(i) ? static_cast<std::uint32_t>(kMissingCode)
                                         : words.add(text));
      }
    };
    watched(*file_, [&] { for_each_block(*file_, header_, column_, read); });
  }

  std::shared_ptr<ByteSource> file_;
  Header header_;
  TocColumn column_;
};

/// Code k is value k - 1, and 0 is missing, as in our own dictionaries.
Meaning meaning_of_key(const std::shared_ptr<ByteSource>& file, const TocColumn& column,
                       const std::vector<MetadataEntry>& metadata) {
  Meaning meaning;
  meaning.missing = kMissingCode;
  if (const MetadataEntry* const values = find_key_values(column, metadata)) {
    meaning.kind = MeaningKind::category;
    meaning.words = late_dictionary(values->codec.size, file->name(), [file, entry = *values] {
      return watched(*file, [&] { return listed_dictionary(metadata_items(*file, entry)); });
    });
  }
  return meaning;
}

}  // namespace

std::optional<std::int64_t> TickScale::to_column(std::int64_t ticks) const noexcept {
  if (ticks == kMissingTicks) return ticks;
  std::int64_t value = 0;
  if (__builtin_sub_overflow(ticks, epoch, &value) ||
      __builtin_mul_overflow(value, times, &value) || value % over != 0) {
    return std::nullopt;
  }
  return value / over;
}

std::optional<std::int64_t> TickScale::to_file(std::int64_t value) const noexcept {
  if (value == kMissingTicks) return value;
  if (__builtin_mul_overflow(value, over, &value) || value % times != 0 ||
      __builtin_add_overflow(value / times, epoch, &value)) {
    return std::nullopt;
  }
  return value;
}

TickScale scale_of(TimeUnit unit, bool since_1970) noexcept {
  const std::int64_t epoch = since_1970 ? kEpochTicks : 0;
  switch (unit) {
    case TimeUnit::day:
      return {epoch, 1, 86'400 * kTicksPerSecond};
    case TimeUnit::second:
      return {epoch, 1, kTicksPerSecond};
    case TimeUnit::millisecond:
      return {epoch, 1, kTicksPerSecond / 1000};
    case TimeUnit::microsecond:
      return {epoch, 1, kTicksPerSecond / 1'000'000};
    case TimeUnit::nanosecond:
      break;
  }
  return {epoch, 100, 1};
}

const MetadataEntry* find_key_values(const TocColumn& column,
                                     const std::vector<MetadataEntry>& metadata) noexcept {
  for (const MetadataEntry& entry : metadata) {
    if (entry.kind == "KeyValues" && entry.alive() && entry.codec.vector &&
        entry.codec.size == column.codec.key_count) {
      return &entry;
    }
  }
  return nullptr;
}

ColumnCells cells_of(const std::shared_ptr<ByteSource>& file, const Header& header,
                     const TocColumn& column, const std::vector<MetadataEntry>& metadata,
                     std::uint32_t part) {
  ColumnCells cells;
  Meaning& meaning = cells.meaning;
  const ValueCodec& codec = column.codec;
  const ItemType& item = *codec.item;
  if (codec.key_count > 0) {
    meaning = meaning_of_key(file, column, metadata);
  } else if (codec.text()) {
    cells.texts = std::make_shared<Texts>(file, header, column);
    meaning = meaning_of_text(cells.texts);
  } else if (item.title == "Boolean") {
    meaning.kind = MeaningKind::boolean;
    if (item.layout == Layout::bits2) meaning.missing = kMissingBoolean;
  } else if (is_time(item) && part == 0 && !codec.vector) {
    const bool date = item.title != "TimeSpan";
    const Times times = look_at_times(*file, header, column, part, date);
    if (times.missing) meaning.missing = kMissingTick;
    if (times.unit) {
      meaning.kind = date ? MeaningKind::timestamp : MeaningKind::duration;
      meaning.unit = *times.unit;
      cells.scale = scale_of(*times.unit, date);
    }
  }
  return cells;
}

}  // namespace dapple::detail::idv
