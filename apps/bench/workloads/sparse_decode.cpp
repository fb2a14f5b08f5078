// W7: one sparse block of 10^7 entries, decoded to cells, to three arrays, and used in place.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "harness/kernels.h"
#include "harness/page_cache.h"
#include "peers/hdf5_arrays.h"
#include "workloads/scipy_npz.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

std::uint32_t load_u32(const std::byte* p) {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// What is measured on: the block in a file, kept in memory, and its bytes as stored.
struct Bed {
  Bed(Session& session, const SparseShape& size, KindChoice kind)
      : shape(size),
        path(make_sparse_file(session, size, kind)),
        pin(path),
        matrix(Matrix::open(path)),
        block(matrix.block({0, 0})),
        stream(block.payload()),
        sum(sum_of(size)) {}

  SparseShape shape;
  std::filesystem::path path;
  Pin pin;
  Matrix matrix;
  Block block;
  std::span<const std::byte> stream;
  double sum;  // of all values
};

/// Entries that are looked at within the time.
template <class At>
double sample_entries(const SparseShape& shape, const At& at) {
  double sum = 0;
  for (std::uint32_t row = 0; row < shape.rows; row += 97) {
    sum += at(row, shape.col(row, row % shape.per_row));
  }
  return sum;
}

double expected_sample(const SparseShape& shape) {
  double sum = 0;
  for (std::uint32_t row = 0; row < shape.rows; row += 97) {
    sum += shape.value(row, row % shape.per_row);
  }
  return sum;
}

/// The plain way from CSR bytes to cells.
void scatter(const Bed& bed, std::vector<double>& cells) {
  const std::byte* p = bed.stream.data();
  for (std::uint32_t row = 0; row < bed.shape.rows; ++row) {
    double* const out = cells.data() + std::size_t{row} * bed.shape.cols;
    std::memset(out, 0, bed.shape.cols * sizeof(double));
    const std::uint32_t count = load_u32(p);
    p += 4;
    for (std::uint32_t k = 0; k < count; ++k, p += 12) out[load_u32(p)] = load_double(p + 4);
  }
}

void measure_to_cells(Session& session, const Bed& bed, const char* kind, bool plain_loop) {
  std::vector<double> cells(std::size_t{bed.shape.rows} * bed.shape.cols);
  std::vector<std::byte> copy(bed.stream.size());
  const auto at = [&](std::uint32_t row, std::uint32_t col) -> double& {
    return cells[std::size_t{row} * bed.shape.cols + col];
  };
  const auto forget = [&] {
    sample_entries(bed.shape, [&](auto row, auto col) { return at(row, col) = -1; });
  };
  const auto contender = [&](std::string name, Role role, std::string how, auto decode) {
    return Contender{std::move(name),
                     role,
                     std::move(how),
                     static_cast<double>(bed.stream.size()),
                     expected_sample(bed.shape),
                     [&, decode](Sample&) {
                       decode();
                       return sample_entries(bed.shape, at);
                     },
                     forget,
                     [&] { return sum_doubles(cells) == bed.sum; }};
  };
  Series series{fmt::format("{} to cells, warm memory (GB of stream)", kind),
                kGigabytesPerSecond,
                Cache::warm,
                {{"limit", 1 / 0.85}}};
  series.contenders.push_back({"memcpy of the stream, memset of the cells", Role::limit,
                               "what must be read, and what must be written",
                               static_cast<double>(bed.stream.size()), 0, [&](Sample&) {
                                 std::memcpy(copy.data(), bed.stream.data(), copy.size());
                                 std::memset(cells.data(), 0, cells.size() * sizeof(double));
                                 return cells[cells.size() / 2];
                               }});
  series.contenders.push_back(contender("dapple", Role::dapple, "block.decode<double>(cells)",
                                        [&] { bed.block.decode<double>(cells); }));
  if (plain_loop) {
    series.contenders.push_back(contender("plain loop", Role::aside,
                                          "row by row: memset, then a store per entry",
                                          [&] { scatter(bed, cells); }));
  }
  session.measure(series);
}

/// Three arrays in memory that was never touched, as a first reader gets it.
struct PlainArrays {
  explicit PlainArrays(const Bed& bed)
      : row_ptr(new std::uint64_t[bed.shape.rows + 1]),
        col_idx(new std::uint32_t[bed.shape.entries()]),
        values(new double[bed.shape.entries()]) {
    const std::byte* p = bed.stream.data();
    std::uint64_t n = 0;
    for (std::uint32_t row = 0; row < bed.shape.rows; ++row) {
      row_ptr[row] = n;
      const std::uint32_t count = load_u32(p);
      p += 4;
      for (std::uint32_t k = 0; k < count; ++k, p += 12, ++n) {
        col_idx[n] = load_u32(p);
        values[n] = load_double(p + 4);
      }
    }
    row_ptr[bed.shape.rows] = n;
  }
  std::unique_ptr<std::uint64_t[]> row_ptr;
  std::unique_ptr<std::uint32_t[]> col_idx;
  std::unique_ptr<double[]> values;
};

/// Looks at entries of three arrays, whose rows all have the same number of entries.
template <class Arrays>
double sample_arrays(const SparseShape& shape, const Arrays& arrays) {
  double sum = 0;
  for (std::uint32_t row = 0; row < shape.rows; row += 97) {
    const std::uint32_t k = row % shape.per_row;
    const std::uint64_t n = arrays.row_ptr[row] + k;
    if (arrays.col_idx[n] == shape.col(row, k)) sum += arrays.values[n];
  }
  return sum;
}

void measure_to_arrays(Session& session, const Bed& bed, const char* kind, bool is_csr) {
  std::vector<std::byte> copy(bed.stream.size());
  const auto contender = [&](std::string name, Role role, std::string how, auto make) {
    return Contender{std::move(name),
                     role,
                     std::move(how),
                     static_cast<double>(bed.stream.size()),
                     expected_sample(bed.shape),
                     [&bed, make](Sample&) { return sample_arrays(bed.shape, make()); }};
  };
  const auto memcpy_of_stream = [&] {
    return Contender{"memcpy of the stream, warm memory",
                     Role::limit,
                     "",
                     static_cast<double>(bed.stream.size()),
                     0,
                     [&](Sample&) {
                       std::memcpy(copy.data(), bed.stream.data(), copy.size());
                       return copy[0] == bed.stream[0] ? 0.0 : 1.0;
                     }};
  };
  Csr<double, std::uint32_t> reused;
  Series warm{fmt::format("{} to three arrays, warm memory (GB of stream)", kind),
              kGigabytesPerSecond,
              Cache::warm,
              {{"limit", 1 / 0.85}}};
  warm.contenders.push_back(memcpy_of_stream());
  warm.contenders.push_back(contender(
      "dapple", Role::dapple, "block.to_csr(reused)", [&]() -> const auto& {
        bed.block.to_csr(reused);
        return reused;
      }));
  session.measure(warm);

  Series series{fmt::format("{} to three arrays, fresh memory (GB of stream)", kind),
                kGigabytesPerSecond,
                Cache::warm,
                {{"plain loop", 1.0 / 3}, {"peer", 1}}};
  series.contenders.push_back(memcpy_of_stream());
  series.contenders.push_back(contender("dapple", Role::dapple, "block.to_csr<double>()",
                                        [&] { return bed.block.to_csr<double>(); }));
  series.contenders.push_back(
      contender("dapple, read_csr", Role::aside, "matrix.read_csr<double>(everything)", [&] {
        return bed.matrix.read_csr<double>({{0, bed.shape.rows}, {0, bed.shape.cols}});
      }));
  if (is_csr) {
    series.contenders.push_back(contender("plain loop", Role::aside,
                                          "new[] of three arrays, one pass over the entries",
                                          [&] { return PlainArrays(bed); }));
  }
  if constexpr (kHasHdf5) {
    const auto path =
        session.file(fmt::format("sparse32-{}-{}.h5", bed.shape.rows, bed.shape.per_row),
                     [&](const std::filesystem::path& to) {
                       const SparseArrays arrays = make_arrays(bed.shape);
                       write_hdf5_arrays(to, arrays.row_ptr, arrays.col_idx, arrays.values);
                     });
    series.contenders.push_back(contender("HDF5, three data sets", Role::peer,
                                          "contiguous, H5Dread into new memory",
                                          [path] { return read_hdf5_arrays(path); }));
  }
  if (is_csr) {
    if (auto scipy = scipy_reader(session, bed.shape, static_cast<double>(bed.stream.size()))) {
      series.contenders.push_back(*scipy);
    }
  }
  session.measure(series);
}

void measure_in_place(Session& session, const Bed& csr, const Bed& coo) {
  const auto contender = [](const Bed& bed, std::string name, Role role, std::string how,
                            auto sum) {
    return Contender{std::move(name), role,
                     std::move(how),  static_cast<double>(bed.stream.size()),
                     bed.sum,         [sum](Sample&) { return sum(); }};
  };
  const std::vector<Goal> goals = {{"limit", 1 / 0.85}};
  Series rows{"sum the entries of a CSR block in place", kGigabytesPerSecond, Cache::warm, goals};
  rows.contenders.push_back(contender(csr, "loop over the bytes", Role::limit, "", [&csr] {
    double sum = 0;
    const std::byte* p = csr.stream.data();
    for (std::uint32_t row = 0; row < csr.shape.rows; ++row) {
      const std::uint32_t count = load_u32(p);
      p += 4;
      for (std::uint32_t k = 0; k < count; ++k, p += 12) sum += load_double(p + 4);
    }
    return sum;
  }));
  rows.contenders.push_back(
      contender(csr, "dapple", Role::dapple, "for (row : block.csr_view<double>())", [&csr] {
        double sum = 0;
        for (const auto row : csr.block.csr_view<double>()) {
          for (std::uint32_t k = 0; k < row.size(); ++k) sum += row.value(k);
        }
        return sum;
      }));
  session.measure(rows);

  Series entries{"sum the entries of a COO block in place", kGigabytesPerSecond, Cache::warm,
                 goals};
  entries.contenders.push_back(contender(coo, "loop over the bytes", Role::limit, "", [&coo] {
    double sum = 0;
    const std::byte* p = coo.stream.data();
    for (std::uint64_t k = 0; k < coo.shape.entries(); ++k, p += 16) sum += load_double(p + 8);
    return sum;
  }));
  entries.contenders.push_back(
      contender(coo, "dapple", Role::dapple, "for (entry : block.coo_view<double>())", [&coo] {
        double sum = 0;
        for (const auto entry : coo.block.coo_view<double>()) sum += entry.value;
        return sum;
      }));
  session.measure(entries);
}

}  // namespace

void run_w7(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{1000, 100, 10} : SparseShape{100'000, 1000, 100};
  session.describe(
      fmt::format("{} entries in {} x {} f64, one block", shape.entries(), shape.rows, shape.cols));
  const Bed csr(session, shape, KindChoice::csr), coo(session, shape, KindChoice::coo);
  measure_to_cells(session, csr, "CSR", true);
  measure_to_cells(session, coo, "COO", false);
  measure_to_arrays(session, csr, "CSR", true);
  measure_to_arrays(session, coo, "COO", false);
  measure_in_place(session, csr, coo);
  session.remark("decoding to cells writes far more bytes than the stream has: the limit does too");
}

}  // namespace dapple::bench
