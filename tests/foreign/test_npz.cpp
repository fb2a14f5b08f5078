// Reading .npz archives built byte by byte: single arrays, and SciPy's sparse matrices.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/changed_bytes.h"
#include "tests/foreign/zip_image.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

const std::string kSquare =
    npy_image("<i4", "2, 2",
              test::number(1, 4) + test::number(2, 4) + test::number(3, 4) + test::number(4, 4));

std::vector<double> cells(const std::filesystem::path& path, const std::string& array = {}) {
  const Matrix m = Matrix::open(path, {.array = array});
  return m.read<double>({{0, m.rows()}, {0, m.cols()}});
}

/// A sparse matrix of 3 x 4 in one of SciPy's formats; `stop` is where its last line ends.
///   0 7 0 1
///   0 0 0 0
///   5 0 0 0
std::vector<ZipMember> sparse(const std::string& format, bool deflated = false, int width = 4) {
  std::vector<ZipMember> members;
  const auto add = [&](const std::string& name, const std::string& content) {
    members.push_back({name + ".npy", content, deflated});
  };
  if (format == "coo") {
    add("row", npy_integers({2, 0, 0}, width));
    add("col", npy_integers({0, 3, 1}, width));
  } else if (format == "csc") {
    add("indices", npy_integers({2, 0, 0}, width));
    add("indptr", npy_integers({0, 1, 2, 2, 3}, width));
  } else {  // not in order of columns
    add("indices", npy_integers({3, 1, 0}, width));
    add("indptr", npy_integers({0, 2, 2, 3}, width));
  }
  add("format", npy_image("|S3", "", format));
  add("shape", npy_integers({3, 4}));
  const std::string values = format == "csr" ? "\1\7\5" : format == "csc" ? "\5\7\1" : "\5\1\7";
  add("data", npy_image("|u1", "3,", values));
  return members;
}

const std::vector<double> kSparseCells = {0, 7, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0};

Error error_of_archive(const TempDir& dir, const std::string& bytes,
                       const std::string& array = {}) {
  write_text(dir / "bad.npz", bytes);
  return required_error(error_of([&] {
    const Matrix m = Matrix::open(dir / "bad.npz", {.array = array});
    m.read<double>({{0, m.rows()}, {0, m.cols()}});
  }));
}

ZipMember& member(std::vector<ZipMember>& members, const std::string& name) {
  for (ZipMember& m : members) {
    if (m.name == name + ".npy") return m;
  }
  throw std::logic_error("no member " + name);
}

}  // namespace

TEST_CASE("npz: the only array is the matrix, stored or deflated") {
  const TempDir dir;
  for (const bool deflated : {false, true}) {
    for (const bool zip64 : {false, true}) {
      write_text(dir / "one.npz",
                 zip_archive({{"arr_0.npy", kSquare, deflated, zip64}}, zip64, "a comment"));
      CHECK(cells(dir / "one.npz") == std::vector<double>{1, 2, 3, 4});
      CHECK(verify(dir / "one.npz", Level::payload).findings.empty());
    }
  }
}

TEST_CASE("npz: a stored array is used where it is in the archive") {
  const TempDir dir;
  write_text(dir / "one.npz", zip_archive({{"a.npy", kSquare}}));
  const Matrix m = Matrix::open(dir / "one.npz");
  const BlockInfo info = block_info(dir / "one.npz", {0, 0});
  CHECK(read_text(dir / "one.npz").substr(info.offset, 4) == number(1, 4));
  CHECK(m.block({0, 0}).dense_view<std::int32_t>()(1, 0) == 3);
}

TEST_CASE("npz: of members of one name the last one counts") {
  const TempDir dir;
  const std::string one = npy_image("<i4", "1, 1", number(5, 4));
  write_text(dir / "n.npz", zip_archive({{"a.npy", kSquare}, {"b.npy", kSquare}, {"a.npy", one}}));
  CHECK(cells(dir / "n.npz", "a") == std::vector<double>{5});
  CHECK(Matrix::open(dir / "n.npz", {.array = "b"}).contents() ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("npz: of several arrays one is chosen by its name") {
  const TempDir dir;
  const std::string other = npy_image("<f8", "0,", "");
  write_text(dir / "two.npz", zip_archive({{"a.npy", kSquare, true}, {"b.npy", other}, {"c", ""}}));
  CHECK(cells(dir / "two.npz", "a") == std::vector<double>{1, 2, 3, 4});
  CHECK(cells(dir / "two.npz", "b.npy").empty());
  CHECK(Matrix::open(dir / "two.npz", {.array = "a"}).contents() ==
        std::vector<std::string>{"a", "b"});
  const auto none = required_error(error_of([&] { open(dir / "two.npz"); }));
  CHECK(none.code() == Errc::invalid_argument);
  CHECK(none.detail() == "the archive holds 2 arrays: a, b");
  CHECK(none.option() == "array");
  const auto wrong = required_error(error_of([&] { open(dir / "two.npz", {.array = "c"}); }));
  CHECK(wrong.detail() == "the archive has no array 'c', only a, b");
}

TEST_CASE("npz: a sparse matrix of SciPy is one matrix, in any of three formats") {
  const TempDir dir;
  for (const std::string format : {"csr", "csc", "coo"}) {
    for (const bool deflated : {false, true}) {
      for (const int width : {4, 8}) {
        CAPTURE(format);
        CAPTURE(deflated);
        CAPTURE(width);
        write_text(dir / "s.npz", zip_archive(sparse(format, deflated, width)));
        CHECK(cells(dir / "s.npz") == kSparseCells);
        CHECK(verify(dir / "s.npz", Level::payload).findings.empty());
        const Matrix m = Matrix::open(dir / "s.npz");
        CHECK(m.value_type() == ValueType::u8);
        CHECK(m.counts().stored == 3);
        const auto csr = m.read_csr<float>({{0, 3}, {0, 4}});
        CHECK(list(csr.row_ptr) == std::vector<std::uint64_t>{0, 2, 2, 3});
        CHECK(list(csr.col_idx) == std::vector<std::uint64_t>{1, 3, 0});
        CHECK(list(csr.values) == std::vector<float>{7, 1, 5});
        Csr<float> some;
        gather_csr(m, std::vector<std::uint64_t>{2, 0, 1, 0}, some);
        CHECK(list(some.row_ptr) == std::vector<std::uint64_t>{0, 1, 3, 3, 5});
        CHECK(list(some.col_idx) == std::vector<std::uint64_t>{0, 1, 3, 1, 3});
        CHECK(list(some.values) == std::vector<float>{5, 7, 1, 7, 1});
        CHECK(m.read<double>({{0, 2}, {1, 3}}) == std::vector<double>{7, 0, 0, 0});
      }
    }
  }
}

TEST_CASE("npz: sparse arrays of one dimension are one column") {
  const TempDir dir;
  const std::vector<double> wanted{0, 7, 0, 0, 1};
  const std::string values = npy_image("|u1", "2,", "\x07\x01");
  for (const int width : {2, 4, 8}) {
    CAPTURE(width);
    const auto integers = [&](const std::vector<std::int64_t>& all) {
      return npy_integers(all, width);
    };
    // scipy.sparse.save_npz("s.npz", csr_array([0, 7, 0, 0, 1])) and the same of coo_array
    std::string coords = integers({1, 4});
    coords.replace(coords.find("(2,), }  "), 9, "(1, 2), }");
    const std::vector<std::vector<ZipMember>> archives = {
        {{"format.npy", npy_image("|S3", "", "csr")},
         {"shape.npy", npy_integers({5})},
         {"indptr.npy", integers({0, 2})},
         {"indices.npy", integers({1, 4})},
         {"data.npy", values}},
        {{"format.npy", npy_image("|S3", "", "coo")},
         {"shape.npy", npy_integers({5})},
         {"coords.npy", coords},
         {"data.npy", values}}};
    for (const auto& members : archives) {
      write_text(dir / "s.npz", zip_archive(members));
      const Matrix m = Matrix::open(dir / "s.npz");
      CHECK(m.rows() == 5);
      CHECK(m.cols() == 1);
      CHECK(m.read<double>({{0, 5}, {0, 1}}) == wanted);
      CHECK(list(m.read_csr<double>({{0, 5}, {0, 1}}).row_ptr) ==
            std::vector<std::uint64_t>{0, 0, 1, 1, 1, 2});
      CHECK(verify(dir / "s.npz", Level::payload).findings.empty());
    }
  }
}

TEST_CASE("npz: formats of SciPy that are not read say what to do") {
  const TempDir dir;
  auto members = sparse("csr");
  member(members, "format").content = npy_image("|S3", "", "lil");
  const Error error = error_of_archive(dir, zip_archive(members));
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.detail() ==
        "the sparse matrix has SciPy's format 'lil'; csr, csc, coo, bsr and dia are read: save it "
        "after .tocsr()");
  member(members, "format").content = npy_image("<i4", "", "csr ");
  CHECK(error_of_archive(dir, zip_archive(members)).detail() == "there is no word in the array");
}

TEST_CASE("npz: sparse arrays that do not fit each other are corrupt") {
  const TempDir dir;
  struct Damage {
    std::string format, name, content, detail;
  };
  const std::vector<Damage> damages = {
      {"csr", "indices", npy_integers({3, 4, 0}), "column 4 is outside a matrix of 4 columns"},
      {"csr", "indices", npy_integers({3, -1, 0}, 4),
       "column 4294967295 is outside a matrix of 4 columns"},
      {"csr", "indices", npy_integers({1, 1, 0}),
       "column 1 is twice in a row; add such entries up first, as SciPy's sum_duplicates() does"},
      {"csr", "indices", npy_integers({1, 0}), "there are 2 indices for 3 values"},
      {"csr", "indices", npy_image("<f8", "3,", std::string(24, '\0')),
       "indices.npy should hold integers, not f64"},
      {"csr", "indptr", npy_integers({0, 2, 3}), "3 pointers do not fit a matrix of 3 rows"},
      {"csr", "indptr", npy_integers({1, 2, 2, 3}), "the first pointer should be 0, not 1"},
      {"csr", "indptr", npy_integers({0, 2, 1, 3}), "a row ends at value 1, but starts at 2"},
      {"csr", "indptr", npy_integers({0, 2, 2, 4}), "a row ends at value 4 of 3"},
      {"csr", "shape", npy_integers({-3, 4}), "an extent is negative"},
      {"csr", "shape", npy_integers({3, 1, 1}),
       "a sparse array of 3 dimensions is no matrix; save it after .reshape() to two"},
      {"csc", "indices", npy_integers({3, 0, 0}), "row 3 is outside a matrix of 3 rows"},
      {"csc", "indptr", npy_integers({0, 2, 3, 3, 3}), ""},
      {"csc", "shape", npy_integers({3, 5}), "5 pointers do not fit a matrix of 5 columns"},
      {"coo", "row", npy_integers({3, 0, 0}), "row 3 is outside a matrix of 3 rows"},
      {"coo", "col", npy_integers({0, 3, 3}),
       "column 3 is twice in a row; add such entries up first, as SciPy's sum_duplicates() does"},
      {"coo", "col", npy_integers({0, 3}), "3 rows, 2 columns and 3 values are no list of entries"},
      {"coo", "shape", npy_integers({std::int64_t{1} << 60, 4}),
       "1152921504606846976 rows are too many for 3 entries; save the matrix after .tocsr()"},
  };
  for (const Damage& damage : damages) {
    if (damage.detail.empty()) continue;
    auto members = sparse(damage.format);
    member(members, damage.name).content = damage.content;
    const Error error = error_of_archive(dir, zip_archive(members));
    CHECK(error.detail() == damage.detail);
    CHECK((error.code() == Errc::corrupt || error.code() == Errc::unsupported));
  }
}

TEST_CASE("npz: an archive that is cut off anywhere is corrupt") {
  fuzz::MemoryFile file;
  for (const bool deflated : {false, true}) {
    const std::string whole = zip_archive(sparse("csr", deflated), deflated);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      file.set(std::as_bytes(std::span(whole.data(), size)));
      const auto error = error_of([&] { open(file.path(), {.format = "npz"}); });
      REQUIRE(error);
      CHECK(error->code() == Errc::corrupt);
    }
  }
}

TEST_CASE("npz: any changed byte gives a matrix or an error") {
  for (const std::string format : {"csr", "csc", "coo"}) {
    for (const bool deflated : {false, true}) {
      read_with_changed_bytes(zip_archive(sparse(format, deflated), deflated));
    }
  }
}

TEST_CASE("npz: directories that lie are corrupt") {
  const TempDir dir;
  const std::string good = zip_archive({{"a.npy", kSquare}});
  const std::size_t listed = good.find("PK\x01\x02"), end = good.find("PK\x05\x06");
  const auto with = [&](std::size_t at, const std::string& bytes) {
    return std::string(good).replace(at, bytes.size(), bytes);
  };
  const auto detail = [&](const std::string& bytes) {
    const Error error = error_of_archive(dir, bytes);
    CHECK(error.code() == Errc::corrupt);
    return error.detail();
  };
  CHECK(detail(with(listed + 20, number(kSquare.size() + 1, 4))) ==
        "the member a.npy ends after the directory begins");
  CHECK(detail(with(listed + 24, number(kSquare.size() + 1, 4))) ==
        "the member a.npy has two sizes");
  CHECK(detail(with(listed + 42, number(1, 4))) == "the header of member a.npy is not here");
  CHECK(detail(with(listed + 42, number(0xFFFFFFF0, 4))) == "the member a.npy is outside the file");
  CHECK(detail(with(end + 16, number(good.size(), 4))) == "the directory is outside the file");
  CHECK(detail(with(end + 10, number(2, 2))) ==
        "2 members do not fit a directory of " + std::to_string(end - listed) + " bytes");
  CHECK(detail(with(0, "XX")) == "the header of member a.npy is not here");
  CHECK(detail("no archive") == "the archive is cut off: it has no directory at its end");
}

TEST_CASE("npz: deflated content of another length, or with another CRC, is corrupt") {
  const TempDir dir;
  const std::string good = zip_archive({{"a.npy", kSquare, true}});
  const std::size_t listed = good.find("PK\x01\x02");
  const auto detail = [&](std::size_t at, const std::string& bytes) {
    const Error error = error_of_archive(dir, std::string(good).replace(at, bytes.size(), bytes));
    CHECK(error.code() == Errc::corrupt);
    return error.detail();
  };
  CHECK(detail(listed + 16, number(1, 4)) == "the content of a member does not match its CRC");
  CHECK(detail(listed + 24, number(kSquare.size() + 1, 4)) ==
        "the deflated data ends before its content does");
  CHECK(detail(listed + 24, number(0xFFFFFFF0, 4)).find("bytes cannot come out of") !=
        std::string::npos);
}

TEST_CASE("npz: verify finds stored content that does not match its CRC") {
  const TempDir dir;
  std::string bytes = zip_archive({{"a.npy", kSquare}, {"b.npy", kSquare}});
  const std::size_t data = bytes.find(kSquare, bytes.find("b.npy"));
  bytes[data + kSquare.size() - 1] ^= 1;
  write_text(dir / "n.npz", bytes);
  const OpenOptions other{.array = "a"};
  CHECK(verify(dir / "n.npz", Level::structure, other).findings.empty());
  const VerifyReport report = verify(dir / "n.npz", Level::payload, other);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].code() == Errc::corrupt);
  CHECK(report.findings[0].offset() == data);
  CHECK(report.findings[0].detail() == "the content of member b.npy does not match its CRC");
  CHECK(verify(dir / "n.npz", Level::payload).findings.size() == 1);
}

TEST_CASE("npz: verify looks at all arrays") {
  const TempDir dir;
  write_text(dir / "n.npz", zip_archive({{"a.npy", kSquare}, {"b.npy", "no array"}}));
  const VerifyReport report = verify(dir / "n.npz", Level::structure);
  CHECK(report.blocks == 1);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].detail().starts_with("'b': "));
}

TEST_CASE("npz: encrypted members and other methods are unsupported") {
  const TempDir dir;
  const std::string good = zip_archive({{"a.npy", kSquare}});
  const std::size_t listed = good.find("PK\x01\x02");
  const auto error = [&](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return error_of_archive(dir, bytes);
  };
  CHECK(error(listed + 8, 1).detail() == "the member a.npy is encrypted");
  CHECK(error(listed + 10, 12).detail() ==
        "the member a.npy is compressed by method 12, not by deflate");
  CHECK(error(listed + 10, 12).code() == Errc::unsupported);
}

TEST_CASE("npz: names of members are names only") {
  const TempDir dir;
  write_text(dir / "m.npz", zip_archive({{"../../etc/a.npy", kSquare}, {"/b.npy", kSquare}}));
  CHECK(cells(dir / "m.npz", "../../etc/a") == std::vector<double>{1, 2, 3, 4});
  CHECK(dir.names() == std::vector<std::string>{"m.npz"});
}

TEST_CASE("npz: long columns and rows make several blocks, and the same cells") {
  const TempDir dir;
  constexpr std::int64_t lines = 3000, across = 1000;
  std::vector<std::int64_t> pointers{0}, indices;
  std::string values;
  Rng random(7);
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t i = 0; i < across; ++i) {
      if (random.below(10) < 4) continue;
      indices.push_back(i);
      values += static_cast<char>(1 + random.below(250));
    }
    pointers.push_back(static_cast<std::int64_t>(indices.size()));
  }
  for (const bool by_columns : {false, true}) {
    const std::vector<std::int64_t> shape =
        by_columns ? std::vector<std::int64_t>{across, lines} : std::vector{lines, across};
    write_text(
        dir / "large.npz",
        zip_archive({{"format.npy", npy_image("|S3", "", by_columns ? "csc" : "csr")},
                     {"shape.npy", npy_integers(shape)},
                     {"indptr.npy", npy_integers(pointers, 4)},
                     {"indices.npy", npy_integers(indices, 4)},
                     {"data.npy", npy_image("|u1", std::to_string(values.size()) + ",", values)}}));
    const Matrix m = Matrix::open(dir / "large.npz");
    CHECK(m.blocks().size() == 2);
    std::vector<std::uint8_t> wanted(lines * across);
    for (std::int64_t line = 0; line < lines; ++line) {
      for (auto k = pointers[line]; k < pointers[line + 1]; ++k) {
        const auto at = by_columns ? indices[k] * lines + line : line * across + indices[k];
        wanted[at] = static_cast<std::uint8_t>(values[k]);
      }
    }
    const Region all{{0, m.rows()}, {0, m.cols()}};
    CHECK(m.read<std::uint8_t>(all) == wanted);
    const auto csr = m.read_csr<std::uint8_t>(all);
    std::vector<std::uint8_t> again(lines * across);
    for (std::uint64_t row = 0; row < m.rows(); ++row) {
      for (auto k = csr.row_ptr[row]; k < csr.row_ptr[row + 1]; ++k) {
        again[row * m.cols() + csr.col_idx[k]] = csr.values[k];
      }
    }
    CHECK(again == wanted);
  }
}
