#include "dapple/block.h"
#include "lib/base/value_types.h"
#include "lib/object/store.h"
#include "lib/rows/csr.h"

namespace dapple {

template <Value T>
void Block::to_csr(Csr<T, std::uint32_t>& out) const {
  const detail::Entry e = store().fetched_entry(number_);
  const auto arrays_of = store().driver().csr_arrays;
  const bool sparse = e.kind == BlockKind::csr || e.kind == BlockKind::coo;
  const auto fill = [&] {
    if (!sparse || arrays_of == nullptr) return detail::collect_csr(store(), e.cells(), {}, out);
    out.row_ptr.reset(std::size_t{e.rows} + 1);
    out.col_idx.reset(e.stored);
    out.values.reset(e.stored);
    detail::RowCursor cursor;
    arrays_of(store(), e, {0, e.rows}, cursor,
              {out.row_ptr.data(), out.col_idx.data(),
               reinterpret_cast<std::byte*>(out.values.data()), value_type_of<T>(), e.stored});
    out.col_idx.shorten(out.row_ptr[e.rows]);
    out.values.shorten(out.row_ptr[e.rows]);
  };
  store().watched([&] { detail::fill_memory(store(), e.cells(), fill); }, &e);
}

#define DAPPLE_INSTANTIATE(T) template void Block::to_csr(Csr<T, std::uint32_t>&) const;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
