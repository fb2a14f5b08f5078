#include "dapple/matrix.h"

#include "lib/base/value_types.h"
#include "lib/object/store.h"
#include "lib/rows/csr.h"

namespace dapple {

ValueType Matrix::value_type() const noexcept { return store_->schema().value_type; }
Storage Matrix::storage() const noexcept { return store_->schema().storage; }
const ColumnGroup* Matrix::group() const& noexcept { return store_->schema().group.get(); }

template <Value T>
std::vector<T> Matrix::read(const Region& region, const ReadOptions& options) const {
  return detail::fill_memory(*store_, region, [&] {
    std::vector<T> out(detail::count_of_cells(*store_, region));
    read(region, std::span<T>(out), 0, options);
    return out;
  });
}

template <Value T, class Col>
Csr<T, Col> Matrix::read_csr(const Region& region, const ReadOptions& options) const {
  Csr<T, Col> out;
  detail::read_csr(*store_, region, options, out);
  return out;
}

#define DAPPLE_INSTANTIATE(T)                                                               \
  template std::vector<T> Matrix::read(const Region&, const ReadOptions&) const;            \
  template Csr<T, std::uint32_t> Matrix::read_csr(const Region&, const ReadOptions&) const; \
  template Csr<T, std::uint64_t> Matrix::read_csr(const Region&, const ReadOptions&) const;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
