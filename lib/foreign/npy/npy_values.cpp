#include "lib/foreign/npy/npy_values.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::npy {

namespace {

float half_at(const Field& field, const std::byte* p) noexcept {
  return half_to_float(field.swapped ? load_be<std::uint16_t>(p) : load_le<std::uint16_t>(p));
}

}  // namespace

std::size_t copy_values(const Field& field, const std::byte* from, std::size_t from_step,
                        ValueType to, std::byte* target, std::size_t to_step, std::size_t n) {
  const std::size_t size = size_of(field.type);
  if (field.in_place()) return convert_cells(field.type, from, from_step, to, target, to_step, n);
  constexpr std::size_t piece = 512;
  std::array<std::byte, piece * 8> turned;
  for (std::size_t done = 0; done < n; done += piece) {
    const std::size_t part = std::min(piece, n - done);
    const std::byte* const first = from + done * from_step;
    visit_type(field.type, [&](auto tag) {
      using T = decltype(tag);
      for (std::size_t i = 0; i < part; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          if (field.form == Form::half) {
            store_le(turned.data() + i * sizeof(T), half_at(field, first + i * from_step));
            continue;
          }
        }
        store_le(turned.data() + i * sizeof(T), load_be<T>(first + i * from_step));
      }
    });
    const std::size_t fitting =
        convert_cells(field.type, turned.data(), size, to, target + done * to_step, to_step, part);
    if (fitting < part) return done + fitting;
  }
  return n;
}

}  // namespace dapple::detail::npy
