#include "lib/foreign/futhark/element.h"

#include <algorithm>

#include "dapple/error.h"
#include "lib/base/text.h"

namespace dapple::detail::futhark {

namespace {

constexpr std::string_view kSeparators = ", \t\n";

Type parse_type(std::string_view word) {
  Type type;
  std::string_view name = word;
  while (name.starts_with("[]")) {
    name.remove_prefix(2);
    ++type.rank;
  }
  const auto element = find_element(&ElementInfo::name, name);
  if (!element || type.rank > kMaxRank) {
    throw Error(Errc::invalid_argument,
                shown(word) + " is no Futhark type; f64, []i32 and [][]f32 are");
  }
  type.element = *element;
  return type;
}

constexpr std::uint32_t kFloatFraction = 0x7FFFFF;
constexpr std::uint32_t kInfiniteHalf = 0x7C00;

}  // namespace

std::vector<Type> parse_types(std::span<const std::string> lists) {
  std::vector<Type> types;
  for (std::string_view list : lists) {
    while (true) {
      list.remove_prefix(std::min(list.find_first_not_of(kSeparators), list.size()));
      if (list.empty()) break;
      const std::string_view word = list.substr(0, list.find_first_of(kSeparators));
      types.push_back(parse_type(word));
      list.remove_prefix(word.size());
    }
  }
  return types;
}

std::string text(const Type& type) {
  std::string brackets;
  for (unsigned i = 0; i < type.rank; ++i) brackets += "[]";
  return brackets.append(info(type.element).name);
}

std::string text(ElementType element, std::span<const std::uint64_t> dims) {
  std::string brackets;
  for (const std::uint64_t dim : dims) {
    brackets.append("[").append(std::to_string(dim)).append("]");
  }
  return brackets.append(info(element).name);
}

std::uint16_t float_to_half_truncated(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, exponent = (bits >> 23) & 0xFF;
  std::uint32_t half = 0;
  if (exponent == 0xFF) {
    half = kInfiniteHalf | (bits & kFloatFraction) >> 13;
  } else if (exponent >= 143) {  // 2^16 and above
    half = kInfiniteHalf;
  } else if (exponent >= 113) {
    half = (exponent - 112) << 10 | (bits & kFloatFraction) >> 13;
  } else if (exponent >= 103) {  // 2^-24 and above: a subnormal half
    half = ((bits & kFloatFraction) | 0x800000) >> (126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::uint16_t float_to_half_nearest(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, exponent = (bits >> 23) & 0xFF;
  if (exponent == 0xFF) return float_to_half_truncated(value);
  if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below half of 2^-24
  // The fraction with its leading one, cut to what the half keeps; exponent and fraction of the
  // half are neighbours, so a carry out of the fraction is right, up to infinity.
  const std::uint32_t shift = exponent < 113 ? 126 - exponent : 13;
  const std::uint32_t fraction = (bits & kFloatFraction) | 0x800000;
  const std::uint32_t rest = fraction & ((1U << shift) - 1), middle = 1U << (shift - 1);
  std::uint32_t half = fraction >> shift;
  if (exponent >= 113) half += (exponent - 113) << 10;
  if (rest > middle || (rest == middle && half % 2 == 1)) ++half;
  return static_cast<std::uint16_t>(sign | std::min(half, kInfiniteHalf));
}

}  // namespace dapple::detail::futhark
