#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using namespace dapple::test;

namespace {

using AnyObject = std::variant<Matrix, Frame>;

ConvertOptions part_options() {
  ConvertOptions options;
  options.write.sync = false;
  return options;
}

dataset::CommitOptions commit_options() {
  dataset::CommitOptions options;
  options.sync = false;
  return options;
}

/// A matrix whose cell (r, c) is 1000 * (row + r) + col + c, some of them zero.
AnyObject block_of(const TempDir& folder, std::uint64_t row, std::uint64_t col, std::uint32_t rows,
                   std::uint32_t cols, ValueType type = ValueType::f64) {
  static int count = 0;
  const auto path = folder / ("source" + std::to_string(++count) + ".dbdf");
  std::vector<double> cells;
  for (std::uint64_t r = row; r < row + rows; ++r) {
    for (std::uint64_t c = col; c < col + cols; ++c) {
      cells.push_back((r + c) % 3 == 0 ? 0 : static_cast<double>(1000 * r + c));
    }
  }
  auto writer = MatrixWriter::create(path, rows, cols, type);
  writer.put<double>({0, 0}, {cells.data(), rows, cols});
  writer.finish();
  return open(path);
}

double cell_value(std::uint64_t r, std::uint64_t c) {
  return (r + c) % 3 == 0 ? 0 : static_cast<double>(1000 * r + c);
}

/// The same as one file, for comparing all that can be asked.
std::vector<double> cells_in(const Region& region) {
  std::vector<double> cells;
  for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
    for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c) {
      cells.push_back(cell_value(r, c));
    }
  }
  return cells;
}

/// Four parts of 30 x 20 cells around (30, 20), of 60 x 40 cells together.
std::vector<DatasetPart> write_four_parts(const TempDir& folder, const ConvertOptions& options) {
  std::vector<DatasetPart> parts;
  for (const BlockPos at : {BlockPos{0, 20}, BlockPos{30, 0}, BlockPos{0, 0}, BlockPos{30, 20}}) {
    parts.push_back(
        dataset::write_part(folder / "set", block_of(folder, at.rx, at.cx, 30, 20), at, options));
  }
  return parts;
}

ConvertOptions part_tiles(std::uint32_t rows, std::uint32_t cols) {
  ConvertOptions options = part_options();
  options.write.tile = TileShape{rows, cols};
  return options;
}

/// How many files in a folder are mapped.
std::size_t maps_of(const std::filesystem::path& folder) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.ends_with(".dbdf") && line.find(folder.string()) != line.npos;
  return count;
}

Error refusal_of(const std::function<void()>& f) { return required_error(error_of(f)); }

}  // namespace

TEST_CASE("dataset: parts in both directions are one matrix") {
  const TempDir folder;
  const auto parts = write_four_parts(folder, part_tiles(10, 10));
  const DatasetState state = dataset::commit(folder / "set", parts, commit_options());
  CHECK(state.number == 1);
  CHECK(state.parts == 4);
  CHECK(state.blocks == 24);
  const Matrix m = Matrix::open(folder / "set");
  CHECK(m.format() == "dataset");
  REQUIRE(m.rows() == 60);
  REQUIRE(m.cols() == 40);
  REQUIRE(m.grid());
  CHECK(m.grid()->tile == TileShape{10, 10});
  const Region all{{0, 60}, {0, 40}};
  CHECK(m.read<double>(all) == cells_in(all));
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const Region region = random_region(60, 40, rng);
    CHECK(m.read<double>(region) == cells_in(region));
  }
  for (std::uint64_t i = 0; i < 6; ++i) {
    for (std::uint64_t j = 0; j < 4; ++j) {
      std::vector<double> cells(100);
      m.tile(i, j).decode(std::span(cells));
      CHECK(cells == cells_in({{10 * i, 10 * i + 10}, {10 * j, 10 * j + 10}}));
    }
  }
  CHECK(verify(folder / "set", Level::payload).findings.empty());
}

TEST_CASE("dataset: statistics, searches and rows are those of one file") {
  const TempDir folder;
  dataset::commit(folder / "set", write_four_parts(folder, part_tiles(10, 10)), commit_options());
  const AnyObject set = open(folder / "set"), one = block_of(folder, 0, 0, 60, 40);
  const auto& m = std::get<Matrix>(set);
  const auto& w = std::get<Matrix>(one);
  const Stats a = matrix_stats(m), b = matrix_stats(w);
  CHECK(a.nnz == b.nnz);
  CHECK(a.mean() == doctest::Approx(b.mean()));
  CHECK(a.squared_distances == doctest::Approx(b.squared_distances));
  CHECK(a.max == b.max);
  const std::vector<std::uint64_t> rows{59, 0, 31, 29, 30, 30};
  std::vector<double> got(rows.size() * 40), want(rows.size() * 40);
  gather_rows<double>(m, rows, std::span(got));
  gather_rows<double>(w, rows, std::span(want));
  CHECK(got == want);
}

TEST_CASE("dataset: parts used last stay open where more than that are held") {
  const TempDir folder;
  constexpr std::uint64_t kHeld = 600, kOthers = 200;
  std::vector<DatasetPart> parts;
  const AnyObject one = block_of(folder, 1, 0, 1, 1);
  for (std::uint64_t row = 0; row < kHeld + kOthers; ++row) {
    parts.push_back(dataset::write_part(folder / "set", one, {row, 0}, part_options()));
  }
  dataset::commit(folder / "set", parts, commit_options());
  const Matrix m = Matrix::open(folder / "set");
  std::vector<std::uint64_t> rows(kHeld);
  std::iota(rows.rbegin(), rows.rend(), 0);
  std::vector<double> cells(kHeld);
  gather_rows<double>(m, rows, std::span(cells));
  if (maps_of(folder / "set") != kHeld) return;  // of a library built to read files otherwise
  const auto read = [&](std::uint64_t row) { m.read<double>({{row, row + 1}, {0, 1}}); };
  for (std::uint64_t row = kHeld; row < kHeld + 10; ++row) read(row);
  CHECK(maps_of(folder / "set") == kHeld + 10);
  for (std::uint64_t row = kHeld; row < kHeld + kOthers; ++row) read(row);
  CHECK(maps_of(folder / "set") < kHeld + 100);
}

TEST_CASE("dataset: stored values are used in place, in any part") {
  const TempDir folder;
  ConvertOptions options = part_tiles(30, 20);
  options.write.kind = KindChoice::dense;
  options.write.narrow = false;
  dataset::commit(folder / "set", write_four_parts(folder, options), commit_options());
  const Matrix m = Matrix::open(folder / "set");
  std::vector<DenseView<double>> views;
  for (const BlockInfo& block : m.blocks())
    views.push_back(m.block(block.pos).dense_view<double>());
  REQUIRE(views.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const BlockPos at{30 * (i / 2), 20 * (i % 2)};
    // File order: as they were committed.
    const auto first = m.block(at).dense_view<double>();
    CHECK(first(29, 19) == cell_value(at.rx + 29, at.cx + 19));
  }
  CHECK(m.tiles<double>()(1, 1)(0, 1) == cell_value(30, 21));
}

TEST_CASE("dataset: parts are those of the folder that was opened") {
  const TempDir folder;
  dataset::append(folder / "set", block_of(folder, 0, 0, 7, 5), part_options());
  const Matrix m = Matrix::open(folder / "set");
  std::filesystem::rename(folder / "set", folder / "moved");
  CHECK(m.read<double>({{0, 7}, {0, 5}}) == cells_in({{0, 7}, {0, 5}}));
}

TEST_CASE("dataset: a part that is missing, changed or another one is an error with its name") {
  const TempDir folder;
  const auto parts = write_four_parts(folder, part_tiles(10, 10));
  dataset::commit(folder / "set", parts, commit_options());
  const auto path = folder / "set" / parts[1].name;
  const auto bytes = read_bytes(path);
  const Region in_part{{35, 36}, {3, 4}};
  const auto read = [&] { Matrix::open(folder / "set").read<double>(in_part); };
  SUBCASE("missing") {
    std::filesystem::remove(path);
    const Error e = refusal_of(read);
    CHECK(e.code() == Errc::io);
    CHECK(e.file() == path.string());
    CHECK(e.detail().find("dataset-1") != std::string::npos);
  }
  SUBCASE("cut") {
    write_bytes(path, std::span(bytes).first(bytes.size() - 1));
    CHECK(refusal_of(read).code() == Errc::corrupt);
  }
  SUBCASE("of the same size, but changed") {
    for (const std::size_t at : {std::size_t{2}, bytes.size() - 30}) {
      auto changed = bytes;
      changed[at] ^= std::byte{1};
      write_bytes(path, changed);
      const Error e = refusal_of(read);
      CHECK(e.code() == Errc::corrupt);
      CHECK(e.file() == path.string());
    }
  }
  SUBCASE("another part") {
    std::filesystem::copy_file(folder / "set" / parts[0].name, path,
                               std::filesystem::copy_options::overwrite_existing);
    CHECK(refusal_of(read).code() == Errc::corrupt);
  }
  // Others can be read all the same.
  CHECK(Matrix::open(folder / "set").read<double>({{0, 30}, {0, 40}}) ==
        cells_in({{0, 30}, {0, 40}}));
}

TEST_CASE("dataset: parts that overlap, or leave cells uncovered, are refused") {
  const TempDir folder;
  const auto set = folder / "set";
  auto parts = write_four_parts(folder, part_tiles(10, 10));
  const auto fifth =
      dataset::write_part(set, block_of(folder, 29, 19, 2, 2), {29, 19}, part_options());
  parts.push_back(fifth);
  const Error e = refusal_of([&] { dataset::commit(set, parts, commit_options()); });
  CHECK(e.code() == Errc::invalid_argument);
  CHECK(e.detail().find("R3") != std::string::npos);
  CHECK_THROWS_AS(open(set), Error);  // no state
  parts.pop_back();
  auto options = commit_options();
  options.rows = 61;
  options.whole = true;
  CHECK(refusal_of([&] { dataset::commit(set, parts, options); }).detail().find("40 cells") !=
        std::string::npos);
  options.rows = 0;
  CHECK(dataset::commit(set, parts, options).number == 1);
  CHECK(dataset::commit(set, parts, options).number == 1);  // they are there already
  CHECK_THROWS_AS(dataset::commit(set, {&fifth, 1}, commit_options()), Error);
  auto moved = parts[0];
  moved.cells.rows = {100, 130};
  CHECK_THROWS_AS(dataset::commit(set, {&moved, 1}, commit_options()), Error);
}

TEST_CASE("dataset: only names of parts are opened") {
  const TempDir folder;
  auto part =
      dataset::write_part(folder / "set", block_of(folder, 0, 0, 3, 3), {0, 0}, part_options());
  for (const char* name : {"../x.dbdf", "/etc/passwd", "part-../../../../../../../../a.dbdf",
                           "part-0123.dbdf", "PART-0123456789abcdef0123456789abcdef.dbdf"}) {
    part.name = name;
    CHECK(refusal_of([&] {
            dataset::commit(folder / "set", {&part, 1}, commit_options());
          }).code() == Errc::invalid_argument);
  }
}

TEST_CASE("dataset: rows are appended, and states stay as they were") {
  const TempDir folder;
  const auto set = folder / "set";
  for (std::uint64_t row = 0; row < 70; row += 7) {
    dataset::append(set, block_of(folder, row, 0, 7, 5), part_options());
  }
  const Matrix third = Matrix::open(set / "dataset-3");
  CHECK(third.read<double>({{0, 21}, {0, 5}}) == cells_in({{0, 21}, {0, 5}}));
  const Matrix m = Matrix::open(set);
  CHECK(m.rows() == 70);
  CHECK(m.read<double>({{0, 70}, {0, 5}}) == cells_in({{0, 70}, {0, 5}}));
  CHECK(dataset::log(set).size() == 10);

  const DatasetState compacted = dataset::compact(set, 1 << 20, part_options());
  CHECK(compacted.number == 11);
  CHECK(compacted.parts == 1);
  const Matrix after = Matrix::open(set);
  CHECK(after.read<double>({{0, 70}, {0, 5}}) == cells_in({{0, 70}, {0, 5}}));
  CHECK(after.grid());
  // Nothing young goes; then all but the latest state and its part.
  CHECK(dataset::collect(set, {}).parts == 0);
  const auto removed = dataset::collect(set, {.keep = 1, .grace_s = 0});
  CHECK(removed.states == 10);
  CHECK(removed.parts == 10);
  CHECK(Matrix::open(set).read<double>({{0, 70}, {0, 5}}) == cells_in({{0, 70}, {0, 5}}));
  CHECK(m.read<double>({{0, 7}, {0, 5}}) == cells_in({{0, 7}, {0, 5}}));  // it was open
}

TEST_CASE("dataset: what was collected cannot be committed") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, block_of(folder, 0, 0, 7, 5), part_options());
  const auto late = dataset::write_part(set, block_of(folder, 7, 0, 7, 5), {7, 0}, part_options());
  CHECK(dataset::collect(set, {.keep = 1, .grace_s = 0}).parts == 1);
  CHECK(refusal_of([&] {
          dataset::commit(set, {&late, 1}, commit_options());
        })
            .detail()
            .find("no longer there") != std::string::npos);
  CHECK(Matrix::open(set).rows() == 7);
}

TEST_CASE("dataset: a part that was compacted is not committed once more") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, block_of(folder, 0, 0, 7, 5), part_options());
  const auto part = dataset::write_part(set, block_of(folder, 7, 0, 7, 5), {7, 0}, part_options());
  auto below = commit_options();
  below.below = true;
  for (int i = 0; i < 2; ++i) CHECK(dataset::commit(set, {&part, 1}, below).rows == 14);
  dataset::compact(set, 1 << 20, part_options());
  const auto again = [&] { dataset::commit(set, {&part, 1}, below); };
  CHECK(refusal_of(again).code() == Errc::invalid_argument);
  // Older states keep the part, and so it stays doomed, although others are removed.
  dataset::write_part(set, block_of(folder, 7, 0, 7, 5), {7, 0}, part_options());
  CHECK(dataset::collect(set, {.keep = 3, .grace_s = 0}).parts == 1);
  CHECK(refusal_of(again).code() == Errc::invalid_argument);
  CHECK(dataset::collect(set, {.keep = 4, .grace_s = 0}).parts == 0);
  CHECK(dataset::log(set).size() == 4);
  CHECK(Matrix::open(set / "dataset-2").read<double>({{0, 14}, {0, 5}}) ==
        cells_in({{0, 14}, {0, 5}}));
  CHECK(dataset::collect(set, {.keep = 1, .grace_s = 0}).parts == 2);
  CHECK(Matrix::open(set).rows() == 14);
}

TEST_CASE("dataset: parts with other columns or types are refused with a sentence") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::append(set, block_of(folder, 0, 0, 7, 5, ValueType::f32), part_options());
  CHECK(refusal_of([&] {
          dataset::append(set, block_of(folder, 7, 0, 7, 5), part_options());
        }).code() == Errc::invalid_argument);
  CHECK(refusal_of([&] {
          dataset::append(set, block_of(folder, 7, 0, 7, 4, ValueType::f32), part_options());
        }).code() == Errc::invalid_argument);
  write_text(folder / "frame.csv", "a,b\nx,1\n");
  CHECK(refusal_of([&] {
          dataset::append(set, open(folder / "frame.csv"), part_options());
        }).code() == Errc::invalid_argument);
  CHECK(Matrix::open(set).rows() == 7);
}

TEST_CASE("dataset: a state that was cut or changed at any byte is an error or the same object") {
  const TempDir folder;
  const auto set = folder / "set";
  dataset::commit(set, write_four_parts(folder, part_tiles(15, 20)), commit_options());
  const auto state = set / "dataset-1";
  const auto bytes = read_bytes(state);
  const Region all{{0, 60}, {0, 40}};
  const auto want = cells_in(all);
  std::uint64_t refused = 0;
  const auto attempt = [&] {
    try {
      const Matrix m = Matrix::open(state, {.check = Check::first_touch});
      const auto cells = m.read<double>(all);
      CHECK(cells == want);
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t n = 0; n < bytes.size(); n += one_of(7)) {
    write_bytes(state, std::span(bytes).first(n));
    attempt();
  }
  CHECK(refused >= bytes.size() / one_of(7));
  for (std::size_t at = 0; at < bytes.size(); at += one_of(7)) {
    auto changed = bytes;
    changed[at] ^= std::byte{0x41};
    write_bytes(state, changed);
    attempt();
  }
}

TEST_CASE("dataset: a folder that was made for a part goes with it") {
  const TempDir folder;
  const AnyObject block = block_of(folder, 0, 0, 3, 4);
  auto wrong = part_options();
  wrong.write.align = 3;
  const auto fails = [](const auto& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.code() == Errc::invalid_argument;
    }
    return false;
  };
  CHECK(fails([&] { dataset::write_part(folder / "a", block, {0, 0}, wrong); }));
  CHECK(fails([&] { dataset::append(folder / "a", block, wrong); }));
  CHECK(!std::filesystem::exists(folder / "a"));
  std::filesystem::create_directory(folder / "b");
  CHECK(fails([&] { dataset::append(folder / "b", block, wrong); }));
  CHECK(std::filesystem::is_empty(folder / "b"));
}
