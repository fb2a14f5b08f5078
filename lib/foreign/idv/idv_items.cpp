#include "lib/foreign/idv/idv_items.h"

#include <algorithm>

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

ItemRun::ItemRun(const BlockBytes& block, std::uint64_t at, std::span<const std::byte> bytes,
                 const ItemType& item, std::uint64_t n)
    : block_(&block), at_(at), data_(bytes.data()), item_(&item), n_(n) {
  const std::uint64_t wanted = item_bytes(item, n).value();
  if (bytes.size() != wanted) {
    block.fail(at, counted(n, "value") + " of " + std::string(item.title) +
                       (n == 1 ? " takes " : " take ") + counted(wanted, "byte") + ", but there " +
                       (bytes.size() == 1 ? "is " : "are ") + std::to_string(bytes.size()));
  }
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
    block_->fail(at_ + i / 4, "3 is no Boolean, which is 0, 1 or 2");
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

}  // namespace dapple::detail::idv
