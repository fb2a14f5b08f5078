#include "lib/compute/row_decoder.h"

#include <type_traits>

#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

template <class From, class To, class Col>
bool decode_row(const std::byte* entries, std::uint32_t count, std::uint32_t width, Col first,
                Col* cols, std::byte* values) noexcept {
  constexpr std::size_t stride = 4 + sizeof(From);
  std::int64_t last = -1, rising = -1;  // negative while columns ascend
  bool odd = false;
  for (std::uint32_t k = 0; k < count; ++k, entries += stride) {
    const auto col = load_le<std::uint32_t>(entries);
    const auto value = load_le<From>(entries + 4);
    rising &= last - std::int64_t{col};
    last = col;
    cols[k] = first + col;
    if constexpr (std::is_floating_point_v<From> && !std::is_same_v<From, To>) {
      // Minus zero is an entry; a NaN may lose bits when it is widened.
      odd |= std::bit_cast<std::uint32_t>(value) == 0 || value != value;
      store_le(values + k * sizeof(To), static_cast<To>(value));
    } else if constexpr (std::is_floating_point_v<From>) {
      using Bits = std::conditional_t<sizeof(From) == 4, std::uint32_t, std::uint64_t>;
      const auto bits = load_le<Bits>(entries + 4);
      odd |= bits == 0;
      store_le(values + k * sizeof(To), bits);
    } else {
      odd |= value == 0;
      store_le(values + k * sizeof(To), static_cast<To>(value));
    }
  }
  return (rising & (last - std::int64_t{width})) < 0 && !odd;
}

}  // namespace

template <class Col>
DecodeRow<Col> row_decoder(ValueType from, ValueType to) noexcept {
  if (!holds_all(to, from)) return nullptr;
  return visit_type(from, [&](auto stored) {
    return visit_type(to, [&](auto wanted) -> DecodeRow<Col> {
      using From = decltype(stored);
      using To = decltype(wanted);
      if constexpr (holds_all(value_type_of<To>(), value_type_of<From>())) {
        return decode_row<From, To, Col>;
      } else {
        return nullptr;
      }
    });
  });
}

template DecodeRow<std::uint32_t> row_decoder(ValueType, ValueType) noexcept;
template DecodeRow<std::uint64_t> row_decoder(ValueType, ValueType) noexcept;

}  // namespace dapple::detail
