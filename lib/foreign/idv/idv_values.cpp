#include "lib/foreign/idv/idv_values.h"

#include <algorithm>
#include <string>

#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

constexpr std::array kZonedParts = {ItemPart{ValueType::i64, ""},
                                    ItemPart{ValueType::i16, ".minutes"}};
constexpr std::array kWideParts = {ItemPart{ValueType::u64, ".low"},
                                   ItemPart{ValueType::u64, ".high"}};
constexpr std::array kNumberParts = {
    ItemPart{ValueType::u8, ""},  ItemPart{ValueType::u16, ""}, ItemPart{ValueType::u32, ""},
    ItemPart{ValueType::u64, ""}, ItemPart{ValueType::i8, ""},  ItemPart{ValueType::i16, ""},
    ItemPart{ValueType::i32, ""}, ItemPart{ValueType::i64, ""}, ItemPart{ValueType::f32, ""},
    ItemPart{ValueType::f64, ""}};  // in the order of the type codes

constexpr std::array kTextParts = {ItemPart{ValueType::u32, ""}};

std::span<const ItemPart> number_part(ValueType type) noexcept {
  return std::span(kNumberParts).subspan(static_cast<std::size_t>(type) - 1, 1);
}

constexpr std::uint32_t kMissingText = 0x80000000;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

std::span<const ItemPart> parts_of(const ItemType& item) noexcept {
  switch (item.layout) {
    case Layout::number:
      return number_part(item.value_type);
    case Layout::bits:
    case Layout::bits2:
      return number_part(ValueType::u8);
    case Layout::zoned:
      return kZonedParts;
    case Layout::wide:
      return kWideParts;
    case Layout::text:
      break;
  }
  return kTextParts;
}

bool is_time(const ItemType& item) noexcept {
  return item.title == "TimeSpan" || item.title == "DateTime" || item.title == "DateTimeOffset";
}

ItemRun::ItemRun(ByteReader in, const ItemType& item, std::uint64_t n)
    : in_(in), at_(in.offset()), item_(&item), n_(n) {
  const std::uint64_t wanted = item_bytes(item, n).value(), there = in.remaining();
  if (there != wanted) {
    in.fail(at_, counted(n, "value") + " of " + std::string(item.title) +
                     (n == 1 ? " takes " : " take ") + counted(wanted, "byte") + ", but there " +
                     (there == 1 ? "is " : "are ") + std::to_string(there));
  }
  data_ = in.take(wanted, "values").data();
}

ItemRun::Place ItemRun::place(std::size_t part, std::uint64_t i) const noexcept {
  switch (item_->layout) {
    case Layout::number: {
      const std::size_t size = size_of(item_->value_type);
      return {data_ + i * size, size};
    }
    case Layout::zoned:
      return part == 0 ? Place{data_ + n_ * 2 + i * 8, 8} : Place{data_ + i * 2, 2};
    case Layout::wide:
      return {data_ + i * 16 + part * 8, 16};
    case Layout::bits:
    case Layout::bits2:
    case Layout::text:
      break;
  }
  return {};
}

std::uint64_t ItemRun::packed_bits(std::uint64_t i) const {
  const auto byte = [&](std::uint64_t k) { return std::to_integer<unsigned>(data_[k]); };
  // Little-endian words of 32 bits put the sixteen values in the order of the bytes.
  if (item_->layout == Layout::bits) return (byte(i / 8) >> (i % 8)) & 1;
  const unsigned value = (byte(i / 4) >> (i % 4 * 2)) & 3;
  if (value == 3) {
    in_.fail(at_ + i / 4, "3 is no Boolean, which is 0, 1 or 2");
  }
  return value;
}

std::uint64_t ItemRun::bits(std::size_t part, std::uint64_t i) const {
  if (packed()) return packed_bits(i);
  return load_bits(parts_of(*item_)[part].value_type, place(part, i).data);
}

std::uint64_t ItemRun::copy(std::size_t part, std::uint64_t first, std::uint64_t n, ValueType type,
                            std::byte* target, std::size_t step) const {
  const ValueType from = parts_of(*item_)[part].value_type;
  if (n == 0) return 0;
  if (!packed()) {
    const Place source = place(part, first);
    return convert_cells(from, source.data, source.step, type, target, step, n);
  }
  std::array<std::uint8_t, 512> some;
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t count = std::min<std::uint64_t>(n - done, some.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      some[i] = static_cast<std::uint8_t>(packed_bits(first + done + i));
    }
    // 0, 1 and 2 fit every type.
    convert_cells(from, reinterpret_cast<const std::byte*>(some.data()), 1, type,
                  target + done * step, step, count);
    done += count;
  }
  return n;
}

TextRun::TextRun(ByteReader& in, std::uint64_t n) {
  const std::uint64_t start = in.offset();
  const auto count = in.le<std::int32_t>("the number of texts");
  if (count < 0 || static_cast<std::uint64_t>(count) != n) {
    in.fail(start, std::to_string(count) + " texts in a block of " + counted(n, "row"));
  }
  const std::uint64_t ends_at = in.offset();
  const auto ends = in.take(n * 4, "text positions");
  ends_.reserve(n);
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto stored = load_le<std::uint32_t>(ends.data() + i * 4);
    End end;
    end.missing = (stored & kMissingText) != 0;
    end.units = stored & ~kMissingText;
    if (end.units < last || (end.missing && end.units != last)) {
      in.fail(ends_at + i * 4, std::string(end.missing ? "a missing text" : "a text") +
                                   " ends at UTF-16 unit " + std::to_string(end.units) +
                                   ", but starts at " + std::to_string(last));
    }
    last = end.units;
    ends_.push_back(end);
  }

  const std::uint64_t length = read_string_length(in, "a string of texts");
  const std::uint64_t text_at = in.offset();
  const auto bytes = in.take(length, "texts");
  if (in.remaining() > 0) {
    in.fail(in.offset(), surplus(in.remaining(), "the texts"));
  }
  text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  place_ends(in, text_at);
}

void TextRun::place_ends(const ByteReader& in, std::uint64_t text_at) {
  std::size_t next = 0;  // the first end without a place
  std::uint32_t units = 0;
  for (std::uint32_t byte = 0; byte < text_.size();) {
    const auto character = next_utf8(text_.substr(byte));
    if (!character) in.fail(text_at + byte, "the text is not UTF-8");
    const std::uint32_t width = character->value > 0xffff ? 2 : 1;  // a surrogate pair
    for (; next < ends_.size() && ends_[next].units < units + width; ++next) {
      ends_[next].byte = byte;
      ends_[next].split = ends_[next].units > units;
    }
    units += width;
    byte += static_cast<std::uint32_t>(character->size);
  }
  for (; next < ends_.size() && ends_[next].units == units; ++next) {
    ends_[next].byte = static_cast<std::uint32_t>(text_.size());
  }
  const std::uint32_t last = ends_.empty() ? 0 : ends_.back().units;
  if (last != units) {
    in.fail(text_at, "the texts have " + std::to_string(units) +
                         " UTF-16 units, but the last position says " + std::to_string(last));
  }
}

void TextRun::append(std::uint64_t i, std::string& out) const {
  const End begin = i == 0 ? End{} : ends_[i - 1];
  const End& end = ends_[i];
  if (begin.units == end.units) return;
  const std::size_t from = begin.byte + (begin.split ? 4 : 0);
  if (begin.split) out += kReplacement;
  out += text_.substr(from, end.byte - from);
  if (end.split) out += kReplacement;
}

VectorRun::VectorRun(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n)
    : in_(block.reader()), n_(n) {
  const std::uint64_t start = in_.offset();
  if (const std::uint64_t vectors = read_natural<std::int32_t>(in_, "a number of vectors");
      vectors != n) {
    in_.fail(start, counted(vectors, "vector") + " in a block of " + counted(n, "row"));
  }
  const std::uint64_t length_at = in_.offset();
  common_length_ = read_natural<std::int32_t>(in_, "a common length");
  if (codec.size > 0 && common_length_ != codec.size) {
    in_.fail(length_at, "the block has vectors of length " + std::to_string(common_length_) +
                            ", but the column's type says " + std::to_string(codec.size));
  }
  const std::uint64_t lengths_at = in_.offset();
  if (common_length_ == 0) lengths_ = in_.take(n * 4, "vector lengths");
  const std::uint64_t counts_at = in_.offset();
  counts_ = in_.take(n * 4, "counts of stored items");
  count_items(lengths_at, counts_at);

  const std::uint64_t index_count_at = in_.offset();
  const std::uint64_t stated = read_natural<std::int32_t>(in_, "a number of indices");
  if (stated != index_count_) {
    in_.fail(index_count_at, "the block says that it has " + std::to_string(stated) +
                                 " indices, but the counts of its vectors sum to " +
                                 std::to_string(index_count_));
  }
  indices_at_ = in_.offset();
  indices_ = in_.take(index_count_ * 4, "indices");
}

void VectorRun::count_items(std::uint64_t lengths_at, std::uint64_t counts_at) {
  for (std::uint64_t row = 0; row < n_; ++row) {
    const std::uint64_t slots = length(row);
    if (slots > kMaxInt) {
      in_.fail(lengths_at + row * 4, "the vector length is negative");
    }
    const std::int32_t stored = count(row);
    if (stored < -1 || (stored >= 0 && static_cast<std::uint64_t>(stored) >= slots)) {
      in_.fail(counts_at + row * 4, "a vector of length " + std::to_string(slots) +
                                        " cannot store " + std::to_string(stored) +
                                        " items with indices");
    }
    item_count_ += stored < 0 ? slots : static_cast<std::uint64_t>(stored);  // below 2^62
    if (stored < 0) continue;
    index_count_ += static_cast<std::uint64_t>(stored);
    ++sparse_rows_;
  }
  // An item has at least one bit; sizes computed from the number can't overflow then.
  if (item_count_ / 8 > in_.remaining()) {
    in_.fail(counts_at, "the counts say " + std::to_string(item_count_) +
                            " items, which do not fit the " + std::to_string(in_.remaining()) +
                            " bytes that are left");
  }
}

VectorRow VectorRun::row_at(std::uint64_t row, std::uint64_t item,
                            std::uint64_t index) const noexcept {
  VectorRow v;
  const std::int32_t stored = count(row);
  v.row = row;
  v.length = length(row);
  v.first_item = item;
  v.dense = stored < 0;
  v.items = v.dense ? v.length : static_cast<std::uint64_t>(stored);
  if (!v.dense) v.indices = indices_.subspan(index * 4, v.items * 4).data();
  return v;
}

void VectorRun::check_indices(const VectorRow& row) const {
  if (row.dense) return;
  std::int64_t last = -1;
  for (std::uint64_t i = 0; i < row.items; ++i) {
    const std::int64_t slot = load_le<std::int32_t>(row.indices + i * 4);
    if (slot <= last || slot >= static_cast<std::int64_t>(row.length)) {
      const auto at = static_cast<std::uint64_t>(row.indices - indices_.data()) + i * 4;
      const bool outside = slot < 0 || slot >= static_cast<std::int64_t>(row.length);
      in_.fail(indices_at_ + at, outside ? "slot " + std::to_string(slot) +
                                               " is outside a vector of length " +
                                               std::to_string(row.length)
                                         : "slot " + std::to_string(slot) + " comes after slot " +
                                               std::to_string(last) + "; slots must ascend");
    }
    last = slot;
  }
}

}  // namespace dapple::detail::idv
