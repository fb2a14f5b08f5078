// Writing files of the DAPHNE runtime and their .meta: exact bytes, and everything read back.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/foreign/daphne_objects.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

TEST_CASE("daphne: matrices are written as the runtime wrote them, byte for byte") {
  const TempDir dir;
  for (const auto& path : golden_files("daphne", ".dbdf")) {
    const std::string name = path.filename().string();
    if (name.starts_with("frame") || name.starts_with("scalar")) continue;
    CAPTURE(path);
    to_runtime(open_as(path, "daphne"), dir / name);
    CHECK(read_bytes(dir / name) == read_bytes(path));
  }
}

TEST_CASE("daphne: writing gives the file and its .meta, and both come back") {
  const TempDir dir;
  auto writer = FrameWriter::create(dir / "f.dbdf", 2,
                                    {{"a b", ValueType::u8}, {"\xC3\xA9", ValueType::f64}});
  const std::vector<std::uint8_t> bytes = {1, 255};
  const std::vector<double> doubles = {-0.0, 1e300};
  writer.put<std::uint8_t>({0, 0}, {bytes.data(), 2, 1, 0});
  writer.put<double>({0, 1}, {doubles.data(), 2, 1, 0});
  writer.finish();
  to_runtime(open(dir / "f.dbdf"), dir / "out.dbdf");
  Image wanted = runtime_frame(2, {ValueType::u8, ValueType::f64});
  wanted.number(bytes[0]).number(doubles[0]).number(bytes[1]).number(doubles[1]);
  CHECK(read_bytes(dir / "out.dbdf") == wanted.bytes());
  CHECK(read_text(dir / "out.dbdf.meta") ==
        "{\"numCols\":2,\"numRows\":2,\"schema\":[{\"label\":\"a b\",\"valueType\":\"ui8\"},"
        "{\"label\":\"\xC3\xA9\",\"valueType\":\"f64\"}]}");
  const Object back = open(dir / "out.dbdf");
  CHECK(base(back).format() == "daphne");
  CHECK(std::get<Frame>(back).label(1) == "\xC3\xA9");
  CHECK(cell_lines(back) == cell_lines(open(dir / "f.dbdf")));
}

TEST_CASE("daphne: every type goes out and back, dense and CSR") {
  const TempDir dir;
  Rng rng(3);
  for (const ValueType type : kRuntimeTypes) {
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      CAPTURE(name(type));
      constexpr std::uint32_t rows = 37, cols = 19;
      const std::vector<T> values = some_values<T>(rng, rows * cols);
      WriteOptions options;
      options.overwrite = true;
      options.tile = TileShape{10, 7};
      auto writer = MatrixWriter::create(dir / "m.dbdf", rows, cols, type, options);
      writer.put_region<T>({0, 0}, {values.data(), rows, cols, 0});
      writer.finish();
      const Object matrix = open(dir / "m.dbdf");
      to_runtime(matrix, dir / "dense.dbdf");
      CHECK(read_bytes(dir / "dense.dbdf") == runtime_dense<T>(rows, cols, values).bytes());
      to_runtime(matrix, dir / "csr.dbdf", KindChoice::csr);
      std::vector<std::vector<std::pair<std::uint64_t, T>>> entries(rows);
      for (std::uint32_t k = 0; k < rows * cols; ++k) {
        if (!cell_text(values[k]).empty()) entries[k / cols].push_back({k % cols, values[k]});
      }
      CHECK(read_bytes(dir / "csr.dbdf") == runtime_csr<T>(cols, entries).bytes());
      CHECK(cell_lines(open(dir / "csr.dbdf")) == cell_lines(matrix));
      std::size_t stored = 0;
      for (const auto& row : entries) stored += row.size();
      std::string meta = read_text(dir / "dense.dbdf.meta");
      meta.insert(meta.find("\"numRows\""), "\"numNonZeros\":" + std::to_string(stored) + ',');
      CHECK(read_text(dir / "csr.dbdf.meta") == meta);
      to_runtime(open(dir / "csr.dbdf"), dir / "again.dbdf");
      CHECK(read_bytes(dir / "again.dbdf") == read_bytes(dir / "csr.dbdf"));
    });
  }
}

TEST_CASE("daphne: what the runtime cannot hold is refused, and nothing is left behind") {
  const TempDir dir;
  const std::vector<std::uint16_t> values = {1, 2};
  auto writer =
      FrameWriter::create(dir / "f.dbdf", 2, {{"a", ValueType::u8}, {"b", ValueType::u16}});
  writer.put<std::uint16_t>({0, 1}, {values.data(), 2, 1, 0});
  writer.finish();
  const Object frame = open(dir / "f.dbdf");
  const auto error = error_of([&] { to_runtime(frame, dir / "no.dbdf"); });
  REQUIRE(error);
  CHECK(error->code() == Errc::unsupported);
  CHECK(error->detail() ==
        "the DAPHNE runtime has no value type u16 in column 1; u32 would hold its values");
  auto small = MatrixWriter::create(dir / "m.dbdf", 1, 1, ValueType::i16);
  small.finish();
  const Object matrix = open(dir / "m.dbdf");
  CHECK(error_of([&] { to_runtime(matrix, dir / "no.dbdf"); })->detail() ==
        "the DAPHNE runtime has no value type i16; i32 would hold its values");
  CHECK(error_of([&] { to_runtime(matrix, dir / "no.dbdf", KindChoice::coo); })->code() ==
        Errc::unsupported);
  CHECK(dir.names() == std::vector<std::string>{"f.dbdf", "m.dbdf"});

  ConvertOptions options;
  options.to = "daphne";
  options.value_type = ValueType::u32;
  write_text(dir / "no.dbdf.meta", "{}");
  CHECK(error_of([&] { convert(frame, {}, dir / "no.dbdf", options); })->code() ==
        Errc::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(dir / "no.dbdf"));
  CHECK(read_text(dir / "no.dbdf.meta") == "{}");
  options.write.overwrite = true;
  convert(frame, {}, dir / "no.dbdf", options);
  CHECK(cell_lines(open(dir / "no.dbdf")) == cell_lines(frame));
}
