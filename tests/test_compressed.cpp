#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string gunzip(const std::string& packed, std::size_t size) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string out(size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  CHECK(stream.avail_in == 0);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

std::string unzstd(const std::string& packed, std::size_t size) {
  std::string out(size + 1, '\0');
  out.resize(ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()));
  return out;
}

std::vector<double> cells(const std::filesystem::path& path) {
  const Matrix m = Matrix::open(path);
  return m.read<double>({{0, m.rows()}, {0, m.cols()}});
}

/// Three million numbers, more than any buffer holds.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += std::to_string(i) + ",2,3\n";
  return text;
}

}  // namespace

TEST_CASE("compressed: gzip and zstd files of any format are read as their content") {
  const TempDir dir;
  const std::string csv = "1,2\n3,4\n";
  const std::string mtx = "%%MatrixMarket matrix array integer general\n2 2\n1\n3\n2\n4\n";
  const std::vector<double> expected = {1, 2, 3, 4};
  for (const auto& compress : {gzip, zstd}) {
    const std::string ending = compress(csv)[0] == '\x1f' ? ".gz" : ".zst";
    write_text(dir / ("m.csv" + ending), compress(csv));
    write_text(dir / ("m.mtx" + ending), compress(mtx));
    CHECK(cells(dir / ("m.csv" + ending)) == expected);
    CHECK(cells(dir / ("m.mtx" + ending)) == expected);
    ConvertOptions again;
    again.write.overwrite = true;
    convert(open(dir / ("m.csv" + ending)), {}, dir / "m.dbdf", again);
    write_text(dir / ("m.dbdf" + ending), compress(read_text(dir / "m.dbdf")));
    CHECK(cells(dir / ("m.dbdf" + ending)) == expected);
    CHECK(verify(dir / ("m.dbdf" + ending), Level::payload).findings.empty());
  }
}

TEST_CASE("compressed: members and frames that follow each other are one content") {
  const TempDir dir;
  write_text(dir / "a.csv.gz", gzip("1,2\n") + gzip("3,4\n") + std::string(100, '\0'));
  write_text(dir / "a.csv.zst", zstd("1,2\n") + zstd("") + zstd("3,4\n"));
  CHECK(cells(dir / "a.csv.gz") == std::vector<double>{1, 2, 3, 4});
  CHECK(cells(dir / "a.csv.zst") == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("compressed: long content comes whole") {
  const TempDir dir;
  const std::string text = long_text();
  for (const auto& compress : {gzip, zstd}) {
    write_text(dir / "long.csv.gz", compress(text));
    const Matrix m = Matrix::open(dir / "long.csv.gz");
    CHECK(m.rows() == 1'000'000);
    CHECK(m.read<int>({{999'999, 1'000'000}, {0, 3}}) == std::vector<int>{999'999, 2, 3});
  }
}

TEST_CASE("compressed: what is cut off, damaged or followed by other bytes is corrupt") {
  const TempDir dir;
  for (const auto& compress : {gzip, zstd}) {
    const std::string whole = compress("1,2\n3,4\n5,6\n");
    for (std::size_t size = 4; size < whole.size(); ++size) {
      CAPTURE(size);
      write_text(dir / "cut.csv.gz", whole.substr(0, size));
      const auto error = error_of([&] { open(dir / "cut.csv.gz"); });
      REQUIRE(error);
      CHECK(error->code() == Errc::corrupt);
      CHECK(error->file() == (dir / "cut.csv.gz").string());
    }
    write_text(dir / "more.csv.gz", whole + "x");
    CHECK(required_error(error_of([&] { open(dir / "more.csv.gz"); })).code() == Errc::corrupt);
  }
  std::string damaged = gzip(long_text());
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  write_text(dir / "damaged.csv.gz", damaged);
  CHECK(required_error(error_of([&] { open(dir / "damaged.csv.gz"); })).code() == Errc::corrupt);
}

TEST_CASE("compressed: what is written to .gz or .zst is what is written without") {
  const TempDir dir;
  write_text(dir / "in.csv", long_text());
  const auto object = open(dir / "in.csv");
  for (const std::string name : {"m.csv", "m.mtx", "m.npy", "m.btable"}) {
    ConvertOptions how;
    if (name == "m.btable") how.value_type = ValueType::f64;
    convert(object, {}, dir / name, how);
    const std::string plain = read_text(dir / name);
    const auto packed = convert(object, {}, dir / (name + ".GZ"), how);
    const std::string gz = read_text(dir / (name + ".GZ"));
    CHECK(packed.bytes == gz.size());
    CHECK(gz.size() < plain.size() / 2);
    CHECK(gunzip(gz, plain.size()) == plain);
    convert(object, {}, dir / (name + ".zst"), how);
    CHECK(unzstd(read_text(dir / (name + ".zst")), plain.size()) == plain);
  }
  ConvertOptions how;
  how.to = "npy";  // the ending tells of compression all the same
  convert(object, {}, dir / "m.gz", how);
  CHECK(cells(dir / "m.gz") == cells(dir / "m.npy"));
}

TEST_CASE("compressed: an output that is refused, or has no cells, is whole or not there") {
  const TempDir dir;
  write_text(dir / "in.csv", "1,2\n");
  const auto object = open(dir / "in.csv");
  CHECK(required_error(error_of([&] { convert(object, {}, dir / "m.idv.zst"); })).detail() ==
        "idv is not written compressed as a whole; leave the .zst out");
  ConvertOptions how;
  how.to = "daphne";
  CHECK(required_error(error_of([&] { convert(object, {}, dir / "m.gz", how); })).code() ==
        Errc::invalid_argument);
  convert(object, {.rows = Range{1, 1}}, dir / "none.csv.gz");
  CHECK(gunzip(read_text(dir / "none.csv.gz"), 0).empty());
  CHECK(dir.names() == std::vector<std::string>{"in.csv", "none.csv.gz"});
}

TEST_CASE("compressed: an index beside a compressed file would not help, and is refused") {
  const TempDir dir;
  write_text(dir / "a.csv.gz", gzip("1,2\n"));
  CHECK(required_error(error_of([&] { write_sidecar(dir / "a.csv.gz"); })).code() ==
        Errc::unsupported);
}
