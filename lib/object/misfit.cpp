#include "lib/object/misfit.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
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

bool can_be_rounded(ValueType type, const std::byte* value, ValueType wanted) {
  const long double number = visit_type(
      type, [&](auto tag) { return static_cast<long double>(load_le<decltype(tag)>(value)); });
  return (is_float(type) || is_float(wanted)) && visit_type(wanted, [&](auto tag) {
           using To = std::numeric_limits<decltype(tag)>;
           return number >= To::lowest() && number <= To::max();
         });
}

void fail_misfit(const Store& store, const Entry& entry, CellInBlock cell, const std::byte* value,
                 ValueType wanted) {
  // A value that is not in the map is a copy, or was made: the block is to blame. Nothing is made
  // for that, since the entry may be of the rows that were.
  const auto held = store.payload_in_place(entry);
  const bool inside = held && value >= held->data() && value < held->data() + held->size();
  const std::uint64_t at =
      inside ? store.payload_offset(entry) + static_cast<std::uint64_t>(value - held->data())
             : entry.offset;
  fail_misfit_at(at, store, entry, cell, value, wanted);
}

void fail_misfit_at(std::uint64_t at, const Store& store, const Entry& entry, CellInBlock cell,
                    const std::byte* value, ValueType wanted) {
  const BlockPos whole{entry.pos.rx + cell.row, entry.pos.cx + cell.col};
  const bool declared = store.schema().type_of(whole.cx) == wanted;
  const bool rounds = !declared && can_be_rounded(entry.value_type, value, wanted);
  const std::string what = value_text(entry.value_type, value) + " in cell " + text(whole) +
                           (rounds ? " is not exact as " : " does not fit ") +
                           std::string(name(wanted));
  if (declared) {
    const BytePlace place = store.blocks().place(at);
    throw Error(Errc::corrupt, place.name, place.offset, what + " (R6)");
  }
  // The file is sound: no byte of it is to blame.
  throw Error(Errc::type_mismatch, store.known_as(), std::nullopt, what,
              rounds ? "allow_loss" : "");
}

}  // namespace dapple::detail
