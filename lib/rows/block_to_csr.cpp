#include "lib/base/value_types.h"
#include "lib/object/block_rows.h"
#include "lib/rows/csr.h"

namespace dapple::detail {

template <Value T>
void block_to_csr(const Store& store, const Entry& e, Csr<T, std::uint32_t>& out) {
  const bool sparse = e.kind == BlockKind::csr || e.kind == BlockKind::coo;
  const auto fill = [&] {
    if (!sparse || store.driver().csr_arrays == nullptr)
      return collect_csr(store, e.cells(), {}, out);
    out.row_ptr.reset(std::size_t{e.rows} + 1);
    out.col_idx.reset(e.stored);
    out.values.reset(e.stored);
    RowCursor cursor;
    read_arrays(store, e, {0, e.rows}, cursor,
                {out.row_ptr.data(), out.col_idx.data(),
                 reinterpret_cast<std::byte*>(out.values.data()), value_type_of<T>(), e.stored});
    out.col_idx.shorten(out.row_ptr[e.rows]);
    out.values.shorten(out.row_ptr[e.rows]);
  };
  store.watched([&] { fill_memory(store, e.cells(), fill); }, &e);
}

#define DAPPLE_INSTANTIATE(T) \
  template void block_to_csr(const Store&, const Entry&, Csr<T, std::uint32_t>&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple::detail
