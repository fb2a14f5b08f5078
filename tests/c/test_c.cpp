// The C functions: what they give, and everything that can be wrong with what they are given. The
// examples in apps/examples/c are the same from C itself.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/arrow_abi.h"
#include "dapple/dapple_c.h"
#include "tests/support.h"

using namespace dapple;
using dapple::test::TempDir;

namespace {

/// A handle that is freed in the end.
template <class Handle, void (*kFree)(Handle**)>
struct Owned {
  Handle* handle = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { kFree(&handle); }
  operator Handle*() const noexcept { return handle; }  // NOLINT
  Handle** operator&() noexcept { return &handle; }     // NOLINT
};
using Object = Owned<dapple_object, dapple_close>;
using Sparse = Owned<dapple_sparse, dapple_sparse_free>;
using Writer = Owned<dapple_writer, dapple_abandon>;

/// 3 x 4, row after row 0 to 11, in two blocks.
std::vector<std::byte> small_file() {
  return test::Image::matrix(3, 4, ValueType::i32)
      .dense<std::int32_t>({0, 0}, 2, 4, {0, 1, 2, 3, 4, 5, 6, 7})
      .dense<std::int8_t>({2, 0}, 1, 4, {8, 9, 10, 11})
      .bytes();
}

void open_bytes(const std::vector<std::byte>& bytes, Object& object) {
  REQUIRE(dapple_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, "bytes", nullptr,
                             &object, nullptr) == DAPPLE_OK);
}

void open_path(const std::filesystem::path& path, Object& object) {
  dapple_error error;
  const int32_t code = dapple_open(path.c_str(), nullptr, &object, &error);
  INFO(error.message);
  REQUIRE(code == DAPPLE_OK);
}

/// A frame of words, times and numbers, some of them missing.
std::filesystem::path people(const TempDir& dir) {
  test::write_text(
      dir / "p.csv",
      "name,born,height\n\"Ann\",2001-02-03,1.5\n\"Bob\",,1.75\n\"Ann\",1999-12-31,\n");
  return dir / "p.csv";
}

void count(void* context) { ++*static_cast<int*>(context); }

constexpr dapple_region kAll{0, 3, 0, 4};

}  // namespace

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

TEST_CASE("c: errors carry code, file, byte and option") {
  const TempDir dir;
  dapple_error error;
  Object object;
  CHECK(dapple_open((dir / "none.dbdf").c_str(), nullptr, &object, &error) == DAPPLE_IO);
  CHECK(error.code == DAPPLE_IO);
  CHECK(error.byte == DAPPLE_NO_BYTE);
  CHECK(std::string(error.file) == (dir / "none.dbdf").string());
  CHECK(std::string(error.message).find("No such file") != std::string::npos);
  CHECK(object == nullptr);

  auto bytes = small_file();
  bytes.pop_back();
  CHECK(dapple_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, "a parcel", nullptr,
                           &object, &error) == DAPPLE_CORRUPT);
  CHECK(std::string(error.file) == "a parcel");
  CHECK(error.byte < bytes.size());

  const auto holes =
      test::Image::matrix(2, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 2, {1, 2}).bytes();
  open_bytes(holes, object);
  const dapple_region all{0, 2, 0, 2};
  float cells[4];
  CHECK(dapple_read(object, &all, DAPPLE_F32, cells, sizeof cells, 0, 0, nullptr, &error) ==
        DAPPLE_ABSENT);
  CHECK(std::string(error.option) == "absent");
  const dapple_read_options nan{DAPPLE_ABSENT_NAN, 2};
  REQUIRE(dapple_read(object, &all, DAPPLE_F32, cells, sizeof cells, 0, 0, &nan, &error) == 0);
  CHECK(cells[1] == 2);
  CHECK(std::isnan(cells[2]));

  const std::string path = (dir / std::string(200, 'x')).string() + std::string(600, '/') + "y";
  CHECK(dapple_open(path.c_str(), nullptr, &object, &error) == DAPPLE_IO);
  CHECK(std::strlen(error.file) == sizeof error.file - 1);
  CHECK(path.starts_with(error.file));
}

TEST_CASE("c: texts are cut between characters") {
  dapple_error error;
  Object object;
  std::string path = "/";
  while (path.size() < 600) path += "\xE2\x82\xAC";  // three bytes
  CHECK(dapple_open(path.c_str(), nullptr, &object, &error) == DAPPLE_IO);
  CHECK(std::strlen(error.file) == 1 + (sizeof error.file - 2) / 3 * 3);
}

TEST_CASE("c: NULLs and handles of another kind are errors") {
  const TempDir dir;
  const auto bytes = small_file();
  Object object;
  open_bytes(bytes, object);
  Writer writer;
  REQUIRE(dapple_create((dir / "m.dbdf").c_str(), 2, 2, DAPPLE_F64, nullptr, &writer, nullptr) ==
          0);
  auto* const wrong = reinterpret_cast<dapple_object*>(writer.handle);
  dapple_info info;
  dapple_column column;
  dapple_stats stats;
  dapple_arrays arrays;
  dapple_condition condition{};
  dapple_sparse* sparse = nullptr;
  dapple_object* another = nullptr;
  ArrowArrayStream stream;
  const char* text;
  size_t size;
  std::uint64_t number = 0;
  double cell = 0;
  const dapple_region one{0, 1, 0, 1};
  for (dapple_object* const o : {static_cast<dapple_object*>(nullptr), wrong}) {
    for (const int32_t code :
         {dapple_get_info(o, &info, nullptr),
          dapple_get_text(o, DAPPLE_NOTE, 0, &text, &size, nullptr),
          dapple_get_attributes(o, nullptr, 0, &size, nullptr),
          dapple_get_column(o, 0, &column, nullptr), dapple_find_column(o, "x", &number, nullptr),
          dapple_get_word(o, 0, 0, &text, &size, nullptr),
          dapple_arrow_stream(o, nullptr, 0, 0, 0, &stream, nullptr),
          dapple_read(o, &one, DAPPLE_F64, &cell, 8, 0, 0, nullptr, nullptr),
          dapple_gather(o, &number, 1, 0, 1, DAPPLE_F64, &cell, 8, 0, nullptr, nullptr),
          dapple_read_sparse(o, &one, DAPPLE_F64, nullptr, &sparse, nullptr),
          dapple_gather_rows(o, &number, 1, 0, 1, DAPPLE_F64, nullptr, &sparse, nullptr),
          dapple_gather_columns(o, &number, 1, DAPPLE_F64, nullptr, &sparse, nullptr),
          dapple_get_stats(o, DAPPLE_ALL, &stats, 1, nullptr, nullptr),
          dapple_where_rows(o, "#0 > 1", nullptr, nullptr, nullptr, nullptr, nullptr),
          dapple_where_cells(o, &condition, DAPPLE_F64, nullptr, nullptr, nullptr, nullptr,
                             nullptr)}) {
      CHECK(code == DAPPLE_INVALID_ARGUMENT);
    }
  }
  for (const int32_t code :
       {dapple_open(nullptr, nullptr, &another, nullptr),
        dapple_open("x", nullptr, nullptr, nullptr),
        dapple_open_memory(nullptr, 1, nullptr, nullptr, "x", nullptr, &another, nullptr),
        dapple_open_reader(nullptr, "x", nullptr, &another, nullptr),
        dapple_get_info(object, nullptr, nullptr),
        dapple_get_text(object, DAPPLE_NOTE, 0, nullptr, &size, nullptr),
        dapple_get_text(object, 99, 0, &text, &size, nullptr),
        dapple_read(object, nullptr, DAPPLE_F64, &cell, 8, 0, 0, nullptr, nullptr),
        dapple_read(object, &one, DAPPLE_F64, nullptr, 8, 0, 0, nullptr, nullptr),
        dapple_read(object, &one, 11, &cell, 8, 0, 0, nullptr, nullptr),
        dapple_read(object, &one, -1, &cell, 8, 0, 0, nullptr, nullptr),
        dapple_read(object, &one, DAPPLE_F64, &cell, 7, 0, 0, nullptr, nullptr),
        dapple_gather(object, nullptr, 1, 0, 1, DAPPLE_F64, &cell, 8, 0, nullptr, nullptr),
        dapple_gather(object, &number, 1, 0, 1, DAPPLE_F64, &cell, 8, 9, nullptr, nullptr),
        dapple_read_sparse(object, &one, DAPPLE_F64, nullptr, nullptr, nullptr),
        dapple_get_arrays(nullptr, &arrays, nullptr),
        dapple_get_stats(object, DAPPLE_ROWS, &stats, 1, nullptr, nullptr),
        dapple_get_stats(object, 7, &stats, 4, nullptr, nullptr),
        dapple_where_cells(object, nullptr, DAPPLE_F64, nullptr, nullptr, nullptr, nullptr,
                           nullptr),
        dapple_where_cells(object, &condition, DAPPLE_F64, nullptr, nullptr, nullptr, nullptr,
                           nullptr),
        dapple_put(nullptr, 0, 0, 1, 1, DAPPLE_F64, &cell, 0, 0, nullptr),
        dapple_put(writer, 0, 0, 1, 1, DAPPLE_F64, nullptr, 0, 0, nullptr),
        dapple_put(writer, 0, 0, 0, 1, DAPPLE_F64, &cell, 0, 0, nullptr),
        dapple_put_sparse(writer, 0, 0, 1, 1, DAPPLE_F64, nullptr, nullptr, nullptr, nullptr),
        dapple_finish(nullptr, nullptr)}) {
    CHECK(code == DAPPLE_INVALID_ARGUMENT);
  }
  const dapple_region backwards{2, 1, 0, 1};
  CHECK(dapple_read(object, &backwards, DAPPLE_F64, &cell, 8, 0, 0, nullptr, nullptr) ==
        DAPPLE_INVALID_ARGUMENT);
  CHECK(sparse == nullptr);
  CHECK(another == nullptr);
  dapple_close(nullptr);
  dapple_close(&another);
  dapple_close(&object.handle);
  CHECK(object == nullptr);
  dapple_close(&object.handle);
  dapple_sparse_free(&sparse);
}

TEST_CASE("c: options that do not exist or that have no sense are errors") {
  dapple_error error;
  Object object;
  const auto message = [&](const char* option) {
    const char* const options[] = {option, nullptr};
    CHECK(dapple_open("x", options, &object, &error) == DAPPLE_INVALID_ARGUMENT);
    return std::string(error.message);
  };
  CHECK(message("colour=red") == "there is no option 'colour'");
  CHECK(message("threads") == "the option 'threads' needs a value: threads=VALUE");
  CHECK(message("threads=-1") ==
        "the option 'threads' must be a number from 0 to 4294967295, not '-1'");
  CHECK(message("check=now") ==
        "the option 'check' must be one of never, first_touch, always, not 'now'");
  CHECK(message("guard=1") == "the option 'guard' must be true or false, not '1'");
  CHECK(message("csv.delimiter=ab") ==
        "the option 'csv.delimiter' must be one character or 'tab', not 'ab'");
  CHECK(std::string(error.option) == "csv.delimiter");
  CHECK(message("csv.delimeter=;") ==
        "there is no option 'csv.delimeter'; did you mean 'csv.delimiter'?");
  CHECK(message("idv.deflate=true").starts_with("there is no option 'idv.deflate'"));
  CHECK(message("csv.type=x") ==
        "the option 'csv.type' must be LABEL=TYPE, with a type of u8 to u64, i8 to i64, f32, f64, "
        "boolean, timestamp, duration, category, text, not 'x'");
  const TempDir dir;
  test::write_text(dir / "typed.csv", "a=b,c\n1,2\n");
  const char* const types[] = {"csv.type=a=b=u16", "csv.type=c=category", nullptr};
  REQUIRE(dapple_open((dir / "typed.csv").c_str(), types, &object, &error) == 0);
  dapple_column column;
  REQUIRE(dapple_get_column(object, 0, &column, &error) == 0);
  CHECK(column.type == DAPPLE_U16);
  REQUIRE(dapple_get_column(object, 1, &column, &error) == 0);
  CHECK(column.meaning == DAPPLE_CATEGORY);
  dapple_close(&object.handle);
  test::write_text(dir / "t.txt", "1;2\n3;-\n");
  const char* const options[] = {"format=csv",         "csv.header=false",        "csv.delimiter=;",
                                 "csv.missing_word=-", "csv.missing_as_nan=true", nullptr};
  REQUIRE(dapple_open((dir / "t.txt").c_str(), options, &object, &error) == 0);
  double cells[4];
  const dapple_region all{0, 2, 0, 2};
  REQUIRE(dapple_read(object, &all, DAPPLE_F64, cells, sizeof cells, 0, 0, nullptr, &error) == 0);
  CHECK(cells[2] == 3);
  CHECK(std::isnan(cells[3]));
}

TEST_CASE("c: memory is released once, whether it could be opened or not") {
  const auto bytes = small_file();
  int released = 0;
  dapple_object* object = nullptr;
  REQUIRE(dapple_open_memory(bytes.data(), bytes.size(), count, &released, "m", nullptr, &object,
                             nullptr) == 0);
  CHECK(released == 0);
  dapple_close(&object);
  CHECK(released == 1);
  CHECK(dapple_open_memory(bytes.data(), 3, count, &released, nullptr, nullptr, &object, nullptr) !=
        0);
  CHECK(released == 2);
  CHECK(dapple_open_memory(bytes.data(), bytes.size(), count, &released, nullptr, nullptr, nullptr,
                           nullptr) == DAPPLE_INVALID_ARGUMENT);
  CHECK(released == 3);
  const char* const wrong[] = {"no=no", nullptr};
  CHECK(dapple_open_memory(bytes.data(), bytes.size(), count, &released, nullptr, wrong, &object,
                           nullptr) == DAPPLE_INVALID_ARGUMENT);
  CHECK(released == 4);
  CHECK(object == nullptr);
}

namespace {

/// What a reader of a test does.
struct Source {
  std::vector<std::byte> bytes;
  int released = 0;
  std::int64_t size_answer = 0, read_answer = 0;  // not 0: in place of the true one
  bool throws = false;

  dapple_reader reader() {
    return {this,
            [](void* self) {
              auto& s = *static_cast<Source*>(self);
              return s.size_answer != 0 ? s.size_answer : static_cast<std::int64_t>(s.bytes.size());
            },
            [](void* self, const dapple_range* ranges, size_t n) {
              auto& s = *static_cast<Source*>(self);
              if (s.throws) throw std::runtime_error("thrown by a reader");
              std::int64_t done = 0;
              for (size_t k = 0; k < n; ++k) {
                std::memcpy(ranges[k].to, s.bytes.data() + ranges[k].offset, ranges[k].size);
                done += static_cast<std::int64_t>(ranges[k].size);
              }
              return s.read_answer != 0 ? s.read_answer : done;
            },
            [](void* self) { ++static_cast<Source*>(self)->released; }};
  }
};

}  // namespace

TEST_CASE("c: what a reader reads is opened, and the reader released once") {
  Source source{small_file()};
  const dapple_reader reader = source.reader();
  {
    Object object;
    REQUIRE(dapple_open_reader(&reader, "blob", nullptr, &object, nullptr) == 0);
    std::int64_t cells[12];
    REQUIRE(dapple_read(object, &kAll, DAPPLE_I64, cells, sizeof cells, 0, 0, nullptr, nullptr) ==
            0);
    CHECK(cells[11] == 11);
    CHECK(source.released == 0);
  }
  CHECK(source.released == 1);
}

TEST_CASE("c: a reader that fails is an error, and released") {
  dapple_error error;
  Object object;
  const auto failed = [&](Source source) {
    const dapple_reader reader = source.reader();
    const int32_t code = dapple_open_reader(&reader, "blob", nullptr, &object, &error);
    CHECK(source.released == 1);
    CHECK(object == nullptr);
    return code;
  };
  CHECK(failed({.bytes = small_file(), .read_answer = -ENOENT}) == DAPPLE_IO);
  CHECK(std::string(error.file) == "blob");
  CHECK(std::string(error.message).find("No such file") != std::string::npos);
  CHECK(failed({.bytes = small_file(), .size_answer = -EACCES}) == DAPPLE_IO);
  CHECK(std::string(error.message).find("Permission denied") != std::string::npos);
  CHECK(failed({.bytes = small_file(), .read_answer = 1}) == DAPPLE_IO);
  CHECK(failed({.bytes = small_file(), .size_answer = std::numeric_limits<std::int64_t>::max()}) ==
        DAPPLE_IO);
  CHECK(failed({.bytes = small_file(), .read_answer = std::numeric_limits<std::int64_t>::min()}) ==
        DAPPLE_IO);
  CHECK(failed({.bytes = small_file(), .throws = true}) == DAPPLE_INTERNAL);
  CHECK(std::string(error.message) == "thrown by a reader");
  const dapple_reader nothing{};
  CHECK(dapple_open_reader(&nothing, "blob", nullptr, &object, &error) == DAPPLE_INVALID_ARGUMENT);
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
  REQUIRE(dapple_copy_arrays(sparse, DAPPLE_I32, ptr, idx, values, nullptr) == 0);
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
  }
  const Matrix matrix = Matrix::open(path);
  CHECK(matrix.grid().has_value());
  CHECK(matrix.read<double>({{0, kRows}, {0, kCols}}) == wanted);
}
