// convert and the table of formats: every cell of the output equals the oracle's.
#include "dapple/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "dapple/open.h"
#include "dapple/stats.h"
#include "lib/catalog/formats.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using namespace dapple::detail;
using dapple::test::Table;
using dapple::test::TempDir;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

template <class F>
Error refusal(F f) {
  return test::required_error(test::error_of(f));
}

WriteOptions tiles(std::uint32_t rows, std::uint32_t cols) {
  WriteOptions options;
  options.tile = TileShape{rows, cols};
  options.overwrite = true;
  return options;
}

}  // namespace

TEST_CASE("convert: any object, tiled anew, keeps every bit of every cell") {
  const TempDir folder;
  test::Rng random(3);
  for (const ObjectKind kind : {ObjectKind::matrix, ObjectKind::frame}) {
    for (const unsigned percent : {0U, 2U, 30U, 100U}) {
      for (const unsigned threads : {1U, 3U}) {
        const Table table = Table::random(kind, 83, 31, percent, random);
        table.write(folder / "in.dbdf", tiles(16, 9));
        ConvertOptions options;
        options.threads = threads;
        for (const TileShape tile : {TileShape{83, 31}, TileShape{1, 31}, TileShape{13, 5},
                                     TileShape{16, 9}, TileShape{200, 200}}) {
          options.write = tiles(tile.rows, tile.cols);
          options.write.plain = tile.rows == 13;
          const auto summary = convert(open(folder / "in.dbdf"), {}, folder / "out.dbdf", options);
          const auto out = open(folder / "out.dbdf");
          CHECK(Table::read(out) == table);
          const auto& object = std::get_if<Matrix>(&out) != nullptr
                                   ? static_cast<const BlockedObject&>(std::get<Matrix>(out))
                                   : std::get<Frame>(out);
          CHECK(summary.bytes == std::filesystem::file_size(folder / "out.dbdf"));
          CHECK(summary.counts.total == object.blocks().size());
        }
      }
    }
  }
}

TEST_CASE("convert: large sparse blocks, dense ones, and both together, by way of every path") {
  const TempDir folder;
  test::Rng random(4);
  for (const unsigned percent : {1U, 10U, 60U}) {
    Table table = Table::random(ObjectKind::matrix, 400, 300, percent, random);
    for (const KindChoice kind : {KindChoice::coo, KindChoice::csr, KindChoice::dense}) {
      WriteOptions one_block = tiles(400, 300);
      one_block.kind = kind;
      table.write(folder / "in.dbdf", one_block);
      ConvertOptions options;
      options.write = tiles(37, 41);
      options.threads = 2;
      std::vector<std::uint64_t> reported;
      options.progress = [&](std::uint64_t done, std::uint64_t) { reported.push_back(done); };
      convert(open(folder / "in.dbdf"), {}, folder / "out.dbdf", options);
      CHECK(Table::read(open(folder / "out.dbdf")) == table);
      CHECK(std::is_sorted(reported.begin(), reported.end()));
      CHECK(reported.back() == 400);
    }
  }
}

TEST_CASE("convert: selection and value type apply to the output") {
  const TempDir folder;
  Table table(ObjectKind::frame, 5, {{"a", ValueType::u8}, {"b", ValueType::f64}});
  for (std::uint64_t r = 0; r < 5; ++r) {
    table.set(r, 0, static_cast<std::uint8_t>(r));
    table.set(r, 1, 0.5 * static_cast<double>(r));
  }
  table.write(folder / "in.dbdf", {});
  ConvertOptions options;
  options.value_type = ValueType::f32;
  const Selection part{Range{1, 4}, std::vector<std::uint64_t>{1, 0, 1}};
  convert(open(folder / "in.dbdf"), part, folder / "out.dbdf", options);
  Table wanted(ObjectKind::frame, 3,
               {{"b", ValueType::f32}, {"a", ValueType::f32}, {"b", ValueType::f32}});
  for (std::uint64_t r = 0; r < 3; ++r) {
    wanted.set(r, 0, 0.5F * static_cast<float>(r + 1));
    wanted.set(r, 1, static_cast<float>(r + 1));
    wanted.set(r, 2, 0.5F * static_cast<float>(r + 1));
  }
  CHECK(Table::read(open(folder / "out.dbdf")) == wanted);
}

TEST_CASE("convert: missing floats are missing in every float type") {
  const TempDir dir;
  std::string text = "a,b,n\n";
  for (int row = 0; row < 1000; ++row) text += row % 3 == 0 ? "0,,1\n" : ",0.5,\n";
  test::write_text(dir / "in.csv", text);
  ConvertOptions narrow;
  narrow.value_type = ValueType::f32;
  for (const KindChoice kind : {KindChoice::dense, KindChoice::coo, KindChoice::automatic}) {
    for (const bool loss : {false, true}) {
      narrow.write.kind = kind;
      narrow.allow_loss = loss;
      narrow.write.overwrite = true;
      ConvertOptions same;
      same.write = narrow.write;
      convert(open(dir / "in.csv"), {}, dir / "wide.dbdf", same);
      convert(open(dir / "wide.dbdf"), {}, dir / "f32.dbdf", narrow);
      const Frame frame = Frame::open(dir / "f32.dbdf");
      CHECK(frame.column_type(0) == ValueType::f32);
      CHECK(frame.column_info(0).meaning.missing == kMissingF32);
      ConvertOptions back = narrow;
      back.value_type = ValueType::f64;
      convert(frame, {}, dir / "f64.dbdf", back);
      CHECK(Frame::open(dir / "f64.dbdf").column_info(0).meaning.missing == kMissingF64);
      for (const char* file : {"f32.dbdf", "f64.dbdf"}) {
        convert(open(dir / file), {}, dir / "out.csv", same);
        CHECK(test::read_text(dir / "out.csv") == text);
      }
      Selection some;
      some.cols = std::vector<std::uint64_t>{2, 0};
      convert(frame, some, dir / "some.dbdf", back);
      CHECK(column_stats(Frame::open(dir / "some.dbdf"))[0].nans == 666);
    }
  }
}

TEST_CASE("convert: missing integers are missing as floats that have no number for their mark") {
  const TempDir dir;
  std::vector<Column> columns;
  for (const ValueType type : {ValueType::u32, ValueType::u64, ValueType::i64}) {
    columns.push_back({std::string(name(type)), type, {.missing = usual_mark(type)}});
  }
  columns.push_back({"odd", ValueType::i32, {.missing = 0xfeffffff}});  // -2^24 - 1
  for (const KindChoice kind : {KindChoice::dense, KindChoice::coo}) {
    ConvertOptions options;
    options.write.kind = kind;
    options.write.overwrite = true;
    auto writer = FrameWriter::create(dir / "in.dbdf", 3, columns, options.write);
    for (std::uint64_t col = 0; col < columns.size(); ++col) {
      const auto mark = static_cast<std::int64_t>(*columns[col].meaning.missing);
      const std::vector<std::int64_t> cells{7, col == 3 ? -(1 << 24) - 1 : mark, 0};
      if (columns[col].value_type == ValueType::u64) {
        const std::vector<std::uint64_t> unsigned_cells(cells.begin(), cells.end());
        writer.put_region<std::uint64_t>({0, col}, {unsigned_cells.data(), 3, 1});
      } else {
        writer.put_region<std::int64_t>({0, col}, {cells.data(), 3, 1});
      }
    }
    writer.finish();
    for (const ValueType type : {ValueType::f32, ValueType::f64}) {
      for (const bool loss : {false, true}) {
        options.value_type = type;
        options.allow_loss = loss;
        convert(open(dir / "in.dbdf"), {}, dir / "out.dbdf", options);
        ConvertOptions same;
        same.write = options.write;
        convert(open(dir / "out.dbdf"), {}, dir / "out.csv", same);
        CHECK(test::read_text(dir / "out.csv") == "u32,u64,i64,odd\n7,7,7,7\n,,,\n0,0,0,0\n");
      }
    }
  }
}

TEST_CASE("convert: missing integers are NaN as floats of a format that has no missing ones") {
  const TempDir dir;
  const std::uint8_t cells[] = {7, 255};
  auto writer = FrameWriter::create(dir / "in.dbdf", 2,
                                    {{"a", ValueType::u8, {.missing = usual_mark(ValueType::u8)}}});
  writer.put<std::uint8_t>({0, 0}, {cells, 2, 1});
  writer.finish();
  for (const char* const name : {"out.npy", "out.idv"}) {
    CAPTURE(name);
    ConvertOptions options;
    options.value_type = ValueType::f32;
    convert(open(dir / "in.dbdf"), {}, dir / name, options);
    const auto got = Frame::open(dir / name).read_column<float>(0, {0, 2});
    CHECK(got[0] == 7);
    CHECK(std::isnan(got[1]));
  }
}

TEST_CASE("convert: an integer that is rounded to the mark of missing ones is not missing") {
  const TempDir dir;
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  const std::vector<std::int32_t> cells{least + 1, least, 0};
  auto writer = FrameWriter::create(
      dir / "in.dbdf", 3, {{"a", ValueType::i32, {.missing = usual_mark(ValueType::i32)}}});
  writer.put<std::int32_t>({0, 0}, {cells.data(), 3, 1});
  writer.finish();
  ConvertOptions options;
  options.value_type = ValueType::f32;
  options.allow_loss = true;
  convert(open(dir / "in.dbdf"), {}, dir / "out.dbdf", options);
  convert(open(dir / "out.dbdf"), {}, dir / "out.csv", {});
  CHECK(test::read_text(dir / "out.csv") == "a\n-2147483648\nNA\n0\n");
}

TEST_CASE("convert: objects without rows or columns stay what they are") {
  const TempDir folder;
  for (const auto& [rows, cols] : {std::pair{0, 3}, std::pair{3, 0}, std::pair{0, 0}}) {
    for (const ObjectKind kind : {ObjectKind::matrix, ObjectKind::frame}) {
      std::vector<Column> columns(static_cast<std::size_t>(cols), {"", ValueType::f64});
      const Table table(kind, static_cast<std::uint64_t>(rows), columns);
      WriteOptions replace;
      replace.overwrite = true;
      table.write(folder / "in.dbdf", replace);
      ConvertOptions options;
      options.write.overwrite = true;
      convert(open(folder / "in.dbdf"), {}, folder / "out.dbdf", options);
      const Table got = Table::read(open(folder / "out.dbdf"));
      CHECK(got == table);
    }
  }
}

TEST_CASE("convert: a value that does not fit leaves no output behind") {
  const TempDir folder;
  Table table(ObjectKind::matrix, 300, {{"", ValueType::f64}});
  table.set(299, 0, 0.5);
  table.write(folder / "in.dbdf", {});
  ConvertOptions options;
  options.value_type = ValueType::i16;
  for (const std::string name : {"out.dbdf", "out.npy"}) {
    const Error error =
        refusal([&] { convert(open(folder / "in.dbdf"), {}, folder / name, options); });
    CHECK(error.code() == Errc::type_mismatch);
  }
  CHECK(folder.names() == std::vector<std::string>{"in.dbdf"});
}

TEST_CASE("convert: an existing output is replaced only when that is allowed") {
  const TempDir folder;
  Table(ObjectKind::matrix, 2, {{"", ValueType::u8}}).write(folder / "in.dbdf", {});
  for (const std::string name : {"out.dbdf", "out.npy"}) {
    folder.write(name, bytes_of("precious"));
    const auto object = open(folder / "in.dbdf");
    CHECK(refusal([&] { convert(object, {}, folder / name); }).code() == Errc::invalid_argument);
    CHECK(test::read_text(folder / name) == "precious");
    ConvertOptions options;
    options.write.overwrite = true;
    convert(object, {}, folder / name, options);
    CHECK(Table::read(open(folder / name)).rows == 2);
  }
}

TEST_CASE("convert: the sink gets the bytes that the file would have") {
  const TempDir folder;
  test::Rng random(6);
  Table::random(ObjectKind::matrix, 700, 500, 50, random).write(folder / "in.dbdf", {});
  const auto object = open(folder / "in.dbdf");
  convert(object, {}, folder / "out.npy");
  std::vector<std::byte> streamed;
  ConvertOptions options;
  options.to = "npy";
  convert(
      object, {},
      [&](std::span<const std::byte> part) {
        streamed.insert(streamed.end(), part.begin(), part.end());
      },
      options);
  CHECK(streamed == test::read_bytes(folder / "out.npy"));
}

TEST_CASE("convert: a target that cannot be says what could be") {
  const TempDir folder;
  Table(ObjectKind::matrix, 2, {{"", ValueType::u8}}).write(folder / "in.dbdf", {});
  const auto object = open(folder / "in.dbdf");
  const auto sink = [](std::span<const std::byte>) {};
  ConvertOptions options;

  Error error = refusal([&] { convert(object, {}, folder / "out.xyz"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail().find(".npy") != std::string::npos);
  CHECK(error.file().ends_with("out.xyz"));

  // What is not compressed has no name that promises it.
  error = refusal([&] { convert(object, {}, folder / "out.dbdf.gz"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail() ==
        "dbdf is not written compressed as a whole; leave the .gz out, and pack its tiles");

  options.to = "parquet";
  error = refusal([&] { convert(object, {}, folder / "out.npy", options); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail().find("dbdf, ") != std::string::npos);

  options.to = "dbdf";
  error = refusal([&] { convert(object, {}, sink, options); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail().find("cannot be written to a stream") != std::string::npos);

  options.to.clear();
  CHECK(refusal([&] { convert(object, {}, sink, options); }).code() == Errc::invalid_argument);
}

TEST_CASE("formats: content decides before the name, and an explicit format before both") {
  const TempDir folder;
  Table(ObjectKind::matrix, 2, {{"", ValueType::u8}}).write(folder / "in.dbdf", {});
  std::filesystem::copy(folder / "in.dbdf", folder / "disguised.npy");
  CHECK(Matrix::open(folder / "disguised.npy").format() == "dbdf");
  OpenOptions options;
  options.format = "npy";
  CHECK(refusal([&] { open(folder / "disguised.npy", options); }).code() == Errc::corrupt);
  options.format = "nonsense";
  CHECK(refusal([&] { open(folder / "in.dbdf", options); }).code() == Errc::invalid_argument);
}

TEST_CASE("formats: a file of no known format is not_recognised, with what to do") {
  const TempDir folder;
  const auto path = folder.write("strange.bin", bytes_of("\x7f"
                                                         "ELF and so on"));
  const Error error = refusal([&] { open(path); });
  CHECK(error.code() == Errc::not_recognised);
  CHECK(error.detail().find("dbdf, ") != std::string::npos);
  CHECK(error.option() == "format");
}

TEST_CASE("formats: names are unique, and every format reads or writes") {
  std::set<std::string_view> names;
  for (const FormatInfo& info : formats()) {
    CHECK(names.insert(info.name).second);
    CHECK((info.reads || info.writes));
    const Format& format = format_named(info.name);
    CHECK(info.reads == (format.open != nullptr || format.parse != nullptr));
    CHECK(info.writes == (format.write != nullptr || format.write_file != nullptr));
    CHECK((!info.streams || format.write != nullptr));
  }
  CHECK(formats().front().name == "dbdf");
}

TEST_CASE("open: a matrix is no frame, and a frame no matrix") {
  const TempDir folder;
  Table(ObjectKind::matrix, 2, {{"", ValueType::u8}}).write(folder / "m.dbdf", {});
  Table(ObjectKind::frame, 2, {{"a", ValueType::u8}}).write(folder / "f.dbdf", {});
  CHECK(Matrix::open(folder / "m.dbdf").rows() == 2);
  CHECK(Frame::open(folder / "f.dbdf").rows() == 2);
  CHECK(refusal([&] { Frame::open(folder / "m.dbdf"); }).code() == Errc::type_mismatch);
  CHECK(refusal([&] { Matrix::open(folder / "f.dbdf"); }).code() == Errc::type_mismatch);
}
