// What a C++ program would do, for bench.py to time beside Python: it is loaded with ctypes. Each
// function returns seconds, or -1 on an error.
#include <chrono>
#include <cstdint>
#include <span>

#include "dapple/gather.h"
#include "dapple/matrix.h"
#include "dapple/view.h"

namespace {

template <class F>
double seconds(const F& work) {
  using Clock = std::chrono::steady_clock;
  try {
    const Clock::time_point begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

extern "C" void* bench_open(const char* path) {
  try {
    return new dapple::Matrix(dapple::Matrix::open(path));
  } catch (const std::exception&) {
    return nullptr;
  }
}

extern "C" void bench_close(void* matrix) { delete static_cast<dapple::Matrix*>(matrix); }

extern "C" double bench_read(void* matrix, std::uint64_t row_begin, std::uint64_t row_end,
                             std::uint64_t col_begin, std::uint64_t col_end, double* out) {
  const dapple::Region region{{row_begin, row_end}, {col_begin, col_end}};
  const std::size_t size = region.rows.size() * region.cols.size();
  return seconds(
      [&] { static_cast<dapple::Matrix*>(matrix)->read<double>(region, std::span(out, size)); });
}

/// Gathers `batches` lists of `size` rows, one after the other, as a training loop would. `sum` is
/// of all values.
extern "C" double bench_gather(void* matrix, const std::uint64_t* rows, std::uint64_t batches,
                               std::uint64_t size, double* sum) {
  dapple::Csr<float> batch;
  *sum = 0;
  double total = 0;
  for (std::uint64_t k = 0; k < batches; ++k) {
    const double took = seconds([&] {
      dapple::gather_csr(*static_cast<dapple::Matrix*>(matrix), std::span(rows + k * size, size),
                         batch);
    });
    if (took < 0) return -1;
    total += took;
    for (const float value : batch.values) *sum += static_cast<double>(value);
  }
  return total;
}
