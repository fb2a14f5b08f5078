#include "lib/compute/row_gatherer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

/// Cells of a dense block that are decoded at once where they cannot be looked at in place.
constexpr std::uint64_t kCellsAtOnce = std::uint64_t{32} << 10;

/// Regions may have so many rows, and so many more for each entry that they can hold: of shapes
/// with far more rows than that, pointers to rows would be most of the memory.
constexpr std::uint64_t kRows = std::uint64_t{1} << 16;
constexpr std::uint64_t kRowsPerEntry = 8;

/// Which of 64 cells are not zero.
template <class Bits>
inline std::uint64_t nonzero_mask(const std::byte* cells) noexcept {
  std::array<std::uint8_t, 64> flags;
  for (std::size_t i = 0; i < 64; ++i) flags[i] = load_le<Bits>(cells + i * sizeof(Bits)) != 0;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 64; i += 8) {
    // Eight bytes of 0 or 1 become eight bits: byte i, times 2^(7 * (8 - i)), is bit 56 + i.
    const auto eight = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(&flags[i]));
    mask |= eight * 0x0102040810204080U >> 56 << i;
  }
  return mask;
}

/// Appends the cells of a row that are not zero to the arrays, behind entry `k`; returns how many
/// entries there are then. Guesses of the processor go wrong once in 64 cells, and not at every
/// other entry. REQUIRES room for the whole row.
template <class Bits>
DAPPLE_VECTORS std::uint64_t take_row(const std::byte* row, std::uint32_t width,
                                      std::uint32_t first_col, const CsrTarget& out,
                                      std::uint64_t k) {
  std::uint32_t* const cols = out.col_idx;
  std::byte* const values = out.values;
  const auto take = [&](std::uint32_t c) {
    cols[k] = first_col + c;
    std::memcpy(values + k * sizeof(Bits), row + std::size_t{c} * sizeof(Bits), sizeof(Bits));
    ++k;
  };
  const auto take_64 = [&](std::uint32_t c, std::uint64_t wanted) {
    const std::byte* const cells = row + std::size_t{c} * sizeof(Bits);
    // 50,000 x 500 f64 to a BTable: 54 ms, with this 41 (Xeon of family 6, model 167).
    ask_ahead(cells, 64 * sizeof(Bits));
    for (std::uint64_t mask = nonzero_mask<Bits>(cells) & wanted; mask != 0; mask &= mask - 1) {
      take(c + static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
  };
  std::uint32_t c = 0;
  for (; width - c >= 64; c += 64) take_64(c, ~std::uint64_t{0});
  if (width >= 64 && c < width) {
    // The last 64, of which some are done.
    take_64(width - 64, ~std::uint64_t{0} << (64 - (width - c)));
    c = width;
  }
  for (; c < width; ++c) {
    if (load_le<Bits>(row + std::size_t{c} * sizeof(Bits)) != 0) take(c);
  }
  return k;
}

/// Removes entries outside the columns `wanted`, and positive zeros; counts the columns of the
/// others from `shift` on.
template <class Bits>
void clean(const CsrTarget& out, std::uint64_t rows, Range wanted, std::uint32_t shift) {
  std::uint64_t kept = 0, k = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t end = out.row_ptr[row + 1];
    for (; k < end; ++k) {
      const std::uint32_t col = out.col_idx[k];
      const auto bits = load_le<Bits>(out.values + k * sizeof(Bits));
      out.col_idx[kept] = static_cast<std::uint32_t>(col - wanted.begin + shift);
      store_le(out.values + kept * sizeof(Bits), bits);
      kept += wanted.contains(col) && bits != 0 ? 1 : 0;
    }
    out.row_ptr[row + 1] = kept;
  }
}

/// Most entries that a part of a block can hold.
std::uint64_t most_entries(const Entry& block, const Part& part) {
  const std::uint64_t cells = part.rows.size() * part.cols.size();  // both below 2^32
  switch (block.kind) {
    case BlockKind::empty:
      return 0;
    case BlockKind::dense:
      return cells;
    default:
      // A row may come with entries that are left out: zeros, columns outside.
      return block.stored;
  }
}

}  // namespace

bool RowGatherer::gather(const Store& store, const Region& region, ValueType type, Absent absent,
                         std::uint64_t most) {
  if (store.codec().sequential) return false;
  type_ = type;
  room_ = std::min(most, room_for(store, region));
  const std::uint64_t rows = region.rows.size();
  if (rows > kRows && (rows - kRows) / kRowsPerEntry > room_) return false;
  rows_.row_ptr.reset(rows + 1);
  rows_.col_idx.reset(room_);
  rows_.values.reset(room_ * size_of(type));
  rows_.row_ptr[0] = 0;
  size_ = rows_end_ = 0;
  band_ = {0, 0};
  member_count_ = 0;
  bool good = true;
  store.for_each_block(region, {absent, 1},
                       [&](std::uint64_t number, const Entry& entry, const Part& part) {
                         good = good && add(store, region, number, entry, part);
                       });
  if (!good || !close_band()) return false;
  end_rows(rows);
  rows_.col_idx.shorten(size_);
  rows_.values.shorten(size_ * size_of(type));
  return true;
}

/// Most entries that the region can hold, as far as the index tells.
std::uint64_t RowGatherer::room_for(const Store& store, const Region& region) const {
  constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t room = 0;
  for (const std::uint64_t number : store.index().touching(region)) {
    const Entry entry = store.index().entry(number);
    const std::uint64_t entries = most_entries(entry, shared_part(entry, region));
    room = entries > unknown - room ? unknown : room + entries;
  }
  return room;
}

/// Rows up to `row`, not included, that no block has begun are empty.
void RowGatherer::end_rows(std::uint64_t row) {
  while (rows_end_ < row) rows_.row_ptr[++rows_end_] = size_;
}

/// The room behind all rows in front of `row`.
CsrTarget RowGatherer::target_behind(std::uint64_t row) {
  end_rows(row);
  return {&rows_.row_ptr[row], rows_.col_idx.data() + size_,
          rows_.values.data() + size_ * size_of(type_), type_, room_ - size_};
}

bool RowGatherer::add(const Store& store, const Region& region, std::uint64_t number,
                      const Entry& entry, const Part& part) {
  const std::uint64_t begin = entry.pos.rx + part.rows.begin - region.rows.begin;
  const Range rows{begin, begin + part.rows.size()};
  const auto first_col =
      static_cast<std::uint32_t>(entry.pos.cx + part.cols.begin - region.cols.begin);
  if (member_count_ == 0 || rows.begin != band_.begin || rows.end != band_.end) {
    if (rows.begin < band_.end || !close_band()) return false;
    band_ = rows;
  }
  if (part.cols.size() < region.cols.size()) {
    Member& member = next_member(number);
    member.first_col = first_col;
    const std::uint64_t room = std::min(room_, most_entries(entry, part));
    member.rows.row_ptr.reset(rows.size() + 1);
    member.rows.col_idx.reset(room);
    member.rows.values.reset(room * size_of(type_));
    return decode(store, entry, part, first_col, member.cursor,
                  {member.rows.row_ptr.data(), member.rows.col_idx.data(),
                   member.rows.values.data(), type_, room});
  }
  // Alone in its rows: straight to its place.
  const CsrTarget out = target_behind(rows.begin);
  Member& member = next_member(number);
  member_count_ = 0;
  if (!decode(store, entry, part, first_col, member.cursor, out)) return false;
  for (std::uint64_t row = 0; row <= rows.size(); ++row) out.row_ptr[row] += size_;
  rows_end_ = rows.end;
  size_ = out.row_ptr[rows.size()];
  return true;
}

/// Decodes a part of a block, whose columns count from `first_col` on. False when the format
/// cannot, or there is no room.
bool RowGatherer::decode(const Store& store, const Entry& entry, const Part& part,
                         std::uint32_t first_col, RowCursor& cursor, const CsrTarget& out) const {
  const Codec& codec = store.codec();
  const std::uint64_t rows = part.rows.size();
  if (entry.kind == BlockKind::empty) {
    std::fill_n(out.row_ptr, rows + 1, 0);
    return true;
  }
  if (entry.kind == BlockKind::dense) return scan(store, entry, part, first_col, out);
  if (codec.csr_arrays == nullptr || !codec.csr_arrays(store, entry, part.rows, cursor, out)) {
    return false;
  }
  const bool all = part.cols.size() == entry.cols && first_col == 0;
  if (!all || has_zeros(type_, out.values, out.row_ptr[rows])) {
    visit_bits(type_, [&](auto bits) { clean<decltype(bits)>(out, rows, part.cols, first_col); });
  }
  return true;
}

/// The cells of a part of a dense block that are not zero; looked at in place where they have the
/// wanted type, otherwise decoded some rows at a time.
bool RowGatherer::scan(const Store& store, const Entry& entry, const Part& part,
                       std::uint32_t first_col, const CsrTarget& out) const {
  const std::uint64_t rows = part.rows.size();
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  if (out.room / rows < width) return false;
  const std::size_t size = size_of(type_), row_bytes = std::size_t{width} * size;
  const Codec& codec = store.codec();
  // Codecs whose values are not in place may have to decode much for a few rows.
  if (codec.in_place == nullptr) return false;
  std::optional<DensePlace> place = codec.in_place(store, entry);
  if (!place) return false;
  if (entry.value_type != type_) place.reset();
  std::vector<std::byte> cells;
  const std::uint64_t band = place ? rows : std::max<std::uint64_t>(1, kCellsAtOnce / width);
  std::uint64_t k = 0;
  out.row_ptr[0] = 0;
  for (std::uint64_t row = 0; row < rows; row += band) {
    const std::uint64_t count = std::min(band, rows - row);
    const std::byte* first;
    std::size_t step;
    if (place) {
      step = place->row_step;
      first = place->data + part.rows.begin * step + part.cols.begin * size;
    } else {
      const std::uint64_t begin = part.rows.begin + row;
      cells.resize(count * row_bytes);
      codec.read(store, entry, {{begin, begin + count}, part.cols},
                 {cells.data(), type_, row_bytes, size});
      step = row_bytes;
      first = cells.data();
    }
    visit_bits(type_, [&](auto bits) {
      for (std::uint64_t r = 0; r < count; ++r) {
        k = take_row<decltype(bits)>(first + r * step, width, first_col, out, k);
        out.row_ptr[row + r + 1] = k;
      }
    });
  }
  return true;
}

/// The next place for a block among those side by side.
RowGatherer::Member& RowGatherer::next_member(std::uint64_t number) {
  if (member_count_ == members_.size()) members_.emplace_back();
  Member& member = members_[member_count_++];
  if (member.number != number) member.cursor = {};
  member.number = number;
  return member;
}

/// Puts the rows of blocks side by side together. False when there is no room.
bool RowGatherer::close_band() {
  if (member_count_ == 0) return true;
  const std::uint64_t rows = band_.size();
  const std::span members = std::span(members_).first(member_count_);
  member_count_ = 0;
  // Blocks that begin in different rows, above the region, come in the order of those.
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.first_col < b.first_col; });
  std::uint64_t total = 0;
  for (const Member& member : members) total += member.rows.row_ptr[rows];
  if (total > room_ - size_) return false;
  end_rows(band_.begin);
  const std::size_t value = size_of(type_);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (const Member& member : members) {
      const std::uint64_t begin = member.rows.row_ptr[row];
      const std::uint64_t count = member.rows.row_ptr[row + 1] - begin;
      if (count == 0) continue;
      std::copy_n(member.rows.col_idx.data() + begin, count, rows_.col_idx.data() + size_);
      std::memcpy(rows_.values.data() + size_ * value, member.rows.values.data() + begin * value,
                  count * value);
      size_ += count;
    }
    rows_.row_ptr[++rows_end_] = size_;
  }
  return true;
}

}  // namespace dapple::detail
