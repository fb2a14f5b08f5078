#include "lib/foreign/idv/idv_render.h"

#include <array>
#include <cstdlib>
#include <optional>

#include "dapple/column.h"
#include "lib/base/timestamp.h"
#include "lib/foreign/idv/idv_meaning.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {
namespace {

/// A text inside a vector: in double quotes, which it holds doubled.
void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

/// The items of one block, fixed or text, as text.
class Items {
 public:
  Items(ByteReader& in, const ItemType& item, std::uint64_t n, Shown shown) : item_(&item) {
    if (item.layout == Layout::text) {
      texts_.emplace(in, n);
      return;
    }
    numbers_.emplace(in, item, n);
    if (shown == Shown::stored) return;
    truths_ = item.title == "Boolean";
    if (!is_time(item)) return;
    for (const TimeUnit unit : {TimeUnit::nanosecond, TimeUnit::microsecond}) {
      const TickScale scale = scale_of(unit, is_date());
      bool fits = true;
      for (std::uint64_t i = 0; i < n && fits; ++i) fits = scale.to_column(ticks(i)).has_value();
      if (fits) unit_ = unit;
    }
  }

  void append(std::uint64_t i, std::string& out) const {
    if (texts_) return texts_->append(i, out);
    const bool two = parts_of(*item_).size() > 1;
    append_bits({numbers_->bits(0, i), two ? numbers_->bits(1, i) : 0}, out);
  }

  /// What a sparse vector does not store.
  void append_zero(std::string& out) const {
    if (!texts_) append_bits({0, 0}, out);
  }

  void append_in_vector(std::uint64_t i, std::string& out) const {
    if (!texts_) {
      append(i, out);
      return;
    }
    std::string text;
    texts_->append(i, text);
    append_quoted(text, out);
  }

 private:
  bool is_date() const noexcept { return item_->title != "TimeSpan"; }
  std::int64_t ticks(std::uint64_t i) const {
    return static_cast<std::int64_t>(numbers_->bits(0, i));
  }

  void append_bits(std::array<std::uint64_t, 2> bits, std::string& out) const {
    constexpr std::string_view kTruths[] = {"false", "true", ""};
    if (truths_) {
      out += kTruths[bits[0]];
      return;
    }
    if (unit_ && bits[0] != kMissingTick) {
      const auto time = scale_of(*unit_, is_date()).to_column(static_cast<std::int64_t>(bits[0]));
      if (time) return append_time(*time, static_cast<std::int16_t>(bits[1]), out);
    }
    const auto parts = parts_of(*item_);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (part > 0) out += item_->layout == Layout::zoned ? '@' : ':';
      append_number(parts[part].value_type, bits[part], out);
    }
  }

  /// As a column of times is shown; a zone as its offset.
  void append_time(std::int64_t time, std::int16_t minutes, std::string& out) const {
    char text[kTimeRoom];
    out.append(text, is_date() ? write_time(text, time, *unit_, false)
                               : write_duration(text, time, *unit_));
    if (item_->layout != Layout::zoned) return;
    const int ahead = std::abs(int{minutes});
    const auto two_digits = [&](int n) {
      out += static_cast<char>('0' + n / 10 % 10);
      out += static_cast<char>('0' + n % 10);
    };
    out += minutes < 0 ? '-' : '+';
    two_digits(ahead / 60);
    out += ':';
    two_digits(ahead % 60);
  }

  const ItemType* item_;
  bool truths_ = false;
  std::optional<TimeUnit> unit_;  // of times that are shown as such
  std::optional<ItemRun> numbers_;
  std::optional<TextRun> texts_;
};

/// "[1, 2]", or "5: {0: 1, 3: 2}" for a sparse vector of 5 slots.
void append_vector(const VectorRow& row, const Items& items, std::string& out) {
  if (!row.dense) out += std::to_string(row.length) + ": ";
  out += row.dense ? '[' : '{';
  for (std::uint64_t i = 0; i < row.items; ++i) {
    if (i > 0) out += ", ";
    if (!row.dense) out += std::to_string(row.slot(i)) + ": ";
    items.append_in_vector(row.first_item + i, out);
  }
  out += row.dense ? ']' : '}';
}

}  // namespace

void render_block(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n, Range rows,
                  Shown shown,
                  const std::function<void(std::uint64_t row, std::string_view text)>& take) {
  std::string text;
  if (!codec.vector) {
    ByteReader in = block.reader();
    const Items items(in, *codec.item, n, shown);
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      text.clear();
      items.append(row, text);
      take(row, text);
    }
    return;
  }
  VectorRun vectors(block, codec, n);
  const Items items(vectors.items(), *codec.item, vectors.item_count(), shown);
  vectors.each(rows, [&](const VectorRow& row) {
    text.clear();
    append_vector(row, items, text);
    take(row.row, text);
  });
}

void render_vector(const BlockBytes& block, const ValueCodec& codec,
                   const std::function<void(std::uint64_t slot, std::string&& text)>& take) {
  VectorRun vectors(block, codec, 1);
  const Items items(vectors.items(), *codec.item, vectors.item_count(), Shown::meant);
  vectors.each({0, 1}, [&](const VectorRow& row) {
    for (std::uint64_t slot = 0; !row.dense && !codec.text() && slot < row.length; ++slot) {
      std::string text;
      items.append_zero(text);
      take(slot, std::move(text));
    }
    for (std::uint64_t i = 0; i < row.items; ++i) {
      std::string text;
      items.append(row.first_item + i, text);
      take(row.slot(i), std::move(text));
    }
  });
}

}  // namespace dapple::detail::idv
