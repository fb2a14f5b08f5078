// Names of rows and columns: kept, found, refused, and damaged. A std::map is the oracle.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dapple/concat.h"
#include "dapple/convert.h"
#include "dapple/names.h"
#include "dapple/open.h"
#include "dapple/sidecar.h"
#include "dapple/verify.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/object_hints.h"
#include "lib/io/memory/memory_source.h"
#include "lib/object/names.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/fuzz/sign.h"
#include "tests/named.h"
#include "tests/support.h"

namespace dapple {

namespace {

using test::error_of;
using test::names_of, test::texts_of, test::Texts, test::write_named, test::write_small;
using test::required_error;
using test::TempDir;

const Texts kNone{"(none)"};

/// Names of every kind, with repeats.
Texts many_texts(std::size_t n) {
  std::mt19937_64 random(5);
  Texts texts;
  for (std::size_t i = 0; i < n; ++i) {
    std::string text(random() % 20, '\0');
    for (char& c : text) c = static_cast<char>('A' + random() % 4);
    texts.push_back(random() % 50 == 0 ? "" : text);
  }
  return texts;
}

void check_against_map(const Names& names, const Texts& texts) {
  std::map<std::string, std::vector<std::uint64_t>> where;
  for (std::uint64_t i = 0; i < texts.size(); ++i) where[texts[i]].push_back(i);
  where.erase("");
  bool unique = true;
  for (const auto& [text, places] : where) {
    unique = unique && places.size() == 1;
    if (places.size() == 1) {
      REQUIRE(names.find(text) == places.front());
    } else {
      const Error e = required_error(error_of([&, &one = text] { names.find(one); }));
      REQUIRE(e.code() == Errc::invalid_argument);
      REQUIRE(e.detail().find("first at " + std::to_string(places.front())) != std::string::npos);
    }
    REQUIRE(names.find(text + "!") == std::nullopt);
  }
  CHECK(names.find("") == std::nullopt);
  CHECK(names.unique() == unique);
}

detail::dbdf::Hint row_hint(const std::filesystem::path& path) {
  return fuzz::hint_of(path.string(), detail::dbdf::kRowNamesTag);
}

}  // namespace

TEST_CASE("names: are found where they are, in memory and in a file") {
  const TempDir folder;
  for (const std::size_t n : {1U, 2U, 3U, 63U, 64U, 65U, 5000U}) {
    const Texts texts = many_texts(n);
    check_against_map(*names_of(texts), texts);
    const auto path =
        write_named(folder / "m.dbdf", static_cast<std::uint32_t>(n), 1, texts, {"only"});
    const Matrix m = Matrix::open(path);
    CHECK(texts_of(m.row_names()) == texts);
    check_against_map(*m.row_names(), texts);
    CHECK(texts_of(m.col_names()) == Texts{"only"});
    CHECK(verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("names: the bytes of the hint are pinned") {
  const TempDir folder;
  const auto path = write_named(folder / "m.dbdf", 2, 1, {"Ann", "Bo"}, {});
  const auto hint = row_hint(path);
  const auto bytes = test::read_bytes(path);
  const std::string content(reinterpret_cast<const char*>(bytes.data()) + hint.offset, hint.bytes);
  // As FORMAT.md has it. XXH3_64bits of libxxhash, called by hand: of "Ann" 2f1b3bdeb1077c6b, of
  // "Bo" 9eeb096ee6dd737e.
  const auto word = [](std::uint64_t value) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &value, 8);
    return text;
  };
  std::string head = "DPL-RNAM" + word(1) + word(2) + word(5) + word(4) + word(0) + word(4) +
                     word(0) + std::string("\0\0\0\0\3\0\0\0\5\0\0\0", 12);
  const std::string slots = word(0) + word(0) + word(0x4f7584b700000002) + word(0x178d9def00000001);
  CHECK(content == head + slots + "AnnBo");
}

TEST_CASE("names: of matrices and frames come back; files without any are as ever") {
  const TempDir folder;
  const auto none = test::read_bytes(write_named(folder / "a.dbdf", 2, 3, {}, {}));
  WriteOptions options;
  options.row_names = options.col_names = names_of({});
  ConvertOptions into;
  into.write = options;
  convert(open(write_small(folder / "m.dbdf")), {}, folder / "b.dbdf", into);
  CHECK(test::read_bytes(folder / "b.dbdf") == none);
  CHECK(Matrix::open(folder / "a.dbdf").row_names() == nullptr);
  options = {};
  options.row_names = names_of({"r"});
  auto writer = FrameWriter::create(folder / "f.dbdf", 1, {{"x", ValueType::u8}}, options);
  writer.finish();
  CHECK(texts_of(Frame::open(folder / "f.dbdf").row_names()) == Texts{"r"});
  CHECK(Frame::open(folder / "f.dbdf").col_names() == nullptr);
  write_named(folder / "plain.dbdf", 2, 3, {"a", "b"}, {}, true);
  CHECK(Matrix::open(folder / "plain.dbdf").row_names() == nullptr);
}

TEST_CASE("names: another number, too long, not UTF-8, or of a frame's columns are refused") {
  const TempDir folder;
  const auto refused = [&](const Texts& rows, const Texts& cols) {
    return required_error(error_of([&] { write_named(folder / "m.dbdf", 2, 3, rows, cols); }));
  };
  CHECK(refused({"a"}, {}).code() == Errc::invalid_argument);
  CHECK(refused({"a"}, {}).detail() == "1 name cannot be those of 2 rows");
  CHECK(refused({}, {"a", "b"}).detail() == "2 names cannot be those of 3 columns");
  CHECK(refused({"a", "\xff"}, {}).code() == Errc::invalid_argument);
  CHECK(refused({"a", std::string(65536, 'x')}, {}).code() == Errc::invalid_argument);
  WriteOptions options;
  options.col_names = names_of({"x"});
  const auto frame = error_of([&] {
    FrameWriter::create(folder / "f.dbdf", 1, {{"x", ValueType::u8}}, options);
  });
  CHECK(required_error(frame).code() == Errc::invalid_argument);
  CHECK(folder.names().empty());
}

TEST_CASE("names: convert keeps those of the selection, transposing swaps them") {
  const TempDir folder;
  const auto in = write_small(folder / "m.dbdf");
  const auto out = folder / "o.dbdf";
  convert(Matrix::open(in), {}, out);
  CHECK(texts_of(Matrix::open(out).row_names()) == Texts{"Ann", "Bo"});
  CHECK(texts_of(Matrix::open(out).col_names()) == Texts{"x", "", "Z\xc3\xbcrich"});
  ConvertOptions options;
  options.write.overwrite = true;
  Selection part;
  part.rows = Range{1, 2};
  part.cols = std::vector<std::uint64_t>{2, 0, 2};
  convert(Matrix::open(in), part, out, options);
  CHECK(texts_of(Matrix::open(out).row_names()) == Texts{"Bo"});
  CHECK(texts_of(Matrix::open(out).col_names()) == Texts{"Z\xc3\xbcrich", "x", "Z\xc3\xbcrich"});
  options.transpose = true;
  convert(Matrix::open(in), part, out, options);
  CHECK(texts_of(Matrix::open(out).row_names()) == Texts{"Z\xc3\xbcrich", "x", "Z\xc3\xbcrich"});
  CHECK(texts_of(Matrix::open(out).col_names()) == Texts{"Bo"});
}

TEST_CASE("names: what keeps none says so") {
  const TempDir folder;
  const auto in = write_small(folder / "m.dbdf");
  for (const std::string name : {"m.npy", "m.mtx", "m.out", "m.csv", "m.idv"}) {
    Texts notes;
    ConvertOptions options;
    options.note = [&](const std::string& note) { notes.push_back(note); };
    convert(Matrix::open(in), {}, folder / name, options);
    const bool keeps_columns = name.ends_with("csv") || name.ends_with("idv");
    REQUIRE(notes.size() == (keeps_columns ? 1 : 2));
    CHECK(notes[0].find("keeps no names of rows") != std::string::npos);
    if (!keeps_columns) CHECK(notes[1].find("keeps no names of the columns") != std::string::npos);
  }
}

TEST_CASE("names: objects put together") {
  const TempDir folder;
  const std::variant<Matrix, Frame> a = Matrix::open(write_small(folder / "a.dbdf"));
  const std::variant<Matrix, Frame> b =
      Matrix::open(write_named(folder / "b.dbdf", 2, 3, {"Cy", "Di"}, {}));
  const std::variant<Matrix, Frame> c = Matrix::open(write_named(folder / "c.dbdf", 2, 3, {}, {}));
  const auto both = [](const auto& x, const auto& y, Axis axis) {
    const std::variant<Matrix, Frame> parts[] = {x, y};
    return std::get<Matrix>(concat(parts, axis));
  };
  const Matrix down = both(a, b, Axis::rows), across = both(c, a, Axis::columns);
  CHECK(texts_of(down.row_names()) == Texts{"Ann", "Bo", "Cy", "Di"});
  CHECK(texts_of(down.col_names()) == Texts{"x", "", "Z\xc3\xbcrich"});
  CHECK(texts_of(across.row_names()) == Texts{"Ann", "Bo"});
  CHECK(texts_of(across.col_names()) == Texts{"", "", "", "x", "", "Z\xc3\xbcrich"});
  CHECK(texts_of(both(c, c, Axis::rows).row_names()) == kNone);
  const auto others = error_of([&] { both(a, b, Axis::columns); });
  CHECK(required_error(others).code() == Errc::invalid_argument);
}

TEST_CASE("names: rows that are appended bring theirs") {
  const TempDir folder;
  const auto path = write_small(folder / "m.dbdf");
  append(path, Matrix::open(write_named(folder / "b.dbdf", 2, 3, {}, {})));
  append(path, Matrix::open(write_named(folder / "c.dbdf", 1, 3, {"Cy"}, {})));
  CHECK(texts_of(Matrix::open(path).row_names()) == Texts{"Ann", "Bo", "", "", "Cy"});
  CHECK(Matrix::open(path).row_names()->find("Cy") == 4);
  CHECK(texts_of(Matrix::open(path).col_names()) == Texts{"x", "", "Z\xc3\xbcrich"});
}

TEST_CASE("names: a walk, a sidecar and repair find them") {
  const TempDir folder;
  const auto path = write_small(folder / "m.dbdf");
  auto bytes = test::read_bytes(path);
  bytes[bytes.size() - 1] ^= std::byte{1};  // the index is damaged
  const auto walked = folder.write("walked.dbdf", bytes);
  const auto whole = [](const std::filesystem::path& file) {
    return texts_of(Matrix::open(file).row_names()) == Texts{"Ann", "Bo"} &&
           texts_of(Matrix::open(file).col_names()) == Texts{"x", "", "Z\xc3\xbcrich"};
  };
  CHECK(Matrix::open(walked).index_origin() == IndexOrigin::scanned);
  CHECK(whole(walked));
  repair(walked, folder / "sound.dbdf");
  CHECK(whole(folder / "sound.dbdf"));
  REQUIRE(write_sidecar(walked));
  CHECK(Matrix::open(walked).index_origin() == IndexOrigin::sidecar);
  CHECK(whole(walked));
}

TEST_CASE("names: every changed byte is found, and no cell suffers") {
  const TempDir folder;
  const auto path = write_small(folder / "m.dbdf");
  const auto bytes = test::read_bytes(path);
  const auto hint = row_hint(path);
  WriteOptions options;
  options.overwrite = true;
  for (std::uint64_t i = 0; i < hint.bytes; ++i) {
    auto changed = bytes;
    changed[hint.offset + i] ^= std::byte{0x11};
    const auto bad = folder.write("bad.dbdf", changed);
    CHECK_FALSE(verify(bad, Level::payload).findings.empty());
    CHECK(Matrix::open(bad).read<double>({{0, 2}, {0, 3}}).back() == 5);
    // A name that is found has the right bytes; one that is not is an error when bytes are damaged,
    // unless all of them would have to be fetched to know that.
    try {
      const Matrix m = Matrix::open(bad);
      const auto names = m.row_names();
      const auto found = names->find("Bo");
      if (found) {
        CHECK((*names)[*found] == "Bo");
      } else {
        CHECK(m.store().file().fetches());
      }
    } catch (const Error& e) {
      CHECK((e.code() == Errc::corrupt || e.code() == Errc::invalid_argument));
    }
    OpenOptions checked;
    checked.check = Check::first_touch;
    const auto damage = error_of([&] { Matrix::open(bad, checked).row_names(); });
    CHECK(required_error(damage).code() == Errc::corrupt);
    CHECK(repair(bad, folder / "sound.dbdf", options).blocks_lost == 0);
    CHECK(Matrix::open(folder / "sound.dbdf").row_names() == nullptr);
  }
}

TEST_CASE("names: a table that was made to be searched from end to end is not") {
  Texts texts;
  for (int i = 0; i < 6000; ++i) texts.push_back("name" + std::to_string(i));
  std::vector<std::byte> bytes = detail::pack_names(*names_of(texts));
  const std::uint64_t slots = detail::load_le<std::uint64_t>(bytes.data() + 32);
  const auto table = std::span(bytes).subspan(64 + 4 * (texts.size() + 1), 8 * slots);
  // Every name is half a table away from where its search begins, and nothing between is free.
  std::rotate(table.begin(), table.begin() + 4 * static_cast<std::ptrdiff_t>(slots), table.end());
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    std::byte* const p = table.data() + 8 * slot;
    if (detail::load_le<std::uint32_t>(p) == 0) detail::store_le(p, std::uint32_t{1});
  }
  const detail::NameTable forged(detail::memory_source(bytes, "names"), {0, bytes.size()},
                                 std::nullopt);
  CHECK(forged.find("name77") == 77);
  const Error e = required_error(error_of([&] { forged.verify(); }));
  CHECK(e.detail().find("have a table that takes too long to search") != std::string::npos);
}

TEST_CASE("names: an emptied table hides none, even where little of the file was read yet") {
  const TempDir folder;
  for (const std::uint32_t n : {2U, 5000U}) {
    const auto path = write_named(folder / "m.dbdf", n, 1, many_texts(n), {"only"});
    auto bytes = test::read_bytes(path);
    const auto hint = row_hint(path);
    const auto slots = detail::load_le<std::uint64_t>(bytes.data() + hint.offset + 32);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(hint.offset + 64 + 4 * (n + 1)),
                8 * slots, std::byte{0});
    const Matrix m = Matrix::open(folder.write("bad.dbdf", bytes));
    const auto error = error_of([&] { CHECK(m.row_names()->find("A") == std::nullopt); });
    if (m.store().file().fetches()) continue;  // all of them would have to be fetched
    CHECK(required_error(error).code() == Errc::corrupt);
  }
}

}  // namespace dapple
