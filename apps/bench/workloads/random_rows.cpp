// W15: rows, columns and cells at random, and a whole sparse matrix as three arrays.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/page_cache.h"
#include "harness/raw_file.h"
#include "peers/hdf5_arrays.h"
#include "peers/python_peers.h"
#include "workloads/cells_file.h"
#include "workloads/cold_rows.h"
#include "workloads/scipy_npz.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;
using Rows = std::span<const std::uint64_t>;

constexpr Cut kCuts[] = {Cut::one_block, Cut::default_tiles};

std::vector<std::uint64_t> random_numbers(std::uint64_t seed, std::uint64_t limit, std::size_t n) {
  Random random(seed);
  std::vector<std::uint64_t> numbers(n);
  for (std::uint64_t& number : numbers) number = random.below(limit);
  return numbers;
}

/// A list of numbers for contenders that are other programs.
Path make_list(const Session& session, std::uint64_t limit, Rows numbers) {
  return session.file(fmt::format("rows-{}-{}", limit, numbers.size()), [&](const Path& path) {
    RawFile(path, RawFile::For::writing).write_at(0, std::as_bytes(numbers));
  });
}

/// What every contender adds up: the entries of each batch, its first and its last value.
double expected_batches(const SparseShape& shape, Rows rows, std::size_t batch) {
  double sum = static_cast<double>(rows.size() * shape.per_row);
  for (std::size_t i = 0; i < rows.size(); i += batch) {
    sum += shape.value(static_cast<std::uint32_t>(rows[i]), 0);
    sum += shape.value(static_cast<std::uint32_t>(rows[i + batch - 1]), shape.per_row - 1);
  }
  return sum;
}

Contender gatherer(std::string name, Role role, const Matrix& matrix, const SparseShape& shape,
                   Rows rows, std::size_t batch, unsigned threads) {
  const auto out = std::make_shared<Csr<float>>();
  const auto run = [&matrix, rows, batch, threads, out](Sample&) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); i += batch) {
      gather_csr(matrix, rows.subspan(i, batch), *out, {.threads = threads});
      sum += static_cast<double>(out->row_ptr[batch]) + out->values[0] +
             out->values[out->values.size() - 1];
    }
    return sum;
  };
  return {std::move(name),
          role,
          fmt::format("gather_csr<float>, {} thread{}", threads, threads == 1 ? "" : "s"),
          static_cast<double>(rows.size()),
          expected_batches(shape, rows, batch),
          run};
}

struct SparseBed {
  SparseBed(Session& session, const SparseShape& size, Cut cut)
      : path(make_narrow_file(session, size, cut)), pin(path), matrix(Matrix::open(path)) {}
  Path path;
  Pin pin;
  Matrix matrix;
};

void add_row_peers(Session& session, Series& series, const SparseShape& shape, Rows rows,
                   std::size_t batch) {
  PythonPeers& python = session.python();
  const Path list = make_list(session, shape.rows, rows);
  const nlohmann::json request = {{"list", list.string()}, {"batch", batch}};
  const double expected = expected_batches(shape, rows, batch);
  if (python.has("scipy")) {
    auto scipy = request;
    scipy.update({{"do", "take_rows"},
                  {"count", rows.size()},
                  {"arrays", make_arrays_file(session, shape).string()},
                  {"rows", shape.rows},
                  {"cols", shape.cols},
                  {"entries", shape.entries()},
                  {"dtype", "<f4"}});
    series.contenders.push_back(python.contender({"SciPy",
                                                  Role::peer,
                                                  "csr_matrix of f32 in memory, m[rows]",
                                                  static_cast<double>(rows.size()),
                                                  expected,
                                                  {}},
                                                 scipy));
  }
  if (!python.has("h5py") || !kHasHdf5) return;
  if constexpr (kHasHdf5) {
    const Path path = session.file(
        fmt::format("sparse-{}-{}.h5", shape.rows, shape.per_row), [&](const Path& to) {
          const SparseArrays arrays = make_arrays(shape);
          write_hdf5_arrays(to, arrays.row_ptr, arrays.col_idx, arrays.values);
        });
    const Rows few = rows.first(batch);  // it takes a hundred times as long
    auto h5py = request;
    h5py.update({{"do", "read_rows"}, {"count", few.size()}, {"file", path.string()}});
    series.contenders.push_back(python.contender({"h5py",
                                                  Role::peer,
                                                  "two slices for each row",
                                                  static_cast<double>(few.size()),
                                                  expected_batches(shape, few, batch),
                                                  {}},
                                                 h5py));
  }
}

void measure_rows(Session& session, const SparseShape& shape, Cut cut, std::size_t batch) {
  const SparseBed bed(session, shape, cut);
  const auto rows =
      random_numbers(15, shape.rows, batch * session.sized<std::size_t>(4096 / batch, 1) * 4);
  Series series{
      fmt::format("rows of CSR, {} a row, {}, batches of {}", shape.per_row, name_of(cut), batch),
      kMicroseconds,
      Cache::warm,
      {{"SciPy", 1}, {"h5py", 0.01}}};
  if (shape.per_row >= 1500) series.goals.push_back({"", 10});
  series.contenders.push_back(gatherer("dapple", Role::dapple, bed.matrix, shape, rows, batch, 1));
  add_row_peers(session, series, shape, rows, batch);
  session.measure(series);
}

void measure_two_threads(Session& session, const SparseShape& shape, Cut cut) {
  const SparseBed bed(session, shape, cut);
  const std::size_t batch = session.sized<std::size_t>(4096, 64);
  const auto rows = random_numbers(15, shape.rows, batch * 4);
  Series series{fmt::format("rows of CSR, {} a row, {}, 2 threads", shape.per_row, name_of(cut)),
                kMicroseconds,
                Cache::warm,
                {{"1 thread", 1 / 1.8}}};
  series.contenders.push_back(gatherer("1 thread", Role::aside, bed.matrix, shape, rows, batch, 1));
  series.contenders.push_back(gatherer("dapple", Role::dapple, bed.matrix, shape, rows, batch, 2));
  session.measure(series);
}

/// Rows and columns of one file against files laid out for one of them. The file has a copy by
/// column, and tiles as wide as the matrix, which who needs both axes would choose then.
void measure_both_axes(Session& session, const SparseShape& shape) {
  const SparseBed tiles(session, shape, Cut::default_tiles);
  const SparseBed both(session, shape, Cut::wide_tiles);
  if (column_copy_state(both.matrix) != ColumnCopyState::fresh) write_column_copy(both.path);
  const Pin copy(column_copy_path(both.path));
  const SparseBed by_row(session, shape, Cut::one_block);
  const Path transposed = session.file(
      fmt::format("narrow-{}-{}-{}-by-column.dbdf", shape.rows, shape.cols, shape.per_row),
      [&](const Path& path) {
        auto writer =
            MatrixWriter::create(path, shape.cols, shape.rows, ValueType::f64,
                                 {.tile = TileShape{shape.cols, shape.rows}}, Storage::csr);
        const SparseArrays arrays = make_arrays(shape);
        std::vector<Triplet<double>> entries;
        for (std::uint32_t row = 0; row < shape.rows; ++row) {
          for (std::uint64_t k = arrays.row_ptr[row]; k < arrays.row_ptr[row + 1]; ++k) {
            entries.push_back({arrays.col_idx[k], row, arrays.values[k]});
          }
        }
        writer.put<double>({0, 0}, {shape.cols, shape.rows}, entries);
        writer.finish();
      });
  const Pin pin(transposed);
  const Matrix by_column = Matrix::open(transposed);

  const auto rows = random_numbers(16, shape.rows, session.sized<std::size_t>(10'000, 100));
  Series down{
      "10,000 random rows of a file for both axes", kMicroseconds, Cache::warm, {{"limit", 2}}};
  down.contenders.push_back(
      gatherer("a block of rows", Role::limit, by_row.matrix, shape, rows, rows.size(), 1));
  down.contenders.push_back(
      gatherer("dapple", Role::dapple, both.matrix, shape, rows, rows.size(), 1));
  down.contenders.push_back(
      gatherer("default tiles", Role::aside, tiles.matrix, shape, rows, rows.size(), 1));
  session.measure(down);

  const auto cols = random_numbers(17, shape.cols, 10);
  double expected = 0;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (const std::uint64_t col : cols) {
      const auto k = static_cast<std::uint32_t>(col / (shape.cols / shape.per_row));
      if (k < shape.per_row && shape.col(row, k) == col) expected += shape.value(row, k);
    }
  }
  Csr<float> column;
  Series across{
      "10 random columns of a file for both axes", kMicroseconds, Cache::warm, {{"limit", 2}}};
  const auto contender = [&](std::string name, Role role, std::string how, const auto& gather) {
    return Contender{std::move(name),
                     role,
                     std::move(how),
                     static_cast<double>(cols.size()),
                     expected,
                     [&, gather](Sample&) {
                       double sum = 0;
                       gather();
                       for (const float value : column.values) sum += value;
                       return sum;
                     }};
  };
  across.contenders.push_back(contender("a block of columns", Role::limit,
                                        "gather_csr<float> of its rows",
                                        [&] { gather_csr(by_column, Rows(cols), column); }));
  across.contenders.push_back(contender("dapple", Role::dapple,
                                        "gather_columns<float>, with a copy by column",
                                        [&] { gather_columns(both.matrix, Rows(cols), column); }));
  across.contenders.push_back(contender("default tiles", Role::aside,
                                        "gather_columns<float>, without a copy",
                                        [&] { gather_columns(tiles.matrix, Rows(cols), column); }));
  session.measure(across);
}

void measure_whole(Session& session, const SparseShape& shape, Cut cut) {
  const SparseBed bed(session, shape, cut);
  const auto reader = [&](std::string name, Role role, unsigned threads) {
    return Contender{std::move(name),
                     role,
                     fmt::format("read_csr<float>, {} thread{}", threads, threads == 1 ? "" : "s"),
                     1,
                     sum_of(shape),
                     [&, threads](Sample&) {
                       const auto all = bed.matrix.read_csr<float>(
                           {{0, shape.rows}, {0, shape.cols}}, {.threads = threads});
                       double sum = 0;
                       for (const float value : all.values) sum += value;
                       return sum;
                     }};
  };
  Series series{fmt::format("whole to three arrays, {}", name_of(cut)),
                kMilliseconds,
                Cache::warm,
                {{"SciPy", 1}, {"1 thread", 1 / 1.8}}};
  series.contenders.push_back(reader("1 thread", Role::aside, 1));
  series.contenders.push_back(reader("dapple", Role::dapple, 2));
  if (auto scipy = scipy_reader(session, shape, 1)) {
    scipy->name = "SciPy load_npz";
    series.contenders.push_back(*scipy);
  }
  session.measure(series);
}

void measure_dense(Session& session, std::uint64_t rows, std::uint64_t cols) {
  const auto value = [](std::uint64_t row, std::uint64_t col) {
    return static_cast<float>(cell(row, col)) + 0.5F;
  };
  const Path path = session.file(fmt::format("dense-rows-{}.dbdf", rows), [&](const Path& to) {
    const auto width = static_cast<std::uint32_t>(cols);
    const TileShape tile = default_tile(rows, cols);
    auto writer = MatrixWriter::create(to, rows, cols, ValueType::f32);
    std::vector<float> cells(tile.rows * cols);
    for (std::uint64_t row = 0; row < rows; row += tile.rows) {
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.rows, rows - row));
      for (std::uint64_t k = 0; k < n * cols; ++k) cells[k] = value(row + k / cols, k % cols);
      for (std::uint32_t col = 0; col < width; col += tile.cols) {
        writer.put<float>({row, col},
                          {cells.data() + col, n, std::min(tile.cols, width - col), width});
      }
    }
    writer.finish();
  });
  const Path npy = session.file(fmt::format("dense-rows-{}.npy", rows),
                                [&](const Path& to) { convert_file(path, to, "npy"); });
  const Pin pins[] = {Pin(path), Pin(npy)};
  const Matrix matrix = Matrix::open(path);
  const RawMap raw(npy, RawMap::Fill::now);
  const std::byte* const cells = raw.data() + raw.size() - rows * cols * sizeof(float);

  const std::size_t batch = session.sized<std::size_t>(4096, 64);
  const auto list = random_numbers(18, rows, batch * session.sized<std::size_t>(16, 1));
  double expected = 0;
  for (std::size_t i = 0; i < list.size(); i += batch) {
    expected += value(list[i], 0) + value(list[i + batch - 1], cols - 1);
  }
  std::vector<float> out(batch * cols);
  const auto contender = [&](std::string name, Role role, std::string how, auto gather) {
    return Contender{std::move(name),
                     role,
                     std::move(how),
                     static_cast<double>(list.size()),
                     expected,
                     [&, gather](Sample&) {
                       double sum = 0;
                       for (std::size_t i = 0; i < list.size(); i += batch) {
                         gather(Rows(list).subspan(i, batch));
                         sum += static_cast<double>(out.front()) + out.back();
                       }
                       return sum;
                     }};
  };
  Series series{"rows of dense f32, batches of 4096",
                kNanoseconds,
                Cache::warm,
                {{"numpy", 1.0 / 3}, {"limit", 1 / 0.9}}};
  series.contenders.push_back(
      contender("memcpy", Role::limit, "eight rows prefetched ahead", [&](Rows some) {
        const auto at = [&](std::size_t k) { return cells + some[k] * cols * sizeof(float); };
        for (std::size_t k = 0; k < some.size(); ++k) {
          if (k + 8 < some.size()) {
            for (std::size_t i = 0; i < cols * sizeof(float); i += 64) {
              __builtin_prefetch(at(k + 8) + i);
            }
          }
          std::memcpy(out.data() + k * cols, at(k), cols * sizeof(float));
        }
      }));
  series.contenders.push_back(
      contender("dapple", Role::dapple, "gather_rows<float>",
                [&](Rows some) { gather_rows(matrix, some, std::span(out)); }));
  if (session.python().has("numpy")) {
    series.contenders.push_back(session.python().contender(
        {"numpy", Role::peer, "memmap, m[rows]", static_cast<double>(list.size()), expected, {}},
        {{"do", "take_dense_rows"},
         {"file", npy.string()},
         {"list", make_list(session, rows, list).string()},
         {"count", list.size()},
         {"batch", batch}}));
  }
  session.measure(series);

  std::vector<CellPos> where(session.sized<std::size_t>(1'000'000, 1000));
  Random random(19);
  double sum = 0;
  for (CellPos& at : where) {
    at = {random.below(rows), random.below(cols)};
    sum += value(at.row, at.col);
  }
  std::vector<float> found(where.size());
  Series single{"cells of dense f32", kNanoseconds, Cache::warm, {{"", 60}}};
  single.contenders.push_back({"dapple", Role::dapple, "gather_cells<float>",
                               static_cast<double>(where.size()), sum, [&](Sample&) {
                                 gather_cells(matrix, std::span<const CellPos>(where),
                                              std::span(found));
                                 double total = 0;
                                 for (const float f : found) total += f;
                                 return total;
                               }});
  session.measure(single);
}

}  // namespace

void run_w15(Session& session) {
  const SparseShape few =
      session.quick() ? SparseShape{2000, 400, 10} : SparseShape{100'000, 20'000, 500};
  const SparseShape many =
      session.quick() ? SparseShape{1000, 3000, 1500} : SparseShape{30'000, 20'000, 1500};
  session.describe(fmt::format(
      "{0} x {1} with {2} a row, {3} x {1} with {4}, u8 in CSR; for both axes, tiles of "
      "4096 rows as wide as the matrix and a copy by column",
      few.rows, few.cols, few.per_row, many.rows, many.per_row));
  for (const Cut cut : kCuts) {
    for (const std::size_t batch : {64U, 4096U}) {
      for (const SparseShape& shape : {few, many}) measure_rows(session, shape, cut, batch);
      session.python().forget();
    }
    measure_two_threads(session, few, cut);
    measure_whole(session, few, cut);
  }
  session.python().forget();
  measure_both_axes(session, few);
  measure_cold_rows(session, few);
  measure_dense(session, session.sized<std::uint64_t>(1'000'000, 2000), 256);
  session.python().forget();
}

}  // namespace dapple::bench
