#include "lib/rows/csr.h"

#include <cstring>
#include <limits>
#include <string>

#include "lib/base/bytes.h"
#include "lib/rows/row_stream.h"

namespace dapple::detail {

template <class Col>
CsrCollector<Col>::CsrCollector(std::uint64_t rows, std::uint64_t expected, const CsrOut<Col>& out)
    : out_(out) {
  out_.row_ptr.reset(rows + 1);
  out_.row_ptr[0] = 0;
  reserve(expected);
}

template <class Col>
void CsrCollector<Col>::prepare(std::uint64_t row, std::uint64_t rows, std::uint64_t entries) {
  std::uint64_t* const row_ptr = out_.row_ptr.data();
  if (row > row_) std::fill(row_ptr + row_ + 1, row_ptr + row + 1, size_);
  row_ = std::max(row_, row);
  if (entries <= room_ - size_) return;
  // If later rows are as long as those so far; but no more than a few times as much at once. Room
  // that is to spare costs nothing until it is touched, too little a copy of all that is there.
  constexpr double least = 1.25, most = 9, spare = 1.1;
  const double share =
      static_cast<double>(out_.row_ptr.size()) / static_cast<double>(row + rows + 1);
  const double growth = share <= 1 ? 1 : std::clamp(share * spare, least, most);
  reserve(static_cast<std::uint64_t>(static_cast<double>(size_ + entries) * growth));
}

template <class Col>
void CsrCollector<Col>::add(std::uint64_t row, std::uint64_t rows, const std::uint64_t* row_ptr,
                            const Col* cols, const std::byte* values) {
  const std::uint64_t count = row_ptr[rows];
  const std::size_t size = size_of(out_.type);
  prepare(row, rows, count);
  std::copy_n(cols, count, this->cols() + size_);
  std::copy_n(values, count * size, values_ + size_ * size);
  for (std::uint64_t i = 0; i < rows; ++i) ends(row)[i] = size_ + row_ptr[i + 1];
  added(row + rows, size_ + count);
}

template <class Col>
void CsrCollector<Col>::finish() {
  prepare(out_.row_ptr.size() - 1, 0, 0);
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

template <class Col>
void require_narrow(const Store& store, std::uint64_t n) {
  if (n == 0 || n - 1 <= std::numeric_limits<Col>::max()) return;
  throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
              "the numbers of " + std::to_string(n) + " columns do not fit 32 bits; ask for 64");
}

template void require_narrow<std::uint32_t>(const Store&, std::uint64_t);
template void require_narrow<std::uint64_t>(const Store&, std::uint64_t);

namespace {

/// Bands whose places are known are decoded where they belong, by any number of threads. Where
/// zeros turn out to be stored they hold fewer entries than that, and move together at the end.
template <class Col>
class InPlace {
 public:
  InPlace(RowStream& stream, std::uint64_t rows, const CsrOut<Col>& out)
      : stream_(stream), out_(out), size_(size_of(out.type)) {
    out_.row_ptr.reset(rows + 1);
    out_.col_idx.reset(*stream.stored());
    values_ = out_.resize_values(0, *stream.stored());
  }

  void run(unsigned threads) {
    auto slots = stream_.slots<Col>(threads);
    parallel_stream(
        threads, [&](unsigned worker) { return stream_.next(slots[worker].band); },
        [&](unsigned worker, Turn& turn) {
          const RowBand& band = slots[worker].band;
          RowSink<Col> sink{out_.col_idx.data(), values_, band.stored_before()};
          stream_.decode(band, slots[worker].reader, sink,
                         out_.row_ptr.data() + band.rows().begin + 1);
          const Band done{band.rows(), band.stored_before(), sink.size};
          turn.take([&] { close_gap(done); });
        });
    std::fill(out_.row_ptr.begin() + row_, out_.row_ptr.end(), end_);
    out_.col_idx.shorten(end_);
    out_.resize_values(end_, end_);
  }

 private:
  struct Band {
    Range rows;
    std::uint64_t begin, end;  // of its entries
  };

  /// Moves the band up to the one before it. In the order of rows.
  void close_gap(const Band& band) {
    std::uint64_t* const row_ptr = out_.row_ptr.data();
    std::fill(row_ptr + row_, row_ptr + band.rows.begin + 1, end_);
    const std::uint64_t gap = band.begin - end_, count = band.end - band.begin;
    if (gap > 0) {
      std::memmove(out_.col_idx.data() + end_, out_.col_idx.data() + band.begin,
                   count * sizeof(Col));
      std::memmove(values_ + end_ * size_, values_ + band.begin * size_, count * size_);
      for (std::uint64_t row = band.rows.begin; row < band.rows.end; ++row) row_ptr[row + 1] -= gap;
    }
    end_ += count;
    row_ = band.rows.end + 1;
  }

  RowStream& stream_;
  const CsrOut<Col>& out_;
  const std::size_t size_;  // of a value
  std::byte* values_;
  std::uint64_t row_ = 0;  // row pointers before it are right
  std::uint64_t end_ = 0;  // entries so far
};

}  // namespace

template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out) {
  // A pointer to each row and one to the end: more than there are numbers for.
  const std::uint64_t rows = region.rows.size();
  if (rows == std::numeric_limits<std::uint64_t>::max()) throw std::bad_alloc();
  RowStream stream(store, region, out.type, options.absent);
  if (stream.stored()) return InPlace<Col>(stream, rows, out).run(options.threads);
  CsrCollector<Col> collector(rows, stream.expected(), out);
  stream.for_each<Col>(options.threads, [&](BandArrays<Col>& band, unsigned, Turn& turn) {
    turn.take([&] {
      collector.add(band.rows.begin, band.rows.size(), band.row_ptr.data(), band.col_idx.data(),
                    band.values.data());
    });
  });
  collector.finish();
}

template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint32_t>&);
template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
