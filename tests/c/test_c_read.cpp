// Cells, columns, statistics and searches through the C functions.

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dapple/arrow_abi.h"
#include "dapple/dapple_c.h"
#include "tests/c/support.h"
#include "tests/check.h"

namespace dapple::test::c {

TEST_CASE("c: cells are read in any type, row after row or column after column") {
  const auto bytes = small_file();
  Object object;
  open_bytes(bytes, object);
  dapple_info info;
  REQUIRE(dapple_get_info(object, &info, nullptr) == DAPPLE_OK);
  CHECK(info.rows == 3);
  CHECK(info.cols == 4);
  CHECK(info.blocks == 2);
  CHECK(info.bytes == bytes.size());
  CHECK(std::string(info.format) == "dbdf");
  CHECK(info.kind == DAPPLE_MATRIX);
  CHECK(info.type == DAPPLE_I32);
  double rows[12], columns[12];
  REQUIRE(dapple_read(object, &kAll, DAPPLE_F64, rows, sizeof rows, 0, 0, nullptr, nullptr) == 0);
  REQUIRE(dapple_read(object, &kAll, DAPPLE_F64, columns, sizeof columns, 8, 24, nullptr,
                      nullptr) == 0);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      CHECK(rows[4 * r + c] == 4 * r + c);
      CHECK(columns[r + 3 * c] == 4 * r + c);
    }
  }
  const std::uint64_t wanted[] = {2, 0, 2};
  std::uint8_t some[6];
  REQUIRE(dapple_gather(object, wanted, 3, 1, 3, DAPPLE_U8, some, sizeof some, 0, nullptr,
                        nullptr) == 0);
  CHECK(std::vector<int>(some, some + 6) == std::vector<int>{9, 10, 1, 2, 9, 10});
}

TEST_CASE("c: columns of a frame have labels, types, meanings and words") {
  const TempDir dir;
  Object object;
  open_path(people(dir), object);
  dapple_error error;
  dapple_info info;
  REQUIRE(dapple_get_info(object, &info, &error) == 0);
  CHECK(info.kind == DAPPLE_FRAME);
  CHECK(info.type == 0);
  std::uint64_t col = 9;
  REQUIRE(dapple_find_column(object, "born", &col, &error) == 0);
  CHECK(col == 1);
  CHECK(dapple_find_column(object, "boren", &col, &error) == DAPPLE_ABSENT);
  CHECK(std::string(error.message).find("did you mean \"born\"") != std::string::npos);
  const char* text = nullptr;
  size_t size = 0;
  REQUIRE(dapple_get_text(object, DAPPLE_LABEL, 2, &text, &size, &error) == 0);
  CHECK(std::string(text) == "height");
  CHECK(size == 6);
  CHECK(dapple_get_text(object, DAPPLE_LABEL, 3, &text, &size, &error) == DAPPLE_OUT_OF_RANGE);

  dapple_column column;
  REQUIRE(dapple_get_column(object, 0, &column, &error) == 0);
  const bool has_words = column.meaning == DAPPLE_CATEGORY || column.meaning == DAPPLE_WORDS;
  CHECK(has_words);
  CHECK(column.words == 2);
  CHECK(column.has_missing == 1);
  CHECK(column.missing == 0);
  std::uint32_t codes[3];
  const dapple_region first{0, 3, 0, 1};
  REQUIRE(dapple_read(object, &first, DAPPLE_U32, codes, sizeof codes, 0, 0, nullptr, &error) == 0);
  CHECK(codes[0] == codes[2]);
  REQUIRE(dapple_get_word(object, 0, codes[1] - 1, &text, &size, &error) == 0);
  CHECK(std::string(text, size) == "Bob");
  CHECK(dapple_get_word(object, 0, 2, &text, &size, &error) == DAPPLE_OUT_OF_RANGE);
  CHECK(dapple_get_word(object, 2, 0, &text, &size, &error) == DAPPLE_TYPE_MISMATCH);

  REQUIRE(dapple_get_column(object, 1, &column, &error) == 0);
  CHECK(column.meaning == DAPPLE_TIMESTAMP);
  CHECK(column.unit == DAPPLE_DAY);
  CHECK(std::string(column.zone).empty());
  CHECK(column.missing == std::uint64_t{1} << 63);
  REQUIRE(dapple_get_column(object, 2, &column, &error) == 0);
  CHECK(column.meaning == DAPPLE_NUMBER);
  CHECK(column.type == DAPPLE_F64);
  CHECK(column.missing == 0x7ff80000000007a2);
  CHECK(dapple_get_column(object, 3, &column, &error) == DAPPLE_OUT_OF_RANGE);
}

TEST_CASE("c: a column of words that cannot be read is an error, not one without words") {
  const std::string head = "{'descr': [('t', 'S2')], 'fortran_order': False, 'shape': (2,), }\n";
  const std::string text =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(head.size()) + '\0' + head + "ab\xff\xff";
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  Object object;
  open_bytes(bytes, object);
  dapple_column column;
  for (int i = 0; i < 2; ++i) {
    dapple_error error;
    CHECK(dapple_get_column(object, 0, &column, &error) == DAPPLE_CORRUPT);
    CHECK(std::string(error.message).find("is not UTF-8") != std::string::npos);
  }
}

TEST_CASE("c: columns of a stream have the numbers that they have elsewhere") {
  Object object;  // its first column can only be shown as text, and counts nowhere
  open_path(golden("idv") / "optional-columns-schema.idv", object);
  for (std::uint64_t col = 0; col < 4; ++col) {
    ArrowArrayStream stream;
    REQUIRE(dapple_arrow_stream(object, &col, 1, 0, 0, &stream, nullptr) == 0);
    ArrowSchema schema;
    REQUIRE(stream.get_schema(&stream, &schema) == 0);
    const char* label;
    std::size_t size;
    REQUIRE(dapple_get_text(object, DAPPLE_LABEL, col, &label, &size, nullptr) == 0);
    CHECK(std::string(schema.children[0]->name) == label);
    schema.release(&schema);
    stream.release(&stream);
  }
  const std::uint64_t beyond = 4;
  ArrowArrayStream none;
  CHECK(dapple_arrow_stream(object, &beyond, 1, 0, 0, &none, nullptr) == DAPPLE_OUT_OF_RANGE);
}

TEST_CASE("c: a frame is an Arrow stream, which outlives it") {
  const TempDir dir;
  ArrowArrayStream stream;
  {
    Object object;
    open_path(people(dir), object);
    const std::uint64_t cols[] = {2, 0};
    REQUIRE(dapple_arrow_stream(object, cols, 2, 1, 3, &stream, nullptr) == 0);
    const std::uint64_t wrong[] = {3};
    ArrowArrayStream none;
    CHECK(dapple_arrow_stream(object, wrong, 1, 0, 3, &none, nullptr) == DAPPLE_OUT_OF_RANGE);
    CHECK(dapple_arrow_stream(object, cols, 2, 0, 4, &none, nullptr) == DAPPLE_OUT_OF_RANGE);
  }
  ArrowSchema schema;
  ArrowArray batch, end;
  REQUIRE(stream.get_schema(&stream, &schema) == 0);
  REQUIRE(stream.get_next(&stream, &batch) == 0);
  REQUIRE(stream.get_next(&stream, &end) == 0);
  CHECK((end.release == nullptr));
  stream.release(&stream);
  REQUIRE(schema.n_children == 2);
  CHECK(std::string(schema.children[0]->name) == "height");
  CHECK(std::string(schema.children[0]->format) == "g");
  CHECK(std::string(schema.children[1]->name) == "name");
  CHECK(batch.length == 2);
  const ArrowArray& heights = *batch.children[0];
  CHECK(heights.null_count == 1);
  CHECK((*static_cast<const std::uint8_t*>(heights.buffers[0]) & 3) == 1);
  CHECK(static_cast<const double*>(heights.buffers[1])[0] == 1.75);
  schema.release(&schema);
  batch.release(&batch);
}

TEST_CASE("c: sparse cells are given in place, and copied with indices of four types") {
  const auto bytes = test::Image::matrix(3, 5, ValueType::f64, 2)
                         .csr<double>({0, 0}, 5, {{{1, 1.5}, {4, 2.5}}, {}, {{0, -3.0}}})
                         .bytes();
  Object object;
  open_bytes(bytes, object);
  Sparse sparse;
  const dapple_region region{0, 3, 1, 5};
  REQUIRE(dapple_read_sparse(object, &region, DAPPLE_F32, nullptr, &sparse, nullptr) == 0);
  dapple_arrays arrays;
  REQUIRE(dapple_get_arrays(sparse, &arrays, nullptr) == 0);
  CHECK(arrays.rows == 3);
  REQUIRE(arrays.entries == 2);
  CHECK(arrays.type == DAPPLE_F32);
  CHECK(arrays.idx[1] == 3);
  CHECK(static_cast<const float*>(arrays.values)[1] == 2.5F);
  std::int32_t ptr[4], idx[2];
  float values[2];
  std::uint32_t unsigned_ptr[4], unsigned_idx[2];
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_U32, unsigned_ptr, unsigned_idx, values, nullptr) == 0);
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_I32, ptr, idx, values, nullptr) == 0);
  CHECK(std::equal(ptr, ptr + 4, unsigned_ptr));
  CHECK(std::equal(idx, idx + 2, unsigned_idx));
  CHECK(std::vector<int>(ptr, ptr + 4) == std::vector<int>{0, 2, 2, 2});
  CHECK(std::vector<int>(idx, idx + 2) == std::vector<int>{0, 3});
  CHECK(values[0] == 1.5F);
  std::uint64_t wide[2];
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_U64, nullptr, wide, nullptr, nullptr) == 0);
  CHECK(wide[1] == 3);
  CHECK(dapple_copy_arrays(sparse, DAPPLE_F64, ptr, idx, values, nullptr) ==
        DAPPLE_INVALID_ARGUMENT);

  dapple_sparse* const before = sparse;
  const std::uint64_t rows[] = {2, 0, 2}, cols[] = {4, 0};
  REQUIRE(dapple_gather_rows(object, rows, 3, 0, 5, DAPPLE_F64, nullptr, &sparse, nullptr) == 0);
  CHECK(sparse == before);
  REQUIRE(dapple_get_arrays(sparse, &arrays, nullptr) == 0);
  CHECK(std::vector<std::uint64_t>(arrays.ptr, arrays.ptr + 4) ==
        std::vector<std::uint64_t>{0, 1, 3, 4});
  CHECK(static_cast<const double*>(arrays.values)[3] == -3.0);
  REQUIRE(dapple_gather_columns(object, cols, 2, DAPPLE_F64, nullptr, &sparse, nullptr) == 0);
  REQUIRE(dapple_get_arrays(sparse, &arrays, nullptr) == 0);
  CHECK(arrays.rows == 2);
  CHECK(std::vector<std::uint64_t>(arrays.idx, arrays.idx + 2) == std::vector<std::uint64_t>{0, 2});

  for (const dapple_type type : {DAPPLE_F64, DAPPLE_F32}) {  // lists that it has itself
    for (const void* const own : {static_cast<const void*>(arrays.ptr),
                                  static_cast<const void*>(arrays.idx), arrays.values}) {
      const auto* const list = static_cast<const std::uint64_t*>(own);
      CHECK(dapple_gather_rows(object, list, 1, 0, 5, type, nullptr, &sparse, nullptr) ==
            DAPPLE_INVALID_ARGUMENT);
      CHECK(dapple_gather_columns(object, list, 1, type, nullptr, &sparse, nullptr) ==
            DAPPLE_INVALID_ARGUMENT);
    }
  }
  REQUIRE(dapple_get_arrays(sparse, &arrays, nullptr) == 0);
  CHECK(arrays.rows == 2);

  const std::uint64_t outside[] = {3};
  CHECK(dapple_gather_rows(object, outside, 1, 0, 5, DAPPLE_F64, nullptr, &sparse, nullptr) ==
        DAPPLE_OUT_OF_RANGE);
  CHECK(dapple_gather_rows(object, rows, 3, 0, 5, DAPPLE_U8, nullptr, &sparse, nullptr) ==
        DAPPLE_TYPE_MISMATCH);
  REQUIRE(dapple_get_arrays(sparse, &arrays, nullptr) == 0);
  CHECK(arrays.rows == 0);
}

TEST_CASE("c: an index that does not fit is an error before anything is copied") {
  const std::uint64_t far = std::uint64_t{1} << 40;
  const auto bytes = test::Image::matrix(1, far + 1, ValueType::u8, 2)
                         .coo<std::uint8_t>({0, far}, 1, 1, {{0, 0, 7}})
                         .bytes();
  Object object;
  open_bytes(bytes, object);
  Sparse sparse;
  const dapple_region region{0, 1, 0, far + 1};
  const dapple_read_options zeros{DAPPLE_ABSENT_ZERO, 1};
  REQUIRE(dapple_read_sparse(object, &region, DAPPLE_U8, &zeros, &sparse, nullptr) == 0);
  std::int32_t ptr[2] = {-1, -1}, idx[1] = {-1};
  CHECK(dapple_copy_arrays(sparse, DAPPLE_I32, ptr, idx, nullptr, nullptr) == DAPPLE_TYPE_MISMATCH);
  CHECK(ptr[0] == -1);
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_I32, ptr, nullptr, nullptr, nullptr) == 0);
  CHECK(ptr[1] == 1);
  std::int64_t wide[1];
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_I64, nullptr, wide, nullptr, nullptr) == 0);
  CHECK(wide[0] == static_cast<std::int64_t>(far));
}

TEST_CASE("c: statistics of all, rows and columns") {
  const auto bytes = small_file();
  Object object;
  open_bytes(bytes, object);
  dapple_stats all, rows[3], cols[4];
  REQUIRE(dapple_get_stats(object, DAPPLE_ALL, &all, 1, nullptr, nullptr) == 0);
  CHECK(all.count == 12);
  CHECK(all.nonzero == 11);
  CHECK(all.sum == 66);
  CHECK(all.mean == 5.5);
  CHECK(all.variance == doctest::Approx(143.0 / 12));
  REQUIRE(dapple_get_stats(object, DAPPLE_ROWS, rows, 3, nullptr, nullptr) == 0);
  CHECK(rows[1].sum == 22);
  REQUIRE(dapple_get_stats(object, DAPPLE_COLUMNS, cols, 4, nullptr, nullptr) == 0);
  CHECK(cols[3].max == 11);
  CHECK(cols[3].min == 3);
}

TEST_CASE("c: rows and cells are found, counted, and a search is stopped") {
  const TempDir dir;
  Object frame, matrix;
  open_path(people(dir), frame);
  const auto bytes = small_file();
  open_bytes(bytes, matrix);
  std::vector<std::uint64_t> rows;
  const auto take_rows = [](void* context, const uint64_t* some, size_t n) -> int32_t {
    auto& to = *static_cast<std::vector<std::uint64_t>*>(context);
    to.insert(to.end(), some, some + n);
    return 0;
  };
  std::uint64_t found = 0;
  REQUIRE(dapple_where_rows(frame, "name = \"Ann\"", take_rows, &rows, &found, nullptr, nullptr) ==
          0);
  CHECK(rows == std::vector<std::uint64_t>{0, 2});
  CHECK(found == 2);
  REQUIRE(dapple_where_rows(frame, "height missing", nullptr, nullptr, &found, nullptr, nullptr) ==
          0);
  CHECK(found == 1);
  CHECK(dapple_where_rows(frame, "age > 3", nullptr, nullptr, &found, nullptr, nullptr) ==
        DAPPLE_ABSENT);
  CHECK(dapple_where_rows(frame, "height >", nullptr, nullptr, &found, nullptr, nullptr) ==
        DAPPLE_INVALID_ARGUMENT);
  CHECK(dapple_where_rows(matrix, "#0 > 1", nullptr, nullptr, &found, nullptr, nullptr) ==
        DAPPLE_TYPE_MISMATCH);
  const auto stop = [](void*, const uint64_t*, size_t) -> int32_t { return 1; };
  CHECK(dapple_where_rows(frame, "height > 0", stop, nullptr, &found, nullptr, nullptr) ==
        DAPPLE_STOPPED);

  dapple_condition condition{};
  condition.test = DAPPLE_BETWEEN;
  condition.type = DAPPLE_F64;
  condition.low.f64 = 6.5;
  condition.high.f64 = 9;
  std::vector<dapple_hit> hits;
  const auto take_hits = [](void* context, const dapple_hit* some, size_t n) -> int32_t {
    auto& to = *static_cast<std::vector<dapple_hit>*>(context);
    to.insert(to.end(), some, some + n);
    return 0;
  };
  REQUIRE(dapple_where_cells(matrix, &condition, DAPPLE_I64, take_hits, &hits, &found, nullptr,
                             nullptr) == 0);
  REQUIRE(hits.size() == 3);
  CHECK(found == 3);
  CHECK(hits[0].row == 1);
  CHECK(hits[0].col == 3);
  CHECK(hits[2].value.i64 == 9);
  condition.test = DAPPLE_AT_MOST;
  condition.type = DAPPLE_U64;
  condition.high.u64 = 2;
  REQUIRE(dapple_where_cells(matrix, &condition, DAPPLE_F64, nullptr, nullptr, &found, nullptr,
                             nullptr) == 0);
  CHECK(found == 3);
  condition.nonzero = 1;
  REQUIRE(dapple_where_cells(matrix, &condition, DAPPLE_F64, nullptr, nullptr, &found, nullptr,
                             nullptr) == 0);
  CHECK(found == 2);
  CHECK(dapple_where_cells(matrix, &condition, DAPPLE_F32, nullptr, nullptr, &found, nullptr,
                           nullptr) == DAPPLE_INVALID_ARGUMENT);
  CHECK(dapple_where_cells(frame, &condition, DAPPLE_F64, nullptr, nullptr, &found, nullptr,
                           nullptr) == DAPPLE_TYPE_MISMATCH);
}

TEST_CASE("c: each test of cells finds what it says") {
  Object matrix;
  const auto bytes = small_file();
  open_bytes(bytes, matrix);
  dapple_error error;
  dapple_condition condition{};
  condition.type = DAPPLE_I64;
  condition.low.i64 = 3;
  condition.high.i64 = 7;
  const std::pair<std::int32_t, std::uint64_t> counts[] = {
      {DAPPLE_ABOVE, 8}, {DAPPLE_AT_LEAST, 9}, {DAPPLE_BELOW, 7},  {DAPPLE_AT_MOST, 8},
      {DAPPLE_EQUAL, 1}, {DAPPLE_BETWEEN, 5},  {DAPPLE_IS_NAN, 0}, {DAPPLE_ABOVE, 8}};
  for (const auto& [test, cells] : counts) {
    condition.test = test;
    std::uint64_t found = 99;
    REQUIRE(dapple_where_cells(matrix, &condition, DAPPLE_I64, nullptr, nullptr, &found, nullptr,
                               &error) == 0);
    CHECK(found == cells);
  }
  condition.test = -1;
  CHECK(dapple_where_cells(matrix, &condition, DAPPLE_I64, nullptr, nullptr, nullptr, nullptr,
                           &error) == DAPPLE_INVALID_ARGUMENT);
  CHECK(std::string(error.message) == "there is no test -1");
  dapple_read_options options{};
  options.absent = 3;
  std::int32_t cell = 0;
  const dapple_region first{0, 1, 0, 1};
  CHECK(dapple_read(matrix, &first, DAPPLE_I32, &cell, sizeof cell, 0, 0, &options, &error) ==
        DAPPLE_INVALID_ARGUMENT);
  CHECK(std::string(error.message) == "there is no way 3 to read absent cells");
}

}  // namespace dapple::test::c
