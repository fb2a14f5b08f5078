#include "dapple/block.h"

#include <algorithm>
#include <limits>

#include "lib/object/store.h"
#include "lib/object/target.h"

namespace dapple {

using detail::Entry;

namespace {

std::string stored_as(const Entry& e) {
  return std::string(name(e.kind)) +
         (e.kind == BlockKind::empty ? "" : " of " + std::string(name(e.value_type)));
}

[[noreturn]] void fail_kind(const detail::Store& store, const Entry& e, BlockKind kind,
                            ValueType type) {
  store.fail(Errc::type_mismatch, e.offset,
             "block " + detail::text(e.pos) + " is stored as " + stored_as(e) +
                 " and cannot be viewed as " + std::string(name(kind)) + " of " +
                 std::string(name(type)) + "; decode it");
}

/// Throws type_mismatch for a block whose bytes are not those of its cells.
void require_plain(const detail::Store& store, const Entry& e) {
  if (e.codec == 0) return;
  store.fail(Errc::type_mismatch, e.offset,
             "block " + detail::text(e.pos) +
                 " is packed and cannot be viewed; decode it (Block::cells, Block::rows, "
                 "Matrix::read), or write the file again without packing");
}

}  // namespace

BlockInfo Block::info() const { return store().fetched_entry(number_).info(); }

std::span<const std::byte> Block::payload() const {
  const Entry e = store().fetched_entry(number_);
  require_plain(store(), e);
  if (const auto bytes = store().payload_in_place(e)) return *bytes;
  store().fail(Errc::type_mismatch, e.offset,
               "the bytes of block " + detail::text(e.pos) +
                   " are in no map and cannot be viewed; decode it");
}

Block::DenseBytes Block::dense_bytes(ValueType wanted) const {
  if (const auto cells = store().cells_in_place(number_, wanted)) {
    return {cells->data, cells->rows, cells->cols, cells->row_bytes};
  }
  const Entry e = store().fetched_entry(number_);
  if (e.kind == BlockKind::dense && e.value_type == wanted) {
    require_plain(store(), e);
    store().fail(Errc::type_mismatch, e.offset,
                 "values of the format " + std::string(store().format()) +
                     " cannot be viewed in place; decode them");
  }
  fail_kind(store(), e, BlockKind::dense, wanted);
}

Block::SparseBytes Block::sparse_bytes(BlockKind wanted_kind, ValueType wanted) const {
  const Entry e = store().fetched_entry(number_);
  if (e.kind != wanted_kind || e.value_type != wanted || !store().driver().sparse_in_place) {
    fail_kind(store(), e, wanted_kind, wanted);
  }
  require_plain(store(), e);
  const auto bytes = store().payload_in_place(e);
  if (!bytes) fail_kind(store(), e, wanted_kind, wanted);
  return {bytes->data(), bytes->size(), e.rows, e.cols, e.stored};
}

void Block::decode_to(void* out, std::size_t size, std::size_t row_stride, ValueType type) const {
  const Entry e = store().fetched_entry(number_);
  const detail::Target target = detail::target_for(out, size, row_stride, type, e.rows, e.cols)
                                    .streamed_if_large(e.rows, e.cols);
  store().watched([&] { store().read_block(e, {{0, e.rows}, {0, e.cols}}, target); }, &e);
}

namespace detail {

namespace {

std::unique_ptr<std::byte, FreeArray> array_for(const Store& store, const Entry& e,
                                                ValueType type) {
  try {
    std::uint64_t size = 0;
    if (!multiply(std::uint64_t{e.rows} * e.cols, size_of(type), size)) throw std::bad_alloc();
    return std::unique_ptr<std::byte, FreeArray>(static_cast<std::byte*>(allocate_array(size)));
  } catch (const std::bad_alloc&) {
    store.fail(Errc::no_memory, e.offset,
               "the " + std::to_string(e.rows) + " x " + std::to_string(e.cols) +
                   " cells of block " + text(e.pos) + " do not fit in memory");
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
  auto* const memory = static_cast<std::byte*>(allocate_array(cells.rows * row_bytes));
  for (std::uint64_t r = 0; r < cells.rows; ++r) {
    std::memcpy(memory + r * row_bytes, cells.data + r * cells.row_bytes, row_bytes);
  }
  return {memory, cells.rows, cells.cols, row_bytes, memory};
}

void free_cells(void* owned) noexcept { FreeArray()(owned); }

}  // namespace detail

}  // namespace dapple
