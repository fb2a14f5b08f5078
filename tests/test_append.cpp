#include <string>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

std::variant<Matrix, Frame> text_file(const std::filesystem::path& path, const std::string& text) {
  write_text(path, text);
  return open(path);
}

std::uint64_t findings(const std::filesystem::path& path) {
  return verify(path, Level::payload).findings.size();
}

ConvertOptions tiles_of(std::uint32_t rows, std::uint32_t cols) {
  ConvertOptions options;
  options.write.tile = TileShape{rows, cols};
  return options;
}

}  // namespace

TEST_CASE("append: rows go below those of a matrix, whose whole tiles stay as they are") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "1,2,3\n4,5,6\n7,8,9\n"), {}, all, tiles_of(2, 2));
  const std::string before = read_text(all);
  const Matrix old = Matrix::open(all);
  const auto more = text_file(folder / "b.csv", "10,-11,300\n0,0,0\n0,0,0\n1,1,1\n");
  append(all, more);
  const Matrix now = Matrix::open(all);
  CHECK(now.rows() == 7);
  CHECK(now.read<std::int64_t>({{0, 7}, {0, 3}}) ==
        std::vector<std::int64_t>{1,   2, 3, 4, 5, 6, 7, 8, 9, 10, -11,
                                  300, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(now.index_origin() == IndexOrigin::embedded);
  CHECK(findings(all) == 0);

  // The last, lower tiles were encoded again, so that there is one tiling. The other blocks are
  // where they were, byte for byte; only the rows in the header differ.
  REQUIRE(now.grid());
  CHECK(now.grid()->tile == TileShape{2, 2});
  CHECK(now.blocks().size() == 8);
  std::uint64_t end = 0;
  for (const BlockInfo& block : old.blocks()) {
    if (block.pos.rx < 2) end = std::max(end, block.offset + block.bytes);
  }
  const std::string after = read_text(all);
  CHECK(after.substr(19, end - 19) == before.substr(19, end - 19));
  // Who has the old file open still reads it.
  CHECK(old.rows() == 3);
  CHECK(old.read<std::int64_t>({{2, 3}, {0, 3}}) == std::vector<std::int64_t>{7, 8, 9});
}

TEST_CASE("append: again and again gives what one conversion of all rows gives") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  std::string text = "day,who,n\n";
  convert(text_file(folder / "0.csv", text + "2026-01-01,Ann,1\n"), {}, all);
  text += "2026-01-01,Ann,1\n";
  for (int i = 0; i < 20; ++i) {
    const std::string row =
        "2026-02-0" + std::to_string(1 + i % 9) + ",w" + std::to_string(i * 37) + ",1000\n";
    append(all, text_file(folder / ("d" + std::to_string(i) + ".csv"), "day,who,n\n" + row));
    text += row;
  }
  CHECK(as_csv(open(all)) == text);
  CHECK(findings(all) == 0);
}

TEST_CASE("append: a dictionary that outgrows its codes' type keeps the old blocks") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  std::string text = "w\n", more = "w\n";
  for (int i = 0; i < 200; ++i) text += "a" + std::to_string(i) + "\n";
  for (int i = 100; i < 400; ++i) more += "a" + std::to_string(i) + "\n";
  convert(text_file(folder / "a.csv", text), {}, all);
  append(all, text_file(folder / "b.csv", more));
  const Frame now = Frame::open(all);
  CHECK(now.column_type(0) == ValueType::u16);
  CHECK(as_csv(open(all)) == text + more.substr(2));
  CHECK(findings(all) == 0);
}

TEST_CASE("append: columns whose numbers would mean something else are written anew") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "n\n1\n-2\n"), {}, all);
  append(all, text_file(folder / "b.csv", "n\n0.5\n"));
  CHECK(as_csv(open(all)) == "n\n1\n-2\n0.5\n");
  CHECK(findings(all) == 0);
}

TEST_CASE("append: a file that changes meanwhile keeps what was put in its place") {
  const TempDir folder;
  for (const char* more : {"n\n3\n", "n\n0.5\n"}) {  // taken over, and written anew
    CAPTURE(more);
    const auto all = folder / "all.dbdf";
    ConvertOptions again;
    again.write.overwrite = true;
    convert(text_file(folder / "a.csv", "n\n1\n-2\n"), {}, all, again);
    const auto other = text_file(folder / "c.csv", "n\n7\n8\n");
    ConvertOptions options;
    bool changed = false;
    options.progress = [&](std::uint64_t, std::uint64_t) {
      if (!changed) convert(other, {}, all, again);
      changed = true;
    };
    const auto error = error_of([&] { append(all, text_file(folder / "b.csv", more), options); });
    CHECK(changed);
    CHECK(required_error(error).code() == Errc::stale_index);
    CHECK(as_csv(open(all)) == "n\n7\n8\n");
  }
}

TEST_CASE("append: a file that gets another name or mode meanwhile is appended to") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "n\n1\n-2\n"), {}, all);
  ConvertOptions options;
  options.progress = [&](std::uint64_t, std::uint64_t) {
    std::error_code there;
    std::filesystem::create_hard_link(all, folder / "link.dbdf", there);
    std::filesystem::permissions(all, std::filesystem::perms::owner_all);
  };
  append(all, text_file(folder / "b.csv", "n\n3\n"), options);
  CHECK(as_csv(open(all)) == "n\n1\n-2\n3\n");
  CHECK(as_csv(open(folder / "link.dbdf")) == "n\n1\n-2\n");
}

TEST_CASE("append: what does not fit is an error, and the file stays as it was") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "x,y\n1,2\n"), {}, all);
  const std::string before = read_text(all);
  CHECK_THROWS_AS(append(all, text_file(folder / "b.csv", "x,z\n1,2\n")), Error);
  CHECK_THROWS_AS(append(all, text_file(folder / "c.csv", "x\n1\n")), Error);
  CHECK_THROWS_AS(append(all, text_file(folder / "d.csv", "1,2\n")), Error);
  CHECK(read_text(all) == before);
  CHECK_THROWS_AS(append(folder / "a.csv", open(all)), Error);
  CHECK_THROWS_AS(append(folder / "none.dbdf", open(all)), Error);
}

TEST_CASE("append: a file without an index gets one") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  ConvertOptions plain = tiles_of(2, 3);
  plain.write.plain = true;
  convert(text_file(folder / "a.csv", "1,2,3\n4,5,6\n7,8,9\n"), {}, all, plain);
  append(all, text_file(folder / "b.csv", "1,1,1\n"));
  const Matrix now = Matrix::open(all);
  CHECK(now.index_origin() == IndexOrigin::embedded);
  CHECK(now.read<int>({{2, 4}, {0, 3}}) == std::vector<int>{7, 8, 9, 1, 1, 1});
  CHECK(findings(all) == 0);
}

TEST_CASE("append: threads that append to one file wait for each other") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "0,0\n"), {}, all);
  const auto row = text_file(folder / "b.csv", "1,1\n");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) append(all, row);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Matrix::open(all).rows() == 13);
  CHECK(findings(all) == 0);
}

TEST_CASE("append: rows after those of a small file get tiles as if all were converted at once") {
  const TempDir folder;
  const auto all = folder / "all.dbdf", fresh = folder / "fresh.dbdf";
  std::string text = "n,w\n1,a\n", more = "n,w\n";
  for (int i = 0; i < 200000; ++i) more += std::to_string(i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  convert(text_file(folder / "one.csv", text), {}, all);
  append(all, text_file(folder / "more.csv", more));
  convert(text_file(folder / "whole.csv", text + more.substr(4)), {}, fresh);
  CHECK(as_csv(open(all)) == as_csv(open(fresh)));
  const auto blocks = [](const auto& path) {
    const Frame frame = Frame::open(path);
    return frame.blocks().size();
  };
  CHECK(blocks(all) <= blocks(fresh) + 2);
  CHECK(findings(all) == 0);
}

TEST_CASE("append: tiles keep their shape when there are several rows of them, or they are high") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  for (const std::uint32_t height : {2U, 4U}) {
    ConvertOptions options = tiles_of(height, 1);
    options.write.overwrite = true;
    convert(text_file(folder / "a.csv", "1\n2\n3\n4\n"), {}, all, options);
    append(all, text_file(folder / "b.csv", "5\n6\n7\n8\n"));
    if (height == 2) {
      const Matrix matrix = Matrix::open(all);
      const auto grid = matrix.grid();
      REQUIRE(grid.has_value());
      CHECK(grid->tile.rows == height);
    }
    CHECK(as_csv(open(all)) == "1\n2\n3\n4\n5\n6\n7\n8\n");
  }
}

TEST_CASE("append: without a place for words the file stays as it was") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  const auto rows = text_file(folder / "a.csv", "w,t,n\nann,2001-01-01,1\nbob,,\n");
  convert(rows, {}, all, {});
  const std::string before = as_csv(open(all));
  ConvertOptions plain;
  plain.write.plain = true;
  const Error error = required_error(error_of([&] { append(all, rows, plain); }));
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.option() == "stored_numbers");
  CHECK(as_csv(open(all)) == before);
}

TEST_CASE("append: words stay a category, and integers that become floats are told") {
  const TempDir folder;
  const auto all = folder / "all.dbdf";
  convert(text_file(folder / "a.csv", "c,n\nx,1\nx,2\ny,3\ny,4\n"), {}, all, {});
  std::vector<std::string> notes;
  ConvertOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  append(all, text_file(folder / "b.csv", "c,n\nu,5\nv,\n"), options);
  const Frame frame = Frame::open(all);
  CHECK(frame.column_info(0).meaning.kind == MeaningKind::category);
  CHECK(frame.column_info(0).meaning.words->size() == 4);
  CHECK(frame.column_type(1) == ValueType::f64);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "column 'n' is one of f64 from now on, as in " + (folder / "b.csv").string() +
                        "; read it as i64 there if only missing cells make it that");
}

TEST_CASE("append, concat: cells that are absent are told of the file that lacks them") {
  const TempDir folder;
  convert(text_file(folder / "a.csv", "1,2\n3,4\n"), {}, folder / "a.dbdf", {});
  Image gap = Image::matrix(2, 2, ValueType::i64);
  gap.dense<std::int64_t>({0, 0}, 2, 1, {5, 6});
  const auto part = folder.write("gap.dbdf", gap.bytes());
  const auto told_of = [&](const auto& f) {
    const Error error = required_error(error_of(f));
    CHECK(error.code() == Errc::absent);
    CHECK(error.file() == part.string());
    CHECK(error.detail() == "no block covers cell (0, 1) (R7)");
  };
  told_of([&] { append(folder / "a.dbdf", open(part)); });
  const std::variant<Matrix, Frame> parts[] = {open(folder / "a.dbdf"), open(part)};
  told_of([&] { convert(concat(parts, Axis::rows), {}, folder / "c.dbdf", {}); });
  told_of([&] { std::get<Matrix>(concat(parts, Axis::rows)).read<double>({{0, 4}, {0, 2}}); });
}

TEST_CASE("convert: a code without a word is told of the file that holds it") {
  const TempDir folder;
  const auto path = folder / "w.dbdf";
  convert(text_file(folder / "a.csv", "w\nann\nbob\n"), {}, path, {});
  std::vector<std::byte> bytes = read_bytes(path);
  const Frame frame = Frame::open(path);
  bytes[frame.block({0, 0}).info().offset + 10] ^= std::byte{4};
  write_bytes(path, bytes);
  for (const char* const out : {"o.dbdf", "o.csv"}) {
    const Error error =
        required_error(error_of([&] { convert(open(path), {}, folder / out, {}); }));
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.file() == path.string());
    CHECK(error.detail().find("code ") != std::string::npos);
  }
}
