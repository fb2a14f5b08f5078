// W13: the table that BTable's authors measure with, 50,000 x 500 and 6.6 % filled.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "harness/kernels.h"
#include "harness/page_cache.h"
#include "harness/raw_file.h"
#include "workloads/cells_file.h"
#include "workloads/scipy_npz.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

// The reference Java writer (framed-data/clj-btable) from dense rows, in a warm JVM on the machine
// that dapple was developed on. Its authors publish 5.8 s.
constexpr double kJavaMilliseconds = 226;

/// The table in the formats that it is converted between.
struct Tables {
  SparseShape shape;
  Path csr, dense, btable;
};

/// Sum of the values stored in all blocks, each made into three arrays.
double sum_by_csr(const BlockedObject& object) {
  double sum = 0;
  for (const BlockInfo info : object.blocks()) {
    sum += sum_doubles(object.block(info.pos).to_csr<double>().values);
  }
  return sum;
}

/// Tells whether the file at `path` holds the same values.
std::function<bool()> holds_table(const Path& path, const SparseShape& shape) {
  return [path, expected = sum_of(shape)] {
    const auto object = open(path);
    return std::visit([](const auto& o) { return sum_by_csr(o); }, object) == expected;
  };
}

Contender converter(const Path& from, const Path& to, const std::string& format,
                    const SparseShape& shape, unsigned threads) {
  return file_writer(
      threads == 1 ? "dapple" : "dapple, 2 threads", threads == 1 ? Role::dapple : Role::aside,
      fmt::format("convert a dbdf file in memory to {}", format), 1, to,
      [from, to, format, threads] { convert_file(from, to, format, threads); },
      holds_table(to, shape));
}

/// What nobody who is given dense rows in a file gets around, before the first byte is written.
Contender row_looker(const Tables& tables) {
  struct Part {
    std::uint64_t offset, cells;
  };
  std::vector<Part> parts;
  const Matrix matrix = Matrix::open(tables.dense);
  for (const BlockInfo info : matrix.blocks()) {
    const std::size_t bytes = matrix.block(info.pos).payload().size();
    parts.push_back({info.offset + info.bytes - bytes, bytes / sizeof(double)});
  }
  return {"looking at the rows",
          Role::aside,
          "map the dense file, sum its cells",
          1,
          sum_of(tables.shape),
          [path = tables.dense, parts = std::move(parts)](Sample&) {
            const RawMap map(path);
            double sum = 0;
            for (const Part& part : parts) sum += sum_doubles(map.data() + part.offset, part.cells);
            return sum;
          }};
}

void measure_writing(Session& session, const Tables& tables) {
  const Path out = session.folder().scratch("written.btable");
  for (const bool dense : {true, false}) {
    Series series{dense ? "write a BTable from dense rows" : "write a BTable from CSR",
                  kMilliseconds, Cache::any,
                  dense ? std::vector<Goal>{{"", kJavaMilliseconds / 10}}
                        : std::vector<Goal>{{"limit", 2}, {"peer", 1}}};
    series.contenders.push_back(raw_copier(tables.btable, out, Per::run));
    for (const unsigned threads : {1U, 2U}) {
      series.contenders.push_back(
          converter(dense ? tables.dense : tables.csr, out, "btable", tables.shape, threads));
    }
    if (dense) {
      series.contenders.push_back(row_looker(tables));
    } else {
      if (auto scipy = scipy_writer(session, tables.shape, 1)) series.contenders.push_back(*scipy);
    }
    session.measure(series);
    std::filesystem::remove(out);
  }
}

void measure_reading(Session& session, const Tables& tables) {
  const double sum = sum_of(tables.shape);
  Series read{
      "read a BTable to three arrays", kMilliseconds, Cache::warm, {{"limit", 2}, {"peer", 1}}};
  read.contenders.push_back(raw_reader(tables.btable, Per::run));
  read.contenders.push_back(
      {"dapple", Role::dapple, "Frame::open, to_csr<double> of every block", 1, sum, [&](Sample&) {
         const auto frame = Frame::open(tables.btable);
         return sum_by_csr(frame);
       }});
  if (auto scipy = scipy_reader(session, tables.shape, 1)) read.contenders.push_back(*scipy);
  session.measure(read);

  Series in_place{"open a BTable in place, one cell", kMilliseconds, Cache::warm, {{"limit", 2}}};
  in_place.contenders.push_back(raw_reader(tables.btable, Per::run));
  const std::uint32_t row = tables.shape.rows - 1, col = tables.shape.col(row, 3);
  in_place.contenders.push_back({"dapple", Role::dapple, "Frame::open, read of one cell", 1,
                                 tables.shape.value(row, 3), [&tables, row, col](Sample&) {
                                   const auto frame = Frame::open(tables.btable);
                                   double value = 0;
                                   frame.read_column<double>(col, {row, row + 1}, {&value, 1});
                                   return value;
                                 }});
  session.measure(in_place);
}

void measure_import(Session& session, const Tables& tables) {
  const Path out = session.folder().scratch("written.dbdf");
  Series series{"convert a BTable to dbdf", kMilliseconds, Cache::any, {{"limit", 2}}};
  series.contenders.push_back(raw_copier(tables.btable, out, Per::run));
  for (const unsigned threads : {1U, 2U}) {
    series.contenders.push_back(converter(tables.btable, out, "dbdf", tables.shape, threads));
  }
  session.measure(series);
  std::filesystem::remove(out);
}

}  // namespace

void run_w13(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{500, 500, 33} : SparseShape{50'000, 500, 33};
  Tables tables{shape,
                make_sparse_file(session, shape, KindChoice::csr),
                make_sparse_file(session, shape, KindChoice::dense),
                {}};
  tables.btable = session.file(fmt::format("table-{}.btable", shape.rows),
                               [&](const Path& path) { convert_file(tables.csr, path, "btable"); });
  std::vector<Pin> pins;
  for (const Path& path : {tables.csr, tables.dense, tables.btable}) pins.emplace_back(path);
  session.describe(fmt::format(
      "{} x {}, {} values; a BTable of {:.1f} MB", shape.rows, shape.cols, shape.entries(),
      static_cast<double>(std::filesystem::file_size(tables.btable)) / 1e6));
  session.remark(
      fmt::format("the goal from dense rows is a tenth of the reference Java writer's "
                  "{} ms, which was measured on another machine; published: 5.8 s",
                  kJavaMilliseconds));
  measure_writing(session, tables);
  measure_reading(session, tables);
  measure_import(session, tables);
}

}  // namespace dapple::bench
