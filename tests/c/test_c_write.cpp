// Writing through the C functions.

#include <cstring>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "dapple/dapple_c.h"
#include "tests/c/support.h"
#include "tests/check.h"

namespace dapple::test::c {

TEST_CASE("c: a matrix is put in rectangles of any size and stride") {
  const TempDir dir;
  dapple_error error;
  const auto path = (dir / "m.dbdf").string();
  constexpr std::size_t kRows = 23, kCols = 17;
  std::vector<double> columns(kRows * kCols);  // column after column
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<double>(i) / 4;
  const char* const options[] = {"tile=5x4", "attributes={\"by\":\"c\"}", "narrow=false",
                                 "align=128", nullptr};
  {
    Writer writer;
    REQUIRE(dapple_create(path.c_str(), kRows, kCols, DAPPLE_F64, options, &writer, &error) == 0);
    // The left 6 columns, then the others; neither ends where a tile does.
    REQUIRE(dapple_put(writer, 0, 0, kRows, 6, DAPPLE_F64, columns.data(), 8, 8 * kRows, &error) ==
            0);
    std::vector<float> rows;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 6; c < kCols; ++c)
        rows.push_back(static_cast<float>(columns[r + c * kRows]));
    }
    REQUIRE(dapple_put(writer, 0, 6, kRows, kCols - 6, DAPPLE_F32, rows.data(), 0, 0, &error) == 0);
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(dapple_put(writer, 0, 6, kRows, kCols - 5, DAPPLE_F32, rows.data(), 0, 0, &error) ==
          DAPPLE_OUT_OF_RANGE);
    CHECK(dapple_put(writer, UINT64_MAX, 0, 1, 2, DAPPLE_F32, rows.data(), 0, 0, &error) ==
          DAPPLE_OUT_OF_RANGE);
    CHECK(std::string(error.message).starts_with("1 x 2 cells from row 18446744073709551615, "));
    REQUIRE(dapple_finish(writer, &error) == 0);
    CHECK(dapple_finish(writer, &error) == DAPPLE_INVALID_ARGUMENT);
    CHECK(dapple_put(writer, 0, 0, 1, 1, DAPPLE_F64, columns.data(), 0, 0, &error) ==
          DAPPLE_INVALID_ARGUMENT);
  }
  const Matrix matrix = Matrix::open(path);
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto row = matrix.read<double>({{r, r + 1}, {0, kCols}});
    for (std::size_t c = 0; c < kCols; ++c) REQUIRE(row[c] == columns[r + c * kRows]);
  }
  Object object;
  open_path(path, object);
  char json[64];
  size_t size = 0;
  REQUIRE(dapple_get_attributes(object, nullptr, 0, &size, &error) == 0);
  REQUIRE(dapple_get_attributes(object, json, sizeof json, &size, &error) == 0);
  CHECK(std::string(json) == "{\"by\":\"c\"}");
  CHECK(size == std::strlen(json));
  Writer writer;
  CHECK(dapple_create(path.c_str(), 1, 1, DAPPLE_F64, nullptr, &writer, &error) ==
        DAPPLE_INVALID_ARGUMENT);
  CHECK(std::string(error.option) == "overwrite");
}

TEST_CASE("c: what is read with a stride is put back with it") {
  const TempDir dir;
  const auto path = (dir / "m.dbdf").string();
  const auto bytes = small_file();
  Object object, again;
  open_bytes(bytes, object);
  std::int32_t cells[24] = {}, copy[24] = {};  // each before one that is not used
  REQUIRE(dapple_read(object, &kAll, DAPPLE_I32, cells, sizeof cells, 0, 8, nullptr, nullptr) == 0);
  {
    Writer writer;
    REQUIRE(dapple_create(path.c_str(), 3, 4, DAPPLE_I32, nullptr, &writer, nullptr) == 0);
    REQUIRE(dapple_put(writer, 0, 0, 3, 4, DAPPLE_I32, cells, 0, 8, nullptr) == 0);
    REQUIRE(dapple_finish(writer, nullptr) == 0);
  }
  open_path(path, again);
  REQUIRE(dapple_read(again, &kAll, DAPPLE_I32, copy, sizeof copy, 0, 8, nullptr, nullptr) == 0);
  CHECK(std::vector<std::int32_t>(copy, copy + 24) == std::vector<std::int32_t>(cells, cells + 24));
}

TEST_CASE("c: an option with a wrong value is named, and so is a name that is empty") {
  const TempDir dir;
  const auto path = (dir / "m.dbdf").string();
  dapple_error error;
  Writer writer;
  for (const std::string given : {"tile=0x5", "tile=5", "align=3", "attributes=[]", "kind=none"}) {
    const char* const options[] = {given.c_str(), nullptr};
    CHECK(dapple_create(path.c_str(), 1, 1, DAPPLE_F64, options, &writer, &error) ==
          DAPPLE_INVALID_ARGUMENT);
    CHECK(std::string(error.option) == given.substr(0, given.find('=')));
  }
  CHECK(dapple_create("", 1, 1, DAPPLE_F64, nullptr, &writer, &error) == DAPPLE_IO);
  CHECK(std::string(error.message) ==
        "cannot create a file whose name is empty: No such file or directory");
  Object object;
  CHECK(dapple_open("", nullptr, &object, &error) == DAPPLE_IO);
  CHECK(std::string(error.message) ==
        "cannot open a file whose name is empty: No such file or directory");
}

TEST_CASE("c: rows and columns have names") {
  const TempDir dir;
  const auto path = (dir / "m.dbdf").string();
  dapple_error error;
  const char* const options[] = {"row_name=AA", "row_name=",         "col_name=x",
                                 "col_name=y",  "col_name=\xC3\xA4", nullptr};
  const double cells[6] = {};
  {
    Writer writer;
    REQUIRE(dapple_create(path.c_str(), 2, 3, DAPPLE_F64, options, &writer, &error) == 0);
    REQUIRE(dapple_put(writer, 0, 0, 2, 3, DAPPLE_F64, cells, 0, 0, &error) == 0);
    REQUIRE(dapple_finish(writer, &error) == 0);
    Writer wrong;
    CHECK(dapple_create((dir / "n.dbdf").c_str(), 3, 3, DAPPLE_F64, options, &wrong, &error) ==
          DAPPLE_INVALID_ARGUMENT);
  }
  Object object;
  open_path(path, object);
  dapple_info info;
  REQUIRE(dapple_get_info(object, &info, &error) == 0);
  CHECK(info.row_names == 1);
  CHECK(info.col_names == 1);
  const char* text;
  size_t size;
  REQUIRE(dapple_get_text(object, DAPPLE_ROW_NAME, 0, &text, &size, &error) == 0);
  CHECK(std::string(text, size) == "AA");
  REQUIRE(dapple_get_text(object, DAPPLE_COL_NAME, 2, &text, &size, &error) == 0);
  CHECK(std::string(text, size) == "\xC3\xA4");
  CHECK(dapple_get_text(object, DAPPLE_COL_NAME, 3, &text, &size, &error) == DAPPLE_OUT_OF_RANGE);
  std::uint64_t i = 9;
  REQUIRE(dapple_find_name(object, DAPPLE_COLUMNS, "y", &i, &error) == 0);
  CHECK(i == 1);
  CHECK(dapple_find_name(object, DAPPLE_ROWS, "y", &i, &error) == DAPPLE_ABSENT);
  CHECK(dapple_find_name(object, DAPPLE_ALL, "y", &i, &error) == DAPPLE_INVALID_ARGUMENT);
  CHECK(dapple_find_name(nullptr, DAPPLE_ROWS, "y", &i, &error) == DAPPLE_INVALID_ARGUMENT);
  CHECK(dapple_find_name(object, DAPPLE_ROWS, nullptr, &i, &error) == DAPPLE_INVALID_ARGUMENT);
  Object plain;
  const auto bytes = small_file();
  open_bytes(bytes, plain);
  CHECK(dapple_find_name(plain, DAPPLE_ROWS, "y", &i, &error) == DAPPLE_ABSENT);
}

namespace {

// clang-format off
constexpr const char* kWords[] = {"Oslo", "M\xC3\xBCnchen"};
constexpr dapple_frame_column kColumns[] = {
    {.label = "city", .zone = nullptr, .words = kWords, .n_words = 2, .missing = 0,
     .has_missing = 0, .type = DAPPLE_U8, .meaning = DAPPLE_CATEGORY, .unit = 0, .ordered = 1, .reserved = {}},
    {.label = "at", .zone = "UTC", .words = nullptr, .n_words = 0, .missing = std::uint64_t{1} << 63,
     .has_missing = 1, .type = DAPPLE_I64, .meaning = DAPPLE_TIMESTAMP, .unit = DAPPLE_MILLISECOND, .ordered = 0,
     .reserved = {}},
    {.label = "x", .zone = "", .words = nullptr, .n_words = 0, .missing = 0,
     .has_missing = 0, .type = DAPPLE_F64, .meaning = DAPPLE_NUMBER, .unit = 0, .ordered = 0, .reserved = {}},
    {.label = "y", .zone = nullptr, .words = nullptr, .n_words = 0, .missing = 0x80000000,
     .has_missing = 1, .type = DAPPLE_I32, .meaning = DAPPLE_NUMBER, .unit = 0, .ordered = 0, .reserved = {}}};
// clang-format on

}  // namespace

TEST_CASE("c: a frame is put column by column, or several columns at once") {
  const TempDir dir;
  const auto path = (dir / "f.dbdf").string();
  dapple_error error;
  const char* const options[] = {"row_name=a", "row_name=b", "row_name=c", nullptr};
  const std::uint8_t city[] = {2, 0, 1};
  const std::int64_t at[] = {86'400'000, 0, INT64_MIN};
  const double numbers[] = {0.5, 7, -0.0, INT32_MIN, 1e300, 9};  // x and y of each row
  {
    Writer writer;
    REQUIRE(dapple_create_frame(path.c_str(), 3, kColumns, 4, options, &writer, &error) == 0);
    REQUIRE(dapple_put(writer, 0, 0, 3, 1, DAPPLE_U8, city, 0, 0, &error) == 0);
    REQUIRE(dapple_put(writer, 0, 1, 3, 1, DAPPLE_I64, at, 0, 0, &error) == 0);
    CHECK(dapple_put(writer, 0, 2, 3, 3, DAPPLE_F64, numbers, 0, 0, &error) == DAPPLE_OUT_OF_RANGE);
    REQUIRE(dapple_put(writer, 0, 2, 3, 2, DAPPLE_F64, numbers, 0, 0, &error) == 0);
    REQUIRE(dapple_finish(writer, &error) == 0);
  }
  convert(open(path), {}, dir / "f.csv");
  CHECK(test::read_text(dir / "f.csv") ==
        "city,at,x,y\n"
        "M\xC3\xBCnchen,1970-01-02T00:00:00.000Z,0.5,7\n"
        ",1970-01-01T00:00:00.000Z,-0,\n"
        "Oslo,,1e+300,9\n");
  Object object;
  open_path(path, object);
  dapple_column column;
  REQUIRE(dapple_get_column(object, 0, &column, &error) == 0);
  CHECK(column.ordered == 1);
  REQUIRE(dapple_get_column(object, 2, &column, &error) == 0);
  CHECK(column.has_missing == 0);
  const char* name;
  size_t size;
  REQUIRE(dapple_get_text(object, DAPPLE_ROW_NAME, 1, &name, &size, &error) == 0);
  CHECK(std::string(name, size) == "b");
}

TEST_CASE("c: columns that cannot be are refused, and so is a code without a word") {
  const TempDir dir;
  const auto path = (dir / "f.dbdf").string();
  dapple_error error;
  Writer writer;
  const auto refuses = [&](const dapple_frame_column& column, const char* option,
                           const std::string& why) {
    const char* const options[] = {option, nullptr};
    CHECK(dapple_create_frame(path.c_str(), 3, &column, 1, options, &writer, &error) ==
          DAPPLE_INVALID_ARGUMENT);
    INFO(error.message);
    CHECK(std::string(error.message).find(why) != std::string::npos);
    CHECK(writer.handle == nullptr);
  };
  const char* const twice[] = {"a", "b", "a"};
  const char* const gap[] = {"a", nullptr};
  auto city = kColumns[0], at = kColumns[1], y = kColumns[3];
  refuses(city, "storage=csr", "there is no option 'storage'");
  refuses(city, "col_name=x", "there is no option 'col_name'");
  city.words = twice;
  city.n_words = 3;
  refuses(city, nullptr, "column 'city' has the word 'a' twice");
  city.words = gap;
  city.n_words = 2;
  refuses(city, nullptr, "a word is NULL");
  city.words = nullptr;
  refuses(city, nullptr, "words is NULL");
  at.unit = 5;
  refuses(at, nullptr, "column 'at' has no unit with number 5");
  at.unit = DAPPLE_DAY;
  at.type = DAPPLE_F32;
  refuses(at, nullptr, "at");
  y.meaning = -1;
  refuses(y, nullptr, "column 'y' has no meaning with number -1");
  y = kColumns[3];
  y.missing = std::uint64_t{1} << 32;
  refuses(y, nullptr, "y");
  y = kColumns[3];
  y.n_words = 1;
  refuses(y, nullptr, "column 'y' has words, and a meaning without any");
  y = kColumns[3];
  y.reserved[4] = 1;
  refuses(y, nullptr, "column 'y' has reserved bytes");
  y.label = nullptr;
  refuses(y, nullptr, "a label is NULL");
  CHECK(dapple_create_frame(path.c_str(), 3, nullptr, 1, nullptr, &writer, &error) ==
        DAPPLE_INVALID_ARGUMENT);

  REQUIRE(dapple_create_frame(path.c_str(), 3, kColumns, 1, nullptr, &writer, &error) == 0);
  const std::uint8_t codes[] = {1, 2, 3};
  CHECK(dapple_put(writer, 0, 0, 3, 1, DAPPLE_U8, codes, 0, 0, &error) == DAPPLE_INVALID_ARGUMENT);
  INFO(error.message);
  CHECK(std::string(error.message).find("city") != std::string::npos);
}

TEST_CASE("c: sparse rows are cut into tiles") {
  const TempDir dir;
  const auto path = (dir / "m.dbdf").string();
  test::Rng random(5);
  constexpr std::uint64_t kRows = 40, kCols = 33;
  std::vector<double> wanted(kRows * kCols);
  std::vector<std::uint64_t> ptr = {0}, idx;
  std::vector<std::int16_t> values;
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t c = kCols; c-- > 0;) {  // out of order
      if (!random.chance(20)) continue;
      idx.push_back(c);
      values.push_back(static_cast<std::int16_t>(random.between(1, 999)));
      wanted[r * kCols + c] = values.back();
    }
    ptr.push_back(idx.size());
  }
  const char* const options[] = {"tile=7x10", nullptr};
  {
    Writer writer;
    dapple_error error;
    REQUIRE(dapple_create(path.c_str(), kRows, kCols, DAPPLE_I32, options, &writer, &error) == 0);
    REQUIRE(dapple_put_sparse(writer, 0, 0, kRows, kCols, DAPPLE_I16, ptr.data(), idx.data(),
                              values.data(), &error) == 0);
    const std::uint64_t back[] = {1, 0}, one[] = {0, 1}, far[] = {5};
    CHECK(dapple_put_sparse(writer, 0, 0, 1, 5, DAPPLE_I16, back, far, values.data(), &error) ==
          DAPPLE_INVALID_ARGUMENT);
    CHECK(dapple_put_sparse(writer, 0, 0, 1, 5, DAPPLE_I16, one, far, values.data(), &error) ==
          DAPPLE_OUT_OF_RANGE);
    REQUIRE(dapple_finish(writer, &error) == 0);
    Writer endless;
    REQUIRE(dapple_create((dir / "n.dbdf").c_str(), UINT64_MAX, 1, DAPPLE_I32, nullptr, &endless,
                          &error) == 0);
    CHECK(dapple_put_sparse(endless, 0, 0, UINT64_MAX, 1, DAPPLE_I16, nullptr, nullptr, nullptr,
                            &error) == DAPPLE_INVALID_ARGUMENT);
    CHECK(std::string(error.message) == "ptr is NULL");
  }
  const Matrix matrix = Matrix::open(path);
  CHECK(matrix.grid().has_value());
  CHECK(matrix.read<double>({{0, kRows}, {0, kCols}}) == wanted);
}

}  // namespace dapple::test::c
