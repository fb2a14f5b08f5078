#include "lib/object/misfit.h"

#include <optional>
#include <string>

#include "dapple/column.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

Misfit told_misfit(ValueType type, std::uint64_t bits, BlockPos cell, ValueType wanted,
                   bool rounds) {
  std::string what;
  append_number(type, bits, what);
  what += " in cell " + text(cell) + (rounds ? " is not exact as " : " does not fit ");
  return {what.append(name(wanted)), rounds};
}

}  // namespace

Misfit misfit_of(ValueType type, std::uint64_t bits, BlockPos cell, ValueType wanted) {
  std::uint64_t rounded = 0;
  return told_misfit(type, bits, cell, wanted, convert_cell_lossy(type, bits, wanted, rounded));
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
  const std::uint64_t bits = load_bits(entry.value_type, value);
  const Misfit misfit = declared ? told_misfit(entry.value_type, bits, whole, wanted, false)
                                 : misfit_of(entry.value_type, bits, whole, wanted);
  if (declared) {
    const BytePlace place = store.blocks().place(at);
    throw Error(Errc::corrupt, place.name, place.offset, misfit.text + " (R6)");
  }
  // The file is sound: no byte of it is to blame.
  throw Error(Errc::type_mismatch, store.known_as(), std::nullopt, misfit.text,
              misfit.rounds ? "allow_loss" : "");
}

}  // namespace dapple::detail
