// Picking few columns out of CSR tiles: rows are scanned where they lie, and nothing is made of the
// entries that are not wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// A wanted entry, in the tile's row `row`.
struct Pick {
  std::uint32_t row, slot;
  const std::byte* value;
};

/// The slot of a column that is not wanted.
inline constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

/// Something that only RowStream copes with: entries that are not sorted, values that do not fit,
/// damage.
struct NeedsCloserLook {};

/// Replaces `picks` by the entries of some rows of a CSR tile for whose columns slot_of(col) is
/// not kNoSlot, whatever `col` is. All columns of the rows are looked at, because rows need not be
/// sorted (R5). Throws NeedsCloserLook.
template <std::size_t kSize, class SlotOf>
void pick(const std::byte* p, const Entry& tile, Range rows, const SlotOf& slot_of,
          std::vector<Pick>& picks) {
  constexpr std::size_t stride = 4 + kSize;
  std::uint64_t left = tile.stored;
  std::int64_t sound = -1;  // negative while columns ascend inside the tile
  for (std::uint32_t row = 0; row < rows.end; ++row) {
    const auto count = load_le<std::uint32_t>(p);
    if (count > left) throw NeedsCloserLook();
    left -= count;
    p += 4;
    const std::byte* const end = p + std::size_t{count} * stride;
    if (row >= rows.begin) {
      std::int64_t last = -1;
      for (; p != end; p += stride) {
        const auto col = load_le<std::uint32_t>(p);
        sound &= last - std::int64_t{col};
        last = col;
        if (const std::uint32_t slot = slot_of(col); slot != kNoSlot) {
          picks.push_back({row, slot, p + 4});
        }
      }
      sound &= last - std::int64_t{tile.cols};
    }
    p = end;
  }
  if (sound >= 0 || (rows.end == tile.rows && left != 0)) throw NeedsCloserLook();
}

/// The same for a tile of a matrix that `possible_to_pick`, of any kind but only if it is empty or
/// CSR and its values fit what the matrix declares. Explicit zeros are left out. `held` keeps the
/// picked values.
template <class SlotOf>
void pick_from(const Store& store, const Entry& tile, Range rows, const SlotOf& slot_of,
               std::vector<Pick>& picks, HeldBytes& held) {
  picks.clear();
  if (tile.kind == BlockKind::empty) return;
  if (tile.kind != BlockKind::csr || !holds_all(store.schema().value_type, tile.value_type)) {
    throw NeedsCloserLook();
  }
  held = store.payload(tile);
  visit_bits(tile.value_type,
             [&](auto bits) { pick<sizeof bits>(held.data(), tile, rows, slot_of, picks); });
  std::erase_if(picks, [&](const Pick& p) { return load_bits(tile.value_type, p.value) == 0; });
}

inline bool possible_to_pick(const Store& store) noexcept {
  return store.index().grid() && store.driver().sparse_in_place &&
         store.schema().kind == ObjectKind::matrix;
}

}  // namespace dapple::detail
