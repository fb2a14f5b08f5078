// Statistics of frames, whose columns are not all plain numbers.

#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

Frame open_text(const TempDir& dir, const std::string& text) {
  write_text(dir / "t.csv", text);
  return Frame::open(dir / "t.csv");
}

/// A column of plain integers beside one in which -128 is missing.
Frame with_marks(const TempDir& dir) {
  std::vector<Column> columns = {{"k", ValueType::i8}, {"n", ValueType::i8}};
  columns[1].meaning.missing = 0x80;
  auto writer = FrameWriter::create(dir / "m.dbdf", 3, columns);
  const std::vector<std::int8_t> cells = {1, 5, 2, -128, 3, 7};
  writer.put<std::int8_t>({0, 0}, {cells.data(), 3, 2});
  writer.finish();
  return Frame::open(dir / "m.dbdf");
}

void require_only_columns(const Frame& frame, const std::string& what) {
  for (const auto& all : {row_stats, tile_row_stats, tile_column_stats}) {
    CHECK(required_error(error_of([&] { all(frame, {}); })).code() == Errc::type_mismatch);
  }
  const Error error = required_error(error_of([&] { matrix_stats(frame); }));
  CHECK(error.code() == Errc::type_mismatch);
  CHECK(std::string(error.what()).find(what) != std::string::npos);
  CHECK(column_stats(frame).size() == frame.cols());
}

}  // namespace

TEST_CASE("frame statistics: codes, ticks and marks are no part of a sum over columns") {
  const TempDir dir;
  require_only_columns(open_text(dir, "a,b\n1,x\n2,y\n"), "column 'b' is a text");
  require_only_columns(open_text(dir, "a,b\n1,2020-01-01\n2,2020-01-02\n"),
                       "column 'b' is a timestamp");
  require_only_columns(open_text(dir, "a,b\n1,true\n2,false\n"), "column 'b' is a boolean");
  const Frame marked = with_marks(dir);
  require_only_columns(marked, "column 'n' holds integers that mark missing cells");
  CHECK(column_stats(marked)[1].min == 5);
  CHECK(column_stats(marked)[1].nans == 1);
}

TEST_CASE("frame statistics: missing floats are NaNs in a sum over columns") {
  const TempDir dir;
  const Stats all = matrix_stats(open_text(dir, "a,b\n1,2\n,3\n"));
  CHECK(all.nans == 1);
  CHECK(all.sum == 6);
}
