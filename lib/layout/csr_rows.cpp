#include "lib/layout/csr_rows.h"

#include <bit>
#include <type_traits>

#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

template <class From, class To, class Col>
bool split_row(const std::byte* entries, std::uint32_t count, std::uint32_t width, Col first,
               Col* cols, std::byte* values) noexcept {
  bool odd = false;
  const std::uint32_t sound = take_ascending<sizeof(From), Checked::afterwards>(
      entries, count, width, [&](int, std::uint32_t col, const std::byte* at) {
        const auto value = load_le<From>(at);
        *cols++ = first + col;
        if constexpr (std::is_floating_point_v<From>) {
          // Minus zero is an entry; a NaN may lose bits when it is widened.
          odd |= load_le<BitsOf<From>>(at) == 0;
          if constexpr (!std::is_same_v<From, To>) odd |= value != value;
        } else {
          odd |= value == 0;
        }
        if constexpr (std::is_same_v<From, To>) {
          store_le(values, load_le<BitsOf<From>>(at));
        } else {
          store_le(values, static_cast<To>(value));
        }
        values += sizeof(To);
      });
  return sound == count && !odd;
}

}  // namespace

template <class Col>
SplitRow<Col> row_splitter(ValueType from, ValueType to) noexcept {
  if (!holds_all(to, from)) return nullptr;
  return visit_type(from, [&](auto stored) {
    return visit_type(to, [&](auto wanted) -> SplitRow<Col> {
      using From = decltype(stored);
      using To = decltype(wanted);
      if constexpr (holds_all(value_type_of<To>(), value_type_of<From>())) {
        return split_row<From, To, Col>;
      } else {
        return nullptr;
      }
    });
  });
}

template SplitRow<std::uint32_t> row_splitter(ValueType, ValueType) noexcept;
template SplitRow<std::uint64_t> row_splitter(ValueType, ValueType) noexcept;

}  // namespace dapple::detail
