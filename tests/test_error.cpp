#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

TEST_CASE("error: every code has the name that messages and JSON print") {
  CHECK(name(Errc::io) == "io");
  CHECK(name(Errc::not_recognised) == "not_recognised");
  CHECK(name(Errc::unsupported) == "unsupported");
  CHECK(name(Errc::corrupt) == "corrupt");
  CHECK(name(Errc::out_of_range) == "out_of_range");
  CHECK(name(Errc::absent) == "absent");
  CHECK(name(Errc::type_mismatch) == "type_mismatch");
  CHECK(name(Errc::invalid_argument) == "invalid_argument");
  CHECK(name(Errc::stale_index) == "stale_index");
}

TEST_CASE("error: the message is one line of file, byte and detail") {
  const Error full(Errc::corrupt, "a.dbdf", 26, "there is no block type 7, only 0 to 3");
  CHECK(std::string(full.what()) ==
        "a.dbdf: corrupt at byte 26: there is no block type 7, only 0 to 3");
  CHECK(full.code() == Errc::corrupt);
  CHECK(full.file() == "a.dbdf");
  CHECK(full.offset() == 26);
  CHECK(full.detail() == "there is no block type 7, only 0 to 3");

  const Error no_byte(Errc::io, "a.dbdf", std::nullopt, "cannot open: No such file or directory");
  CHECK(std::string(no_byte.what()) == "a.dbdf: cannot open: No such file or directory");
  const Error only_corrupt(Errc::corrupt, "a.dbdf", std::nullopt, "two headers");
  CHECK(std::string(only_corrupt.what()) == "a.dbdf: corrupt: two headers");
  const Error other_code(Errc::type_mismatch, "a.dbdf", 7, "7.4 is not exact as f32");
  CHECK(std::string(other_code.what()) == "a.dbdf: at byte 7: 7.4 is not exact as f32");
  const Error no_file(Errc::out_of_range, "row 3 is outside the 3 rows");
  CHECK(std::string(no_file.what()) == "row 3 is outside the 3 rows");
  CHECK(no_file.file().empty());
  CHECK(!no_file.offset());
}

TEST_CASE("error: a copy keeps everything") {
  const Error original(Errc::stale_index, "a.dpx", 0, "it does not belong to the file");
  const Error copy = original;
  CHECK(copy.code() == original.code());
  CHECK(copy.offset() == original.offset());
  CHECK(std::string(copy.what()) == original.what());
}

TEST_CASE("error: one told in other words keeps its code, option and number") {
  const Error first(Errc::io, "a.dbdf", 7, "cannot read", "absent", EIO);
  const Error retold = first.retold("b.dbdf", std::nullopt, first.detail() + " the header");
  CHECK(std::string(retold.what()) == "b.dbdf: cannot read the header");
  CHECK(retold.code() == Errc::io);
  CHECK(!retold.offset());
  CHECK(retold.option() == "absent");
  CHECK(retold.error_number() == EIO);
  CHECK(Error(Errc::io, "its words end in No such file or directory").error_number() == 0);
}

TEST_CASE("error: what the system refuses has its number, whoever tells of it") {
  const test::TempDir dir;
  const auto number_of = [](const auto& f) {
    try {
      f();
    } catch (const Error& e) {
      CHECK(e.code() == Errc::io);
      return e.error_number();
    }
    return -1;
  };
  CHECK(number_of([&] { Matrix::open(dir / "none.dbdf"); }) == ENOENT);
  CHECK(number_of([&] { Matrix::open(dir / std::string(300, 'x')); }) == ENAMETOOLONG);
  const auto into = [&](const char* path) {
    return number_of([&] { MatrixWriter::create(dir / path, 1, 1, ValueType::u8); });
  };
  CHECK(into("none/a.dbdf") == ENOENT);
  std::ofstream(dir / "file") << "x";
  CHECK(into("file/a.dbdf") == ENOTDIR);

  const float cell = 1;
  auto writer = MatrixWriter::create(dir / "m.dbdf", 1, 1, ValueType::f32, {.sync = false});
  writer.put<float>({0, 0}, {&cell, 1, 1});
  writer.finish();
  dataset::append(dir / "set", Matrix::open(dir / "m.dbdf"));
  for (const auto& file : std::filesystem::directory_iterator(dir / "set")) {
    if (file.path().filename().string().starts_with("part-")) std::filesystem::remove(file);
  }
  CHECK(number_of([&] { Matrix::open(dir / "set").read<float>({{0, 1}, {0, 1}}); }) == ENOENT);
}
