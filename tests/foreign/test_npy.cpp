// Reading npy files built byte by byte; their cells follow from the definition of the format.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "dapple/open.h"
#include "lib/base/bytes.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using dapple::test::Table;
using dapple::test::TempDir;

namespace {

/// A file with this header text, padded as asked, and `data` after it.
std::vector<std::byte> npy(const std::string& header, const std::vector<std::byte>& data,
                           int version = 1) {
  std::string head = "\x93NUMPY";
  head += static_cast<char>(version);
  head += '\0';
  const std::uint64_t length = header.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) head += static_cast<char>(length >> (8 * i));
  head += header + '\n';
  std::vector<std::byte> bytes(head.size() + data.size());
  std::memcpy(bytes.data(), head.data(), head.size());
  std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(head.size()));
  return bytes;
}

std::string array_header(const std::string& dtype, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + dtype + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': (" + shape + "), }";
}

/// `n` values of a type, all different as far as it goes, in one byte order.
template <Value T>
std::vector<std::byte> counting(std::size_t n, bool big_endian) {
  std::vector<std::byte> bytes(n * sizeof(T));
  for (std::size_t i = 0; i < n; ++i) {
    const T value = static_cast<T>(static_cast<T>(i) * T{3} + T{1});
    if (big_endian) {
      detail::store_be(bytes.data() + i * sizeof(T), value);
    } else {
      detail::store_le(bytes.data() + i * sizeof(T), value);
    }
  }
  return bytes;
}

template <Value T>
T counted(std::uint64_t i) {
  return static_cast<T>(static_cast<T>(i) * T{3} + T{1});
}

template <Value T>
std::string dtype_name(bool big_endian) {
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return std::string(sizeof(T) == 1 ? "|"
                     : big_endian   ? ">"
                                    : "<") +
         kind + std::to_string(sizeof(T));
}

Error npy_error(const TempDir& folder, const std::vector<std::byte>& bytes) {
  const auto path = folder.write("bad.npy", bytes);
  return test::required_error(test::error_of([&] { open(path); }));
}

Error npy_header_error(const TempDir& folder, const std::string& header) {
  return npy_error(folder, npy(header, std::vector<std::byte>(64)));
}

}  // namespace

TEST_CASE_TEMPLATE("npy: arrays of two dimensions in both orders and both byte orders", T,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  const TempDir folder;
  constexpr std::uint64_t rows = 67, cols = 5;
  for (const bool fortran : {false, true}) {
    for (const bool big : {false, true}) {
      CAPTURE(fortran);
      CAPTURE(big);
      const auto path = folder.write(
          "a.npy",
          npy(array_header(dtype_name<T>(big), "67, 5", fortran), counting<T>(rows * cols, big)));
      const Matrix m = Matrix::open(path);
      CHECK(m.format() == "npy");
      CHECK(m.note().empty());
      REQUIRE(m.rows() == rows);
      REQUIRE(m.cols() == cols);
      CHECK(m.value_type() == value_type_of<T>());
      const auto wanted = [&](std::uint64_t r, std::uint64_t c) {
        return counted<T>(fortran ? c * rows + r : r * cols + c);
      };
      test::Rng random(7);
      for (int round = 0; round < 30; ++round) {
        const Region region =
            round == 0 ? Region{{0, rows}, {0, cols}} : test::random_region(rows, cols, random);
        const std::vector<T> got = m.read<T>(region);
        std::size_t i = 0;
        for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
          for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c) {
            REQUIRE(got[i++] == wanted(r, c));
          }
        }
      }
      const bool in_place = !fortran && !(big && sizeof(T) > 1);
      if (in_place) {
        const auto view = m.block(BlockPos{0, 0}).dense_view<T>();
        CHECK(view(66, 4) == wanted(66, 4));
      } else {
        CHECK_THROWS_AS(m.block(BlockPos{0, 0}).dense_view<T>(), Error);
      }
      CHECK(m.blocks().size() == 1);
    }
  }
}

TEST_CASE("npy: no, one and many dimensions become rows and columns") {
  const TempDir folder;
  const auto opened = [&](const std::string& shape, std::size_t n, bool fortran = false) {
    const auto path = folder.write(
        "a.npy", npy(array_header("<i4", shape, fortran), counting<std::int32_t>(n, false)));
    return Matrix::open(path);
  };
  Matrix m = opened("", 1);
  CHECK(m.read<std::int32_t>({{0, 1}, {0, 1}}) == std::vector<std::int32_t>{1});
  m = opened("4,", 4);
  CHECK(m.cols() == 1);
  CHECK(m.read<std::int32_t>({{1, 4}, {0, 1}}) == std::vector<std::int32_t>{4, 7, 10});
  m = opened("2, 3, 4", 24);
  CHECK(m.rows() == 6);
  CHECK(m.cols() == 4);
  CHECK(m.note() == "an array of shape (2, 3, 4), shown as 6 rows of 4");
  CHECK(m.read<std::int32_t>({{5, 6}, {3, 4}})[0] == counted<std::int32_t>(23));
  for (const std::string shape : {"0,", "0, 7", "7, 0", "3, 0, 5", "0, 0"}) {
    m = opened(shape, 0);
    CHECK(m.blocks().size() == 0);
    CHECK(m.rows() * m.cols() == 0);
  }
}

TEST_CASE("npy: Fortran order of three and four dimensions folds rows as C order does") {
  const TempDir folder;
  const std::vector<std::vector<std::uint64_t>> shapes = {{2, 3, 4},    {3, 1, 5}, {1, 4, 3},
                                                          {2, 3, 4, 5}, {4, 3, 1}, {1, 1, 6}};
  for (const auto& shape : shapes) {
    std::string text;
    std::uint64_t n = 1;
    for (const std::uint64_t extent : shape) {
      text += std::to_string(extent) + ", ";
      n *= extent;
    }
    text.pop_back();
    const auto path =
        folder.write("a.npy", npy(array_header("<f8", text, true), counting<double>(n, false)));
    const Matrix m = Matrix::open(path);
    const std::uint64_t cols = shape.back();
    for (std::uint64_t i = 0; i < n; ++i) {
      // i counts cells in C order; where does Fortran order put the same index tuple?
      std::uint64_t rest = i, place = 0;
      std::vector<std::uint64_t> index(shape.size());
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
      for (std::size_t d = shape.size(); d-- > 0;) place = place * shape[d] + index[d];
      const std::uint64_t row = i / cols, col = i % cols;
      REQUIRE(m.read<double>({{row, row + 1}, {col, col + 1}})[0] == counted<double>(place));
    }
    const std::vector<double> all = m.read<double>({{0, m.rows()}, {0, cols}});
    const std::vector<double> tail = m.read<double>({{m.rows() / 2, m.rows()}, {0, cols}});
    CHECK(std::equal(tail.rbegin(), tail.rend(), all.rbegin()));
  }
}

TEST_CASE("npy: records are frames, whatever their padding and byte order") {
  const TempDir folder;
  // 1 + 3 bytes of padding + 8 + 2, twice
  std::vector<std::byte> data(28);
  for (std::size_t r = 0; r < 2; ++r) {
    std::byte* item = data.data() + 14 * r;
    item[0] = static_cast<std::byte>(40 + r);
    detail::store_be(item + 4, 0.5 + static_cast<double>(r));
    detail::store_le(item + 12, static_cast<std::int16_t>(-7 - static_cast<int>(r)));
  }
  const auto path =
      folder.write("r.npy", npy("{'descr': [('flag', '|b1'), ('', '|V3'), (('title', 'x'), '>f8'), "
                                "('it\\'s', '<i2', ())], 'fortran_order': False, 'shape': (2,), }",
                                data));
  const Frame f = Frame::open(path);
  REQUIRE(f.cols() == 3);
  CHECK(f.rows() == 2);
  CHECK(f.label(0) == "flag");
  CHECK(f.label(1) == "x");
  CHECK(f.label(2) == "it's");
  CHECK(f.column_type(0) == ValueType::u8);
  CHECK(f.read_column<std::uint8_t>(0, {0, 2}) == std::vector<std::uint8_t>{40, 41});
  CHECK(f.read_column<double>(1, {0, 2}) == std::vector<double>{0.5, 1.5});
  CHECK(f.read_column<std::int64_t>(2, {1, 2}) == std::vector<std::int64_t>{-8});
  CHECK(f.blocks().size() == 3);
  CHECK(f.block(BlockPos{0, 2}).dense_view<std::int16_t>()(1, 0) == -8);
}

TEST_CASE("npy: records of no dimension are one row, of several they are folded") {
  const TempDir folder;
  const std::string descr = "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': ";
  CHECK(Frame::open(folder.write("0.npy", npy(descr + "()}", {std::byte{9}}))).rows() == 1);
  const Frame f =
      Frame::open(folder.write("2.npy", npy(descr + "(2, 3)}", counting<std::uint8_t>(6, false))));
  CHECK(f.rows() == 6);
  CHECK(f.note() == "an array of shape (2, 3), shown as 6 rows of 1");
  CHECK(f.read_column<std::uint8_t>(0, {5, 6})[0] == counted<std::uint8_t>(5));
}

TEST_CASE("npy: versions 2.0 and 3.0 have longer headers, and labels of their own encoding") {
  const TempDir folder;
  const auto descr = [](const std::string& label) {
    return "{'descr': [('" + label + "', '|u1')], 'fortran_order': False, 'shape': (1,), }";
  };
  const std::vector<std::byte> one{std::byte{5}};
  CHECK(Frame::open(folder.write("1.npy", npy(descr("\xe9"), one, 1))).label(0) == "\xc3\xa9");
  CHECK(Frame::open(folder.write("2.npy", npy(descr("\xe9"), one, 2))).label(0) == "\xc3\xa9");
  CHECK(Frame::open(folder.write("3.npy", npy(descr("\xc3\xa9"), one, 3))).label(0) == "\xc3\xa9");
  CHECK(npy_error(folder, npy(descr("\xe9"), one, 3)).code() == Errc::corrupt);
  CHECK(npy_error(folder, npy(descr("a"), one, 4)).code() == Errc::unsupported);
  CHECK(Frame::open(folder.write("u.npy", npy(descr("\\u65e5\\x41\\U0001f600"), one))).label(0) ==
        "\xe6\x97\xa5"
        "A\xf0\x9f\x98\x80");
}

TEST_CASE("npy: what NumPy's parser takes is taken: order, spaces, trailing commas, Python 2") {
  const TempDir folder;
  for (const std::string header :
       {"{'descr':'<f8','fortran_order':False,'shape':(2,1)}",
        "{\"shape\": (2L, 1L), u'descr': \"<f8\", 'fortran_order': False}",
        "  { 'shape' : ( 2 , 1 , ) ,\n'fortran_order' : False , 'descr' : 'f8' , }  \t"}) {
    const Matrix m = Matrix::open(folder.write("a.npy", npy(header, counting<double>(2, false))));
    CHECK(m.read<double>({{0, 2}, {0, 1}}) == std::vector<double>{1, 4});
  }
}

TEST_CASE("npy: NumPy's letters and names of types are the types that NumPy reads") {
  // numpy.dtype(NAME).str of NumPy 2.4 on 64-bit Linux.
  const std::pair<const char*, const char*> names[] = {
      {"?", "|b1"},       {"bool", "|b1"},   {"b", "|i1"},       {"int8", "|i1"},
      {"h", "<i2"},       {"int16", "<i2"},  {"i", "<i4"},       {"int32", "<i4"},
      {"l", "<i8"},       {"q", "<i8"},      {"int64", "<i8"},   {"int", "<i8"},
      {"B", "|u1"},       {"uint8", "|u1"},  {"H", "<u2"},       {"uint16", "<u2"},
      {"I", "<u4"},       {"uint32", "<u4"}, {"L", "<u8"},       {"Q", "<u8"},
      {"uint64", "<u8"},  {"e", "<f2"},      {"float16", "<f2"}, {"f", "<f4"},
      {"float32", "<f4"}, {"single", "<f4"}, {"d", "<f8"},       {"float64", "<f8"},
      {"double", "<f8"},  {"float", "<f8"},  {"<d", "<f8"},      {">f", ">f4"},
      {"=i", "<i4"},      {"|?", "|b1"},     {"longlong", "<i8"}};
  const TempDir folder;
  std::vector<std::byte> data(64);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i % 2);
  for (const auto& [name_, code] : names) {
    const auto& name = name_;  // clang 14 captures no bindings
    CAPTURE(name);
    const auto cells = [&](const char* dtype) {
      const Matrix m = Matrix::open(folder.write("a.npy", npy(array_header(dtype, "8,"), data)));
      return std::pair(m.value_type(), m.read<double>({{0, 8}, {0, 1}}));
    };
    CHECK(cells(name) == cells(code));
  }
}

TEST_CASE("npy: bytes behind the array are left alone, and said to be there") {
  const TempDir folder;
  const auto path =
      folder.write("a.npy", npy(array_header("|u1", "3,"), counting<std::uint8_t>(10, false)));
  const Matrix m = Matrix::open(path);
  CHECK(m.rows() == 3);
  CHECK(m.note() == "left alone: 7 bytes behind the array");
}

TEST_CASE("npy: types without a value type are unsupported and named") {
  const TempDir folder;
  for (const std::string dtype : {"<f16", "<c8", "<c16", "|O", "|S3", "<U2", "<M8[s]", "<m8[ns]",
                                  "|V3", "|b2", "<i3", "", "nonsense"}) {
    const Error error = npy_header_error(folder, array_header(dtype, "2,"));
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("'" + dtype + "'") != std::string::npos);
  }
  const auto field = [&](const std::string& text) {
    return npy_header_error(
        folder, "{'descr': [('a', '|u1'), " + text + "], 'fortran_order': False, 'shape': (1,), }");
  };
  CHECK(field("('b', '<f8', (2,))").code() == Errc::unsupported);
  CHECK(field("('b', [('c', '<f8')])").code() == Errc::unsupported);
  CHECK(field("('b', '<c8')").detail().find("'<c8' of field 'b'") != std::string::npos);
  // Of long ones, of which a header may consist, messages show the beginning.
  const std::string dtype =
      npy_header_error(folder, array_header(std::string(60'000, 'x'), "2,")).detail();
  CHECK(dtype.ends_with("not the dtype '" + std::string(40, 'x') + "...'"));
  const std::string named = field("('" + std::string(41, 'b') + "', '<c8')").detail();
  CHECK(named.ends_with("'<c8' of field '" + std::string(40, 'b') + "...'"));
  CHECK(npy_header_error(folder, "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': ()}")
            .code() == Errc::unsupported);
}

TEST_CASE("npy: a damaged header is corrupt, at the byte that is wrong") {
  const TempDir folder;
  struct Case {
    std::string header;
    std::uint64_t byte;
  };
  for (const Case& c : std::vector<Case>{
           {"", 11},
           {"[]", 10},
           {"{}", 12 + 1},
           {"{'descr': '<f8'}", 26 + 1},
           {"{'descr': '<f8', 'fortran_order': 0, 'shape': ()}", 44},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (3)}", 10 + 52},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", 10 + 51},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551616,)}", 10 + 51},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': 3}", 10 + 50},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': ()} x", 10 + 54},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': ()", 10 + 53},
           {"{'descr': '<f8', 'descr': '<f8', 'shape': ()}", 10 + 17},
           {"{'descr': '<f8', 'colour': 'red'}", 10 + 17},
           {"{'descr' '<f8'}", 10 + 9},
           {"{'descr': '<f8", 10 + 14},
           {"{'descr': [('a', '|u1'), ('a', '|u1')], 'fortran_order': False, 'shape': ()}",
            10 + 26},
           {"{'descr': [('\\xz1', '|u1')], 'fortran_order': False, 'shape': ()}", 10 + 15},
           {"{'descr': [('\\ud800', '|u1')], 'fortran_order': False, 'shape': ()}", 10 + 15},
           {"{'descr': [('\\q', '|u1')], 'fortran_order': False, 'shape': ()}", 10 + 14}}) {
    CAPTURE(c.header);
    const Error error = npy_header_error(folder, c.header);
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset() == c.byte);
  }
}

TEST_CASE("npy: an array that the file does not hold is corrupt, however large it says to be") {
  const TempDir folder;
  for (const std::string shape : {"9,", "3, 3", "4611686018427387904, 4", "4294967296, 4294967296",
                                  "18446744073709551615,", "4294967296, 4294967296, 1"}) {
    const Error error = npy_header_error(folder, array_header("<f8", shape));
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset().has_value());
  }
  const auto whole = npy(array_header("<f8", "2, 3"), counting<double>(6, false));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Error error =
        npy_error(folder, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    CHECK(error.code() == Errc::corrupt);
  }
}

TEST_CASE("npy: any change of one byte of a header gives an answer or an Error") {
  const TempDir folder;
  const auto whole =
      npy("{'descr': [('a', '<f8'), ('', '|V2'), ('b', '>i2')], 'fortran_order': "
          "False, 'shape': (2,), }",
          std::vector<std::byte>(24));
  for (std::size_t i = 0; i < whole.size() - 24; ++i) {
    for (const char byte : std::string("\0\1'()[9L\\\x80\xff", 11)) {
      auto bytes = whole;
      bytes[i] = static_cast<std::byte>(byte);
      const auto path = folder.write("a.npy", bytes);
      try {
        const Table table = Table::read(open(path));
        CHECK(table.cols() <= 3);
      } catch (const Error& error) {
        CHECK(error.code() != Errc::io);
      }
    }
  }
}
