#include "lib/cells/convert_cells.h"
#include "lib/foreign/idv/idv_state.h"
#include "lib/foreign/idv/idv_values.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::idv {
namespace {

/// One block of the index, found again in the file.
struct Found {
  const Strip& strip;
  const TocColumn& column;
  std::uint64_t rows;  // in the block
  BlockBytes bytes{};

  const ItemType& item() const noexcept { return *column.codec.item; }

  /// The strip is all that the column has: who reads `part` of all its rows has read the block.
  bool is_all(const Part& part) const noexcept {
    const std::uint64_t slots = column.codec.vector ? column.codec.size : 1;
    return part.rows == Range{0, rows} && part.cols.size() == slots && parts_of(item()).size() == 1;
  }
};

Found find_place_of(const Store& store, const Entry& entry) {
  const Contents& contents = store.state<State>().contents();
  const Strip& strip = strip_of(contents, entry.pos.cx);
  const TocColumn& column = contents.toc[strip.column];
  const std::uint64_t number = entry.pos.rx / column.block_rows;
  return {strip, column, rows_of_block(contents.header, column, number)};
}

/// With its bytes; inflated ones are kept unless `part` is all of the block.
Found find_block(const Store& store, const Entry& entry, const Part& part) {
  Found found = find_place_of(store, entry);
  found.bytes = block_of(store, entry, found.is_all(part));
  return found;
}

Part all_of(const Entry& entry) noexcept { return {{0, entry.rows}, {0, entry.cols}}; }

/// A block of vectors and the run of all their items.
struct Vectors {
  VectorRun rows;
  ItemRun items;

  explicit Vectors(const Found& found)
      : rows(found.bytes, found.column.codec, found.rows),
        items(rows.items(), found.item(), rows.item_count()) {}
};

/// Copies items of one part to cells, and says which one does not fit there.
class Copier {
 public:
  Copier(const Store& store, const Entry& entry, const Found& found, const ItemRun& items,
         ValueType type)
      : store_(store),
        entry_(entry),
        part_(found.strip.part),
        scale_(found.strip.scale),
        items_(items),
        type_(type) {}

  /// `n` items from `first` on to memory at `to`, `step` bytes apart. They are the cells from
  /// `cell` on, row after row of `width` columns.
  void copy(std::uint64_t first, std::uint64_t n, std::byte* to, std::size_t step, CellInBlock cell,
            std::uint64_t width) const {
    if (!scale_.is_identity()) return copy_times(first, n, to, step, cell);
    const std::uint64_t done = items_.copy(part_, first, n, type_, to, step);
    if (done == n) return;
    std::byte value[8];
    store_le(value, items_.bits(part_, first + done));
    fail_misfit(store_, entry_, {cell.row + done / width, cell.col + done % width}, value, type_);
  }

 private:
  void copy_times(std::uint64_t first, std::uint64_t n, std::byte* to, std::size_t step,
                  CellInBlock cell) const {
    for (std::uint64_t i = 0; i < n; ++i, to += step) {
      const auto ticks = static_cast<std::int64_t>(items_.bits(part_, first + i));
      const auto time = scale_.to_column(ticks);
      if (!time) store_.file().fail_changed("its times");  // all were looked at when it was opened
      std::byte value[8];
      store_le(value, *time);
      if (convert_cells(ValueType::i64, value, 0, type_, to, 0, 1) == 0) {
        fail_misfit(store_, entry_, {cell.row + i, cell.col}, value, type_);
      }
    }
  }

  const Store& store_;
  const Entry& entry_;
  std::uint32_t part_;
  const TickScale& scale_;
  const ItemRun& items_;
  ValueType type_;
};

void read_vectors(const Store& store, const Entry& entry, const Found& found, const Part& part,
                  const Target& out) {
  const Vectors vectors(found);
  const Copier copier(store, entry, found, vectors.items, out.type);
  const std::uint64_t size = found.column.codec.size, width = part.cols.size();
  const std::uint64_t first_slot = found.strip.first_slot + part.cols.begin;
  if (vectors.rows.all_dense() && width == size && out.row_step == width * out.col_step) {
    copier.copy(part.rows.begin * size, part.rows.size() * size, out.data, out.col_step,
                {part.rows.begin, 0}, width);
    return;
  }
  vectors.rows.each(part.rows, [&](const VectorRow& row) {
    std::byte* const to = out.cell(row.row - part.rows.begin, 0);
    const CellInBlock first{row.row, part.cols.begin};
    if (row.dense) {
      copier.copy(row.first_item + first_slot, width, to, out.col_step, first, width);
      return;
    }
    fill_zero({to, out.type, out.row_step, out.col_step}, 1, width);
    for (std::uint64_t i = 0; i < row.items; ++i) {
      const std::uint64_t col = row.slot(i) - first_slot;  // wraps for slots before it
      if (col >= width) continue;
      copier.copy(row.first_item + i, 1, to + col * out.col_step, out.col_step,
                  {first.row, first.col + col}, width);
    }
  });
}

void read(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  if (part.rows.empty() || part.cols.empty()) return;
  const Found place = find_place_of(store, entry);
  if (place.strip.texts != nullptr) return read_codes(store, entry, *place.strip.texts, part, out);
  const Found found = find_block(store, entry, part);
  if (found.column.codec.vector) return read_vectors(store, entry, found, part, out);
  const ItemRun items(found.bytes.reader(), found.item(), found.rows);
  Copier(store, entry, found, items, out.type)
      .copy(part.rows.begin, part.rows.size(), out.data, out.row_step, {part.rows.begin, 0}, 1);
}

DensePlace place_at(const std::byte* first, const Entry& entry, std::size_t step) {
  const std::size_t bytes =
      entry.rows == 0 ? 0 : (entry.rows - 1) * step + entry.cols * size_of(entry.value_type);
  return {{{first, bytes}, nullptr}, step};
}

std::optional<DensePlace> in_place(const Store& store, const Entry& entry) {
  const Found place = find_place_of(store, entry);
  if (place.column.compression != Compression::none || place.strip.texts != nullptr ||
      !place.strip.scale.is_identity()) {
    return std::nullopt;
  }
  const Found found = find_block(store, entry, all_of(entry));
  if (!found.column.codec.vector) {
    const ItemRun items(found.bytes.reader(), found.item(), found.rows);
    const ItemRun::Place first = items.place(found.strip.part, 0);
    if (first.data == nullptr) return std::nullopt;
    return place_at(first.data, entry, first.step);
  }
  const Vectors vectors(found);
  const ItemRun::Place first = vectors.items.place(found.strip.part, found.strip.first_slot);
  if (!vectors.rows.all_dense() || first.step != size_of(entry.value_type)) return std::nullopt;
  return place_at(first.data, entry, found.column.codec.size * first.step);
}

void entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  const Found found = find_block(store, entry, part);
  const Vectors vectors(found);
  const std::uint64_t first_slot = found.strip.first_slot + part.cols.begin;
  vectors.rows.each(part.rows, [&](const VectorRow& row) {
    for (std::uint64_t i = 0; i < row.items; ++i) {
      const std::uint64_t col = row.slot(i) - first_slot;
      if (col >= part.cols.size()) continue;
      take({entry.pos.rx + row.row, entry.pos.cx + part.cols.begin + col,
            vectors.items.bits(found.strip.part, row.first_item + i)});
    }
  });
}

}  // namespace

const detail::Driver kDriver = {
    .format = "idv",
    .is_recoded = is_compressed,
    .recode = inflate_entry,
    .read = read,
    .in_place = in_place,
    .entries = entries,
};

}  // namespace dapple::detail::idv
