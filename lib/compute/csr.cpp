#include "lib/compute/csr.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "lib/compute/row_stream.h"

namespace dapple::detail {

template <class Col>
CsrCollector<Col>::CsrCollector(std::uint64_t rows, std::uint64_t expected, const CsrOut<Col>& out)
    : out_(out) {
  out_.row_ptr.reset(rows + 1);
  out_.row_ptr[0] = 0;
  reserve(expected);
}

template <class Col>
std::uint64_t CsrCollector<Col>::claim(Range rows, std::uint64_t entries) {
  const std::uint64_t base = size_;
  std::uint64_t* const row_ptr = out_.row_ptr.data();
  std::fill(row_ptr + row_ + 1, row_ptr + rows.begin + 1, base);
  if (entries > room_ - size_) {
    const std::unique_lock lock(moved_);
    reserve(std::max(size_ + entries, room_ + room_ / 2));
  }
  size_ += entries;
  row_ = rows.end;
  return base;
}

template <class Col>
void CsrCollector<Col>::finish() {
  std::fill(out_.row_ptr.begin() + row_ + 1, out_.row_ptr.end(), size_);
  out_.col_idx.shorten(size_);
  out_.resize_values(size_, size_);
}

template <class Col>
void CsrCollector<Col>::reserve(std::uint64_t room) {
  if (size_ == 0 || room <= out_.col_idx.capacity()) {
    out_.col_idx.reset(room);
  } else {
    Array<Col> larger(room);
    std::copy_n(out_.col_idx.data(), size_, larger.data());
    out_.col_idx.swap(larger);
  }
  values_ = out_.resize_values(size_, room);
  room_ = room;
}

template class CsrCollector<std::uint32_t>;
template class CsrCollector<std::uint64_t>;

void fail_memory(const Store& store, const Region& region) {
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              std::to_string(region.rows.size()) + " x " + std::to_string(region.cols.size()) +
                  " cells do not fit in memory");
}

template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out) {
  // A pointer to each row and one to the end: more than there are numbers for.
  if (region.rows.size() == std::numeric_limits<std::uint64_t>::max()) throw std::bad_alloc();
  RowStream stream(store, region, out.type, options.absent);
  CsrCollector<Col> collector(region.rows.size(), stream.expected(), out);
  stream.for_each(options.threads, [&](const RowBand& band, unsigned, Turn& turn) {
    collector.add(turn, band.rows(), band.entries(),
                  [&](std::uint64_t base, std::uint64_t* row_ptr, Col* cols, std::byte* values) {
                    band.place(base, row_ptr, cols, values);
                  });
  });
  collector.finish();
}

template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint32_t>&);
template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
