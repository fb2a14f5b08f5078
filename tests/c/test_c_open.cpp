// Opening through the C functions, and everything that can be wrong with what they are given.

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/arrow_abi.h"
#include "dapple/dapple_c.h"
#include "tests/c/support.h"
#include "tests/check.h"

namespace dapple::test::c {

namespace {

void count(void* context) { ++*static_cast<int*>(context); }

// What programs that were compiled before there were error numbers take to be there.
static_assert(offsetof(dapple_error, byte) == 8 && offsetof(dapple_error, option) == 16);
static_assert(sizeof(dapple_error) == 1552);

}  // namespace

TEST_CASE("c: errors carry code, file, byte and option") {
  const TempDir dir;
  dapple_error error;
  Object object;
  CHECK(dapple_open((dir / "none.dbdf").c_str(), nullptr, &object, &error) == DAPPLE_IO);
  CHECK(error.code == DAPPLE_IO);
  CHECK(error.byte == DAPPLE_NO_BYTE);
  CHECK(std::string(error.file) == (dir / "none.dbdf").string());
  CHECK(std::string(error.message).find("No such file") != std::string::npos);
  CHECK(error.error_number == ENOENT);
  CHECK(object == nullptr);

  auto bytes = small_file();
  bytes.pop_back();
  CHECK(dapple_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, "a parcel", nullptr,
                           &object, &error) == DAPPLE_CORRUPT);
  CHECK(std::string(error.file) == "a parcel");
  CHECK(error.byte < bytes.size());
  CHECK(error.error_number == 0);

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

TEST_CASE("c: messages are UTF-8, whatever names of files and conditions are") {
  const TempDir dir;
  dapple_error error;
  Object object;
  const std::string path = (dir / "a\xff\xc3\xa4.dbdf").string();
  CHECK(dapple_open(path.c_str(), nullptr, &object, &error) == DAPPLE_IO);
  CHECK(std::string(error.file) == path);
  CHECK(std::string(error.message).find("a\xef\xbf\xbd\xc3\xa4.dbdf: cannot open") !=
        std::string::npos);
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
  CHECK(std::string(error.option) == "threads");
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
  CHECK(error.error_number == ENOENT);
  CHECK(failed({.bytes = small_file(), .size_answer = -EACCES}) == DAPPLE_IO);
  CHECK(error.error_number == EACCES);
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

}  // namespace dapple::test::c
