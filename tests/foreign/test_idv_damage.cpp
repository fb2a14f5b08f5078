// Damaged ML.NET files: each wrong field gives one error that names its byte.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "lib/foreign/idv/idv_encode.h"
#include "tests/check.h"
#include "tests/foreign/idv_errors.h"
#include "tests/foreign/idv_image.h"

using namespace dapple;
using namespace test::idv;

namespace {

std::string corrupt(std::uint64_t offset, const std::string& detail) {
  return text({Errc::corrupt, offset, detail});
}

FileColumn numbers() {
  return {"n", codec("Int32"), {packed<std::int32_t>({1, 2}), packed<std::int32_t>({3})}, 2};
}

/// A file of one block.
File one_block(const Bytes& definition, const Bytes& block, std::uint64_t rows,
               int compression = 0) {
  return build(6, rows, {{"n", definition, {block}, rows, compression}});
}

}  // namespace

TEST_CASE("idv: each wrong field of the header is named") {
  const File good = build(6, 3, {numbers()});
  const auto with = [&](std::uint64_t at, auto value) {
    return error_in(File(good).patch(at, value).bytes);
  };
  CHECK(error_in(good.bytes) == "none");
  CHECK(with(0, 'X') == corrupt(0, "the file does not start with the signature CML 0 DVB 0"));
  CHECK(with(8, std::uint16_t{1}) ==
        "unsupported at byte 8: version 1.1.1.1 is too old: files from 1.1.1.2 on can be read");
  CHECK(with(8, std::uint16_t{5}) ==
        corrupt(16, "compatible version 1.1.1.6 is later than the file's own, 1.1.1.5"));
  CHECK(error_in(File(good).patch(8, std::uint16_t{9}).patch(16, std::uint16_t{7}).bytes) ==
        "unsupported at byte 16: the file asks for a reader of version 1.1.1.7; this one reads "
        "1.1.1.2 to 1.1.1.6");
  // A later version that says that it can be read.
  CHECK(with(8, std::uint16_t{9}) == "none");
  CHECK(with(24, std::int64_t{255}) == corrupt(24,
                                               "the table of contents cannot be at byte 255: "
                                               "everything is between byte 256 and the tail at " +
                                                   std::to_string(good.tail)));
  CHECK(with(24, std::int64_t{-1}) ==
        corrupt(24, "the offset of the table of contents cannot be negative: -1"));
  CHECK(with(32, good.tail + 1) ==
        corrupt(32, "the tail cannot be at byte " + std::to_string(good.tail + 1) +
                        " of a file of " + std::to_string(good.tail + 8) + " bytes"));
  CHECK(with(32, good.tail - 1) ==
        corrupt(good.tail - 1, "the tail does not have the signature 0 BVD 0 LMC"));
  CHECK(with(40, std::int64_t{-3}) == corrupt(40, "the number of rows cannot be negative: -3"));
  CHECK(with(48, std::int32_t{-1}) == corrupt(48, "the number of columns cannot be negative: -1"));
  CHECK(with(48, std::int32_t{1000000}) ==
        corrupt(good.toc, "a table of contents of 1000000 columns does not fit the " +
                              std::to_string(good.tail - good.toc) + " bytes before the tail"));
  CHECK(error_in(Bytes(good.bytes.begin(), good.bytes.begin() + 100)) ==
        corrupt(100, "the file ends inside its header of 256 bytes"));
  // Bytes after the tail are legal.
  CHECK(error_in(good.bytes + raw("more")) == "none");
}

TEST_CASE("idv: each wrong field of the table of contents is named") {
  const File good = build(6, 3, {numbers()});
  // n, Int32 without parameters, compression, rows per block, lookup offset, metadata offset.
  const std::uint64_t name_at = good.toc, codec_at = name_at + 2, params_at = codec_at + 6,
                      rows_at = params_at + 2, lookup_at = rows_at + 1, meta_at = lookup_at + 8;
  const auto with = [&](std::uint64_t at, auto value) {
    return error_in(File(good).patch(at, value).bytes);
  };
  const std::string tail = std::to_string(good.tail);
  CHECK(with(name_at + 1, '\xff') == corrupt(name_at + 1, "a column's name is not UTF-8"));
  CHECK(with(name_at, '\x7f') ==
        corrupt(name_at + 1, "127 bytes of a column's name are needed here, but only " +
                                 std::to_string(good.tail - name_at - 1) + " are left"));
  CHECK(with(codec_at, '\0') == corrupt(codec_at, "the codec's load name is empty"));
  CHECK(with(params_at, '\1') ==
        corrupt(params_at + 1, "1 byte follows the parameters of codec Int32"));
  CHECK(with(rows_at, '\0') == corrupt(rows_at, "a block has 1 to 2147483647 rows, not 0"));
  CHECK(with(lookup_at, std::int64_t{255}) ==
        corrupt(lookup_at,
                "a lookup table of 32 bytes cannot be at byte 255: everything is between byte 256 "
                "and the tail at " +
                    tail));
  CHECK(
      with(meta_at, std::int64_t{5}) ==
      corrupt(
          meta_at,
          "a metadata table cannot be at byte 5: everything is between byte 256 and the tail at " +
              tail));
  // More rows than their lookup table could have room for.
  CHECK(with(40, std::int64_t{1} << 60) ==
        corrupt(lookup_at, "the lookup table has " + std::to_string(std::int64_t{1} << 59) +
                               " entries, but between header and tail there is room for " +
                               std::to_string((good.tail - 256) / 16)));
}

TEST_CASE("idv: lookup tables that share bytes are refused before anything is allocated") {
  // A thousand columns of a thousand blocks each, all in one table.
  std::vector<FileColumn> columns(1000, {"n", codec("Byte"), {}, 1});
  columns[0].blocks.assign(1000, packed<std::uint8_t>({1}));
  File file = build(6, 1000, columns);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    file.patch(file.toc + i * 26 + 10, file.lookup[0]);
  }
  CHECK(error_in(file.bytes).find("but between header and tail there is room for") !=
        std::string::npos);
}

TEST_CASE("idv: codec definitions that contradict themselves are refused") {
  const auto with = [](const Bytes& definition) {
    const File file = build(6, 0, {{"n", definition, {}, 1}});
    const std::string error = error_in(file.bytes);
    const std::size_t colon = error.find(": ");
    return colon == error.npos ? error : error.substr(colon + 2);
  };
  CHECK(with(key2_codec("UInt32", 0)) == "a key of this type has 1 to 4294967295 values, not 0");
  CHECK(with(key2_codec("Byte", 256)) == "a key of this type has 1 to 255 values, not 256");
  CHECK(with(key2_codec("Int32", 5)) == "a key is a Byte, UInt16, UInt32 or UInt64, not a Int32");
  CHECK(with(key2_codec("TextSpan", 5)) ==
        "a key is a Byte, UInt16, UInt32 or UInt64, not a TextSpan");
  CHECK(with(old_key_codec("Byte", -1)) == "a key of this type has 1 to 255 values, not -1");
  CHECK(with(codec("Key", codec("Byte") + num<std::uint8_t>(1))) ==
        "8 bytes of the parameters of codec Key are needed here, but nothing is left");
  CHECK(with(codec("Key2", key2_codec("Byte", 4) + num<std::uint64_t>(3))) ==
        "a key cannot have items of codec Key2");
  const Bytes inner = vector_codec(codec("Byte"), {3});
  CHECK(with(vector_codec(inner, {2})) == "a vector cannot have items of codec VBuffer");
  CHECK(with(codec("Key2", inner + num<std::uint64_t>(3))) ==
        "a key cannot have items of codec VBuffer");
  CHECK(with(vector_codec(codec("Byte"), {-2})) == "a dimension cannot be negative: -2");
  CHECK(with(vector_codec(codec("Byte"), {65536, 65536})) ==
        "the product of the dimensions is above 2147483647");
  CHECK(with(codec("VBuffer", codec("Byte") + num<std::int32_t>(5))) ==
        "5 dimensions do not fit the 0 bytes that the definition has left");
  CHECK(with(str("Byte") + Bytes(10, std::byte{0xff}) + raw("\1")) ==
        "the length of a codec's parameters is no LEB128 number of at most 64 bits");
  CHECK(with(str("Byte") + Bytes(9, std::byte{0xff}) + raw("\2")) ==
        "the length of a codec's parameters is no LEB128 number of at most 64 bits");
}

TEST_CASE("idv: each wrong field of a lookup table is named") {
  for (int compression = 0; compression <= 2; ++compression) {
    FileColumn column = numbers();
    column.compression = compression;
    const File good = build(6, 3, {column});
    const std::uint64_t at = good.lookup[0], size = good.blocks[0][1] - good.blocks[0][0];
    const auto with = [&](std::uint64_t offset, auto value) {
      return error_in(File(good).patch(offset, value).bytes);
    };
    const auto misplaced = [&](const std::string& bytes, const std::string& offset) {
      return corrupt(at, "block 0 of column \"n\" is said to be " + bytes + " bytes at byte " +
                             offset + "; blocks are between byte 256 and the tail at " +
                             std::to_string(good.tail));
    };
    CHECK(with(at, std::int64_t{255}) == misplaced(std::to_string(size), "255"));
    CHECK(with(at, std::int64_t{-8}) == misplaced(std::to_string(size), "-8"));
    CHECK(with(at, good.tail) == misplaced(std::to_string(size), std::to_string(good.tail)));
    CHECK(with(at + 8, std::int32_t{-1}) == misplaced("-1", "256"));
    CHECK(
        with(at + 12, std::int32_t{7}) ==
        corrupt(at + 12, "block 0 of column \"n\" is said to inflate to 7 bytes; its rows take 8"));
    CHECK(with(at + 12, std::int32_t{-8}) ==
          corrupt(at + 12,
                  "block 0 of column \"n\" is said to inflate to -8 bytes; its rows take 8"));
  }
}

TEST_CASE("idv: an inflated length that cannot come from the bytes is not allocated") {
  const Bytes block = vectors({{3}}, 3, packed<float>({1, 2, 3}));
  const Bytes definition = vector_codec(codec("Single"), {3});
  for (int compression = 0; compression <= 2; ++compression) {
    const File good = one_block(definition, block, 1, compression);
    const std::uint64_t size = good.lookup[0] - good.blocks[0][0];
    const std::uint64_t most = compression == 0 ? size : size * 1032;
    CHECK(error_in(File(good).patch(good.lookup[0] + 12, std::int32_t{2000000000}).bytes) ==
          corrupt(good.lookup[0] + 12,
                  "block 0 of column \"n\" is said to inflate to 2000000000 bytes; its " +
                      std::to_string(size) + " bytes can give at most " + std::to_string(most)));
  }
}

TEST_CASE("idv: compressed bytes that inflate to another length, or not at all") {
  const Bytes block = vectors({{3}}, 3, packed<float>({1, 2, 3}));
  const Bytes definition = vector_codec(codec("Single"), {3});
  const File good = one_block(definition, block, 1, 1);
  const std::uint64_t at = good.lookup[0] + 12;
  CHECK(error_in(File(good).patch(at, std::int32_t{27}).bytes) ==
        corrupt(256, "the data inflates to more than 27 bytes"));
  CHECK(error_in(File(good).patch(at, std::int32_t{29}).bytes) ==
        corrupt(256, "the data inflates to 28 bytes instead of 29"));
  CHECK(error_in(File(good).patch(256, '\7').bytes) ==
        corrupt(256, "the bytes are no DEFLATE data"));
  File zlib = one_block(definition, block, 1, 2);
  CHECK(error_in(zlib.bytes) == "none");
  CHECK(error_in(zlib.patch(zlib.lookup[0] - 1, '\0').bytes) ==
        corrupt(256, "the bytes are no zlib data"));
}

TEST_CASE("idv: bytes behind the end of compressed data are ignored, as ML.NET does") {
  const Bytes more = compress(1, packed<std::int32_t>({1, 2})) + raw("surplus");
  // As if it were not compressed; then the column says that it is.
  File file = build(6, 2, {{"n", codec("Int32"), {more}, 2}});
  file.patch(file.toc + 2 + 6 + 1, '\1').patch(file.lookup[0] + 12, std::int32_t{8});
  CHECK(error_in(file.bytes) == "none");
}

TEST_CASE("idv: each wrong field of a block of vectors is named") {
  const Bytes definition = vector_codec(codec("Byte"), {3});
  const Bytes two = packed<std::uint8_t>({1, 2});
  const auto with = [&](const Bytes& block) {
    return error_in(one_block(definition, block, 1).bytes);
  };
  const auto sparse = [](std::vector<std::int32_t> slots) { return Vector{3, std::move(slots)}; };
  CHECK(with(vectors({sparse({0, 2})}, 3, two)) == "none");
  CHECK(with(vectors({{3}, {3}}, 3, two)) == corrupt(256, "2 vectors in a block of 1 row"));
  CHECK(with(vectors({{4}}, 4, two)) ==
        corrupt(260, "the block has vectors of length 4, but the column's type says 3"));
  CHECK(with(vectors({{3}}, -1, two)) == corrupt(260, "a common length cannot be negative: -1"));
  CHECK(with(vectors({sparse({0, 1, 2})}, 3, two)) ==
        corrupt(264, "a vector of length 3 cannot store 3 items with indices"));
  CHECK(with(vectors({sparse({2, 1})}, 3, two)) ==
        corrupt(276, "slot 1 comes after slot 2; slots must ascend"));
  CHECK(with(vectors({sparse({0, 0})}, 3, two)) ==
        corrupt(276, "slot 0 comes after slot 0; slots must ascend"));
  CHECK(with(vectors({sparse({-1, 1})}, 3, two)) ==
        corrupt(272, "slot -1 is outside a vector of length 3"));
  CHECK(with(vectors({sparse({0, 3})}, 3, two)) ==
        corrupt(276, "slot 3 is outside a vector of length 3"));
  CHECK(with(vectors({{3}}, 3, two)) ==
        corrupt(272, "3 values of Byte take 3 bytes, but there are 2"));
  CHECK(with(vectors({sparse({1})}, 3, two)) ==
        corrupt(276, "1 value of Byte takes 1 byte, but there are 2"));
  Bytes surplus = vectors({sparse({0, 2})}, 3, two);
  surplus[12] = std::byte{1};
  CHECK(
      with(surplus) ==
      corrupt(268, "the block says that it has 1 indices, but the counts of its vectors sum to 2"));
  // Inflated bytes are not those of the file: the block is to blame.
  CHECK(error_in(one_block(definition, vectors({{4}}, 4, two), 1, 1).bytes) ==
        corrupt(256,
                "the block has vectors of length 4, but the column's type says 3 (at byte 4 of the "
                "inflated block)"));

  const Bytes varying = vector_codec(codec("Boolean"), {0});
  CHECK(error_in(one_block(varying, vectors({{-4}}, 0, two), 1).bytes) ==
        corrupt(264, "the vector length is negative"));
  CHECK(
      error_in(one_block(varying, vectors({{0x7fffffff}}, 0, two), 1).bytes) ==
      corrupt(268, "the counts say 2147483647 items, which do not fit the 6 bytes that are left"));
}

TEST_CASE("idv: each wrong field of a block of texts is named") {
  const auto with = [&](const Bytes& block) {
    return error_in(one_block(codec("TextSpan"), block, 2).bytes);
  };
  CHECK(with(texts({1, 2}, "ab")) == "none");
  CHECK(with(texts({1, 2, 2}, "ab")) == corrupt(256, "3 texts in a block of 2 rows"));
  CHECK(with(texts({2, 1}, "ab")) == corrupt(264, "a text ends at UTF-16 unit 1, but starts at 2"));
  CHECK(with(texts({1, 2 | 0x80000000u}, "ab")) ==
        corrupt(264, "a missing text ends at UTF-16 unit 2, but starts at 1"));
  CHECK(with(texts({1, 3}, "ab")) ==
        corrupt(269, "the texts have 2 UTF-16 units, but the last position says 3"));
  CHECK(with(texts({1, 1}, "ab")) ==
        corrupt(269, "the texts have 2 UTF-16 units, but the last position says 1"));
  CHECK(with(texts({1, 2}, "a\xc3")) == corrupt(270, "the text is not UTF-8"));
  CHECK(with(texts({1, 2},
                   "\xed\xa0\x80"
                   "b")) == corrupt(269, "the text is not UTF-8"));
  CHECK(with(texts({1, 2}, "ab") + raw("x")) == corrupt(271, "1 byte follows the texts"));
  Bytes long_one = texts({1, 2}, "ab");
  long_one.resize(12);
  CHECK(with(long_one + raw("\x80\x80\x80\x80\x08")) ==
        corrupt(268,
                "a string of texts of 2147483648 bytes is longer than the 2147483647 bytes that a "
                "string can have"));
}

TEST_CASE("idv: a Boolean that is neither true, false nor missing is corrupt") {
  CHECK(error_in(one_block(codec("DvBool"), bits2({0, 1, 2, 0, 0, 3}), 6).bytes) ==
        corrupt(257, "3 is no Boolean, which is 0, 1 or 2"));
}

TEST_CASE("idv: metadata and slot names are checked when they are used") {
  const Bytes names = vectors({{2}}, 2, texts({1, 2}, "ab"));
  FileColumn vector{
      "v", vector_codec(codec("Byte"), {2}), {vectors({{2}}, 2, packed<std::uint8_t>({1, 2}))}, 1};
  const FileColumn number{"n", codec("Byte"), {packed<std::uint8_t>({8})}, 1};
  const auto with = [&](const std::vector<Metadata>& metadata) {
    vector.metadata = metadata;
    const std::string error = error_in(build(6, 1, {vector, number}).bytes);
    const std::size_t at = error.find(": ");
    return at == std::string::npos ? error : error.substr(at + 2);
  };
  const Bytes text_codec = vector_codec(codec("TextSpan"), {2});
  CHECK(with({{"SlotNames", text_codec, names}}) == "none");
  CHECK(with({{"", text_codec, names}}) == "the metadata kind is empty");
  CHECK(with({{"A", text_codec, names}, {"A", text_codec, names}}) ==
        "the metadata kind \"A\" is there twice");
  CHECK(with({{"SlotNames", text_codec, Bytes{}}}).find("the metadata block is empty") == 0);
  CHECK(with({{"SlotNames", text_codec, vectors({{2}}, 2, texts({1}, "a"))}}) ==
        "1 texts in a block of 2 rows");
  CHECK(with({{"SlotNames", text_codec, names + raw("x")}}) == "1 byte follows the texts");
  vector.slots = {{2, "c"}};
  CHECK(error_in(build(3, 1, {vector, number}).bytes)
            .find("slot 2 is outside a vector of length 2") != std::string::npos);
  vector.slots = {{1, "c"}, {1, "d"}};
  CHECK(error_in(build(3, 1, {vector, number}).bytes).find("slot 1 is named twice") !=
        std::string::npos);
}

TEST_CASE("idv: a short file cannot say gigabytes by what its columns share") {
  const test::TempDir dir;
  // Of two columns, the second is made to point to the metadata of the first.
  const Bytes text_codec = vector_codec(codec("TextSpan"), {1});
  const Bytes cells = vectors({{1}}, 1, packed<std::uint8_t>({1}));
  FileColumn first{"a", vector_codec(codec("Byte"), {1}), {cells}, 1}, second = first;
  second.name = "b";
  const std::string name(5000, 'n');
  first.metadata = {{"SlotNames", text_codec, vectors({{1}}, 1, texts({5000}, name))}};
  File file = build(6, 1, {first, second});
  std::uint64_t place = 0;
  std::memcpy(&place, file.bytes.data() + file.toc + (file.tail - file.toc) / 2 - 8, 8);
  CHECK(error_in(file.bytes) == "none");
  // A column that is asked for twice shares its metadata with nobody.
  test::write_bytes(dir / "twice.idv", file.bytes);
  OpenOptions twice;
  twice.format_options = {{"idv.column", "a"}, {"idv.column", "a"}, {"idv.column", "a"}};
  CHECK(Frame::open(dir / "twice.idv", twice).cols() == 3);
  const std::string shared = error_in(file.patch(file.tail - 8, place).bytes);
  CHECK(shared.find("bytes of metadata overlap other metadata") != std::string::npos);

  // Labels that would take 80 MB; as a matrix, without labels, all slots can be had.
  const std::int32_t slots = 4096;
  FileColumn wide{std::string(20000, 'w'), vector_codec(codec("Byte"), {slots}), {}, 1};
  const FileColumn number{"n", codec("Byte"), {}, 1};
  test::write_bytes(dir / "wide.idv", build(6, 0, {wide, number}).bytes);
  const Frame frame = Frame::open(dir / "wide.idv");
  CHECK(frame.cols() == 1);
  REQUIRE(frame.text_columns().size() == 1);
  CHECK(frame.text_columns()[0].label == wide.name);
  test::write_bytes(dir / "matrix.idv", build(6, 0, {wide}).bytes);
  CHECK(Matrix::open(dir / "matrix.idv").cols() == slots);
}

TEST_CASE("inflate: where the length is stored nowhere, no more is inflated than is asked for") {
  using detail::Inflated;
  const std::vector<std::byte> zeros(1 << 20);
  std::vector<std::byte> small;
  Array<std::byte> out;
  detail::idv::Deflater().deflate(zeros, small);
  const auto inflate = [&](std::uint64_t most) {
    return detail::inflate_some(detail::Wrapper::raw, small, {4 * small.size(), most}, out);
  };
  CHECK(inflate(zeros.size()) == Inflated::whole);
  CHECK(std::equal(out.data(), out.data() + out.size(), zeros.begin(), zeros.end()));
  CHECK(inflate(~std::uint64_t{0}) == Inflated::whole);
  CHECK(inflate(zeros.size() - 1) == Inflated::too_long);
  CHECK(out.size() < zeros.size());
  CHECK(inflate(0) == Inflated::too_long);
  small.resize(small.size() / 2);
  CHECK(inflate(std::uint64_t{1} << 30) == Inflated::bad);
}
