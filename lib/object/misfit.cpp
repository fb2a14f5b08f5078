#include "lib/object/misfit.h"

#include <array>
#include <charconv>
#include <string>

namespace dapple::detail {

namespace {

std::string value_text(ValueType type, const std::byte* value) {
  return visit_type(type, [value](auto tag) {
    std::array<char, 64> digits;
    const auto number = load_le<decltype(tag)>(value);
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return std::string(digits.data(), end);
  });
}

}  // namespace

void fail_misfit(const Store& store, const Entry& entry, CellInBlock cell, const std::byte* value,
                 ValueType wanted) {
  // Early reads are private copies of the block, not the map.
  const std::byte* block = store.file().at(entry.offset, entry.bytes);
  const bool inside = value >= block && value < block + entry.bytes;
  const std::uint64_t at =
      inside ? entry.offset + static_cast<std::uint64_t>(value - block) : entry.offset;
  fail_misfit_at(at, store, entry, cell, value, wanted);
}

void fail_misfit_at(std::uint64_t at, const Store& store, const Entry& entry, CellInBlock cell,
                    const std::byte* value, ValueType wanted) {
  const std::uint64_t row = entry.pos.rx + cell.row, col = entry.pos.cx + cell.col;
  const bool declared = store.schema().type_of(col) == wanted;
  store.fail(declared ? Errc::corrupt : Errc::type_mismatch, at,
             "expected a value that fits " + std::string(name(wanted)) + " (R6) in cell " +
                 text({row, col}) + ", got " + value_text(entry.value_type, value));
}

}  // namespace dapple::detail
