#include "lib/compute/csr.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <shared_mutex>

#include "lib/base/parallel.h"
#include "lib/compute/row_stream.h"

namespace dapple::detail {

namespace {

/// The result as it grows. Bands take their places in turn, and fill them at the same time.
template <class Col>
class Collector {
 public:
  Collector(const Region& region, std::uint64_t expected, const CsrOut<Col>& out) : out_(out) {
    out_.row_ptr.reset(region.rows.size() + 1);
    out_.row_ptr[0] = 0;
    reserve(expected);
  }

  void take(const RowBand& band, Turn& turn) {
    std::uint64_t base = 0, empty = 0;
    turn.take([&] {
      base = size_;
      empty = row_;
      if (band.entries() > room_ - size_) {
        const std::unique_lock lock(moved_);
        reserve(std::max(size_ + band.entries(), room_ + room_ / 2));
      }
      size_ += band.entries();
      row_ = band.rows().end;
    });
    std::uint64_t* const row_ptr = out_.row_ptr.data();
    std::fill(row_ptr + empty + 1, row_ptr + band.rows().begin + 1, base);
    const std::shared_lock lock(moved_);
    band.place(base, row_ptr + band.rows().begin, out_.col_idx.data() + base,
               values_ + base * size_of(out_.type));
  }

  void finish() {
    std::fill(out_.row_ptr.begin() + row_ + 1, out_.row_ptr.end(), size_);
    out_.col_idx.shorten(size_);
    out_.resize_values(size_, size_);
  }

 private:
  void reserve(std::uint64_t room) {
    if (size_ == 0) {
      out_.col_idx.reset(room);
    } else {
      Array<Col> larger(room);
      std::copy_n(out_.col_idx.data(), size_, larger.data());
      out_.col_idx.swap(larger);
    }
    values_ = out_.resize_values(size_, room);
    room_ = room;
  }

  const CsrOut<Col>& out_;
  std::shared_mutex moved_;  // shared by those who fill the arrays: they must stay where they are
  std::byte* values_ = nullptr;
  std::uint64_t room_ = 0;  // entries that the arrays can take,
  std::uint64_t size_ = 0;  //   and that have a place
  std::uint64_t row_ = 0;   // rows above it have one
};

}  // namespace

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
  Collector<Col> collector(region, stream.expected(), out);
  stream.for_each(options.threads,
                  [&](const RowBand& band, unsigned, Turn& turn) { collector.take(band, turn); });
  collector.finish();
}

template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint32_t>&);
template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
