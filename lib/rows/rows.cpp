#include "dapple/rows.h"

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "lib/base/parallel.h"
#include "lib/rows/row_stream.h"

namespace dapple {

namespace detail {

template <class Col>
struct BandReader<Col>::Impl {
  std::shared_ptr<const Store> store;
  std::uint64_t rows;
  unsigned threads;
  RowStream stream;
  std::vector<BandSlot<Col>> slots;
  std::size_t filled = 0, taken = 0;
  std::exception_ptr error;  // thrown again: the stream has passed the rows that it is about

  Impl(std::shared_ptr<const Store> s, const Region& region, ValueType type,
       const ReadOptions& options)
      : store(std::move(s)),
        rows(region.rows.size()),
        threads(options.threads),
        stream(*store, region, type, options.absent),
        slots(stream.template slots<Col>(threads)) {}

  void fill() try {
    if (error) std::rethrow_exception(error);
    std::size_t n = 0;
    while (n < slots.size() && stream.next(slots[n].band)) ++n;
    parallel_for(n, threads, [&](std::uint64_t i) {
      stream.decode(slots[i].band, slots[i].reader, slots[i].arrays);
    });
    filled = n;
    taken = 0;
  } catch (...) {
    error = std::current_exception();
    throw;
  }
};

template <class Col>
BandReader<Col>::BandReader(std::shared_ptr<const Store> store, const Region& region,
                            ValueType type, const ReadOptions& options)
    : impl_(std::make_unique<Impl>(std::move(store), region, type, options)) {}

template <class Col>
BandReader<Col>::~BandReader() = default;
template <class Col>
BandReader<Col>::BandReader(BandReader&&) noexcept = default;
template <class Col>
BandReader<Col>& BandReader<Col>::operator=(BandReader&&) noexcept = default;

template <class Col>
std::uint64_t BandReader<Col>::rows() const noexcept {
  return impl_->rows;
}

template <class Col>
bool BandReader<Col>::next(Band& band) {
  if (impl_->taken == impl_->filled) impl_->fill();
  if (impl_->filled == 0) return false;
  const BandArrays<Col>& from = impl_->slots[impl_->taken++].arrays;
  band = {from.rows.begin, from.rows.size(), from.row_ptr.data(), from.col_idx.data(),
          from.values.data()};
  return true;
}

template class BandReader<std::uint32_t>;
template class BandReader<std::uint64_t>;

}  // namespace detail

}  // namespace dapple
