#include "dapple/block.h"

#include <memory>

#include "dapple/rows.h"
#include "lib/base/value_types.h"
#include "lib/object/store.h"
#include "lib/object/target.h"
#include "lib/rows/csr.h"

namespace dapple {

using detail::Entry;

namespace {

[[noreturn]] void fail_kind(const detail::Store& store, const Entry& e, BlockKind kind,
                            ValueType type) {
  store.fail(Errc::type_mismatch, e.offset,
             "block " + detail::text(e.pos) + " is stored as " + detail::stored_as(e) +
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

template <Value T>
void Block::to_csr(Csr<T, std::uint32_t>& out) const {
  detail::block_to_csr(store(), store().fetched_entry(number_), out);
}

detail::BandReader<std::uint32_t> Block::row_bands(ValueType type) const {
  // Borrowed, as the block is.
  const std::shared_ptr<const detail::Store> borrowed(std::shared_ptr<void>(), &store());
  return {borrowed, store().fetched_entry(number_).cells(), type, {}};
}

#define DAPPLE_INSTANTIATE(T) template void Block::to_csr(Csr<T, std::uint32_t>&) const;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
