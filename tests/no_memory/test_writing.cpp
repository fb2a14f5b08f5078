// When memory runs out while a file is written: it appears whole or not at all, and the program
// goes on.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/no_memory/allocations.h"
#include "tests/no_memory/work.h"
#include "tests/support.h"

namespace dapple::test {

TEST_CASE("no memory: a writer that goes on publishes a sound file or none") {
  const TempDir dir;
  const Work work;
  const auto steps = work.steps();
  const auto path = dir / "written.dbdf";
  WriteOptions options;
  options.sync = false;
  options.overwrite = true;
  std::uint64_t published = 0, n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    std::vector<bool> done(steps.size());
    bool finished = false;
    failed = fails_after(n, [&] {
      succeeds([&] {
        auto writer = test::writer<double>(path, Work::rows(), Work::cols(), options);
        for (std::size_t i = 0; i < steps.size(); ++i) {
          done[i] = succeeds([&] { steps[i].put(writer); });
        }
        finished = succeeds([&] { writer.finish(); });
      });
    });
    REQUIRE(std::filesystem::exists(path) == finished);
    if (!finished) continue;
    ++published;
    REQUIRE(verify(path, Level::payload).findings.empty());
    const auto matrix = Matrix::open(path);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Region& region = steps[i].cells;
      const auto cells = matrix.read<double>(region);
      bool same = true;
      for (std::uint64_t k = 0; k < cells.size(); ++k) {
        const std::uint64_t row = region.rows.begin + k / region.cols.size(),
                            col = region.cols.begin + k % region.cols.size();
        const bool empty = i + 1 == steps.size() || !done[i];
        same = same && cells[k] == (empty ? 0 : work.at(row, col));
      }
      CAPTURE(i);
      CHECK(same);
    }
    std::filesystem::remove(path);
  }
  CHECK(published > 1);
  CHECK(n > 20);
  CHECK(dir.names().empty());
}

TEST_CASE("no memory: rows that wait for the others of their tile are written, or no file is") {
  const TempDir dir;
  constexpr std::uint32_t rows = 32, cols = 64, part = 8;
  std::vector<double> cells(rows * cols);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i) + 0.5;
  const auto path = dir / "parts.dbdf";
  WriteOptions options;
  options.sync = false;
  options.tile = TileShape{rows, cols};
  std::uint64_t published = 0, n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    std::vector<bool> done(rows / part);
    bool finished = false;
    failed = fails_after(n, [&] {
      succeeds([&] {
        auto writer = MatrixWriter::create(path, rows, cols, ValueType::f64, options);
        for (std::uint32_t i = 0; i < done.size(); ++i) {
          done[i] = succeeds([&] {
            writer.put_region<double>({i * part, 0}, {&cells[i * part * cols], part, cols});
          });
        }
        for (int tries = 0; !finished && tries < 2; ++tries) {
          finished = succeeds([&] { writer.finish(); });
        }
      });
    });
    if (!finished) continue;
    ++published;
    const auto read = Matrix::open(path).read<double>({{0, rows}, {0, cols}});
    for (std::size_t k = 0; k < cells.size(); ++k) {
      REQUIRE(read[k] == (done[k / (part * cols)] ? cells[k] : 0));
    }
    std::filesystem::remove(path);
  }
  CHECK(published > 1);
  CHECK(n > 20);
}

TEST_CASE("no memory: a conversion leaves a whole file or none, and can be opened") {
  const TempDir dir;
  std::vector<double> cells(12 * 5);
  for (std::size_t i = 0; i < cells.size(); i += 2) cells[i] = static_cast<double>(i) + 0.5;
  const auto in = dir / "in";
  {
    auto writer = MatrixWriter::create(in, 12, 5, ValueType::f64);
    writer.put<double>({0, 0}, {cells.data(), 12, 5});
    writer.finish();
  }
  const auto sum = [](const auto& object) {
    double result = 0;
    for (const BlockInfo info : object.blocks()) {
      for (const double value : object.block(info.pos).template to_csr<double>().values) {
        result += value;
      }
    }
    return result;
  };
  const auto sum_of_file = [&](const std::filesystem::path& path) {
    return std::visit(sum, open(path));
  };
  const double total = sum_of_file(in);
  for (const FormatInfo& format : formats()) {
    if (!format.writes) continue;
    const std::string name(format.name);
    CAPTURE(name);
    ConvertOptions options;
    options.to = format.name;
    options.write.sync = false;
    // A file has the ending by which a format without a mark of its own is recognised.
    const std::string ending(format.extensions.substr(0, format.extensions.find(' ')));
    const auto out = dir / ("out" + ending);
    convert(open(in), {}, out, options);
    const auto expected = read_bytes(out);
    const auto files = dir.names();  // some formats keep a second one
    const auto remove_results = [&] {
      for (const std::string& file : dir.names()) {
        if (file != "in") std::filesystem::remove(dir / file);
      }
    };
    remove_results();
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      bool converted = false;
      failed = fails_after(
          n, [&] { converted = succeeds([&] { convert(open(in), {}, out, options); }); });
      REQUIRE(dir.names() == (converted ? files : std::vector<std::string>{"in"}));
      if (converted) REQUIRE(read_bytes(out) == expected);
      if (failed) remove_results();
    }
    n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      double got = 0;
      bool opened = false;
      failed = fails_after(n, [&] { opened = succeeds([&] { got = sum_of_file(out); }); });
      CHECK(got == (opened ? total : 0));
    }
    remove_results();
  }
}

}  // namespace dapple::test
