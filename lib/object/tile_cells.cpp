// The cells of a block as one array: in place, or decoded into memory of their own.

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "dapple/array.h"
#include "dapple/detail.h"
#include "dapple/tiles.h"
#include "lib/base/bytes.h"
#include "lib/object/store.h"

namespace dapple::detail {

namespace {

/// Throws bad_alloc. The number of cells fits 64 bits; that of their bytes may not.
std::byte* allocate_cells(std::uint64_t cells, std::size_t size) {
  std::uint64_t bytes = 0;
  if (!multiply(cells, size, bytes)) throw std::bad_alloc();
  return static_cast<std::byte*>(allocate_array(bytes));
}

std::unique_ptr<std::byte, FreeArray> array_for(const Store& store, const Entry& e,
                                                ValueType type) {
  try {
    return std::unique_ptr<std::byte, FreeArray>(
        allocate_cells(std::uint64_t{e.rows} * e.cols, size_of(type)));
  } catch (const std::bad_alloc&) {
    store.fail(Errc::no_memory, e.offset,
               "the " + extents_text(e.rows, e.cols) + " cells of block " + text(e.pos) +
                   " do not fit in memory");
  }
}

}  // namespace

std::optional<FetchedCells> Store::cells_in_place(std::uint64_t number, ValueType type) const {
  const auto& grid = index_.grid();
  if (const std::byte* values = checked_.values(number, type)) {
    return FetchedCells{values, grid->tile.rows, grid->tile.cols, grid->tile.cols * size_of(type)};
  }
  const Entry e = fetched_entry(number);
  if (e.kind != BlockKind::dense || e.value_type != type || driver_->in_place == nullptr) {
    return std::nullopt;
  }
  const auto place = driver_->in_place(*this, e);
  if (!place) return std::nullopt;
  if (place->held.is_mapped()) return FetchedCells{place->data(), e.rows, e.cols, place->row_step};
  const auto bytes = driver_->dense_header < 0 ? std::nullopt : payload_in_place(e);
  if (!bytes) return std::nullopt;
  return FetchedCells{bytes->data(), e.rows, e.cols, place->row_step};
}

FetchedCells Store::cells(std::uint64_t number, ValueType type, Copy copy) const {
  if (const auto cells = cells_in_place(number, type)) return *cells;
  const Entry e = fetched_entry(number);
  if (e.kind == BlockKind::empty) {  // every row is the same one
    const std::uint64_t longest = std::min(schema_.cols, std::uint64_t{1} << 32);
    return {zeros_.get(longest * sizeof(std::uint64_t)), e.rows, e.cols, 0};
  }
  if (copy == Copy::forbidden) {
    fail(Errc::type_mismatch, e.offset,
         "block " + text(e.pos) + " is stored as " + stored_as(e) + ": reading it as " +
             std::string(name(type)) + " takes a copy, which was forbidden");
  }
  auto memory = array_for(*this, e, type);
  const std::size_t row_bytes = e.cols * size_of(type);
  Target target =
      Target{memory.get(), type, row_bytes, size_of(type)}.streamed_if_large(e.rows, e.cols);
  watched([&] { read_block(e, {{0, e.rows}, {0, e.cols}}, target); }, &e);
  FetchedCells cells{memory.get(), e.rows, e.cols, row_bytes};
  cells.owned = memory.release();
  return cells;
}

FetchedCells fetch_tile(const Store* store, std::uint64_t i, std::uint64_t j, ValueType type,
                        Copy copy) {
  store->tile(i, j);
  return store->cells(i * store->index().grid()->cols + j, type, copy);
}

FetchedCells fetch_cells(const Store* store, std::uint64_t number, ValueType type, Copy copy) {
  return store->cells(number, type, copy);
}

FetchedCells copy_cells(const FetchedCells& cells, std::size_t size, Copy copy) {
  if (copy == Copy::forbidden) {
    throw Error(Errc::type_mismatch,
                "the cells are not one aligned array in the file, and a copy was forbidden");
  }
  const std::size_t row_bytes = cells.cols * size;
  std::byte* const memory = allocate_cells(cells.rows * cells.cols, size);
  for (std::uint64_t r = 0; r < cells.rows; ++r) {
    std::memcpy(memory + r * row_bytes, cells.data + r * cells.row_bytes, row_bytes);
  }
  return {memory, cells.rows, cells.cols, row_bytes, memory};
}

void free_cells(void* owned) noexcept { FreeArray()(owned); }

}  // namespace dapple::detail
