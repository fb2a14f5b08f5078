// Names of the columns of a matrix where formats have a place for them, and where they are slots of
// ML.NET's vectors.

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/named.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

TEST_CASE("names: of columns are the header of CSV and the slots of ML.NET's vectors") {
  const TempDir folder;
  const Matrix named = Matrix::open(write_small(folder / "m.dbdf"));
  ConvertOptions options;
  options.write.overwrite = true;
  const auto csv_with = [&](const Selection& part) {
    convert(named, part, folder / "m.csv", options);
    return test::read_text(folder / "m.csv");
  };
  const std::string all = csv_with({});
  CHECK(all.starts_with("x,\"\",Z\xc3\xbcrich\n"));
  Selection some;
  some.cols = {2, 0};
  CHECK(csv_with(some).starts_with("Z\xc3\xbcrich,x\n"));
  const Texts wanted{"x", "", "Z\xc3\xbcrich"};
  convert(named, {}, folder / "m.idv", options);
  CHECK(texts_of(Matrix::open(folder / "m.idv").col_names()) == wanted);
  convert(Matrix::open(folder / "m.idv"), {}, folder / "slots.dbdf", options);
  options.transpose = true;
  convert(Matrix::open(folder / "slots.dbdf"), {}, folder / "turned.dbdf", options);
  CHECK(texts_of(Matrix::open(folder / "turned.dbdf").row_names()) == wanted);
  options.transpose = false;
  Texts notes;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  convert(Matrix::open(folder / "slots.dbdf"), {}, folder / "m.mtx", options);
  CHECK(std::ranges::find(notes, "mtx keeps no names of the columns of a matrix") != notes.end());
  options.note = nullptr;
  CHECK(Frame::open(folder / "m.csv").column_info(0).label == "Z\xc3\xbcrich");

  NamesBuilder given;
  for (const char* const name : {"p", "q", "r"}) given.add(name);
  options.write.col_names = given.finish();
  CHECK(csv_with({}) == "p,q,r\n" + all.substr(all.find('\n') + 1));
  convert(named, {}, folder / "m.idv", options);
  CHECK(texts_of(Matrix::open(folder / "m.idv").col_names()) == Texts{"p", "q", "r"});
  const Error error = required_error(error_of([&] { csv_with(some); }));
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail() == "3 names cannot be those of 2 columns");
  options.drop_labels = true;
  CHECK(csv_with({}) == all.substr(all.find('\n') + 1));
  convert(Matrix::open(folder / "slots.dbdf"), {}, folder / "m.csv", options);
  CHECK(test::read_text(folder / "m.csv") == all.substr(all.find('\n') + 1));
}

TEST_CASE("names: slots of a vector are names of columns where matrices are put together") {
  const TempDir folder;
  convert(open(write_named(folder / "a.dbdf", 2, 3, {}, {"a", "b", "c"})), {}, folder / "a.idv",
          {});
  const std::variant<Matrix, Frame> slots = open(folder / "a.idv"), same = open(folder / "a.dbdf");
  const auto other = open(write_named(folder / "x.dbdf", 2, 3, {}, {"x", "y", "z"}));
  const auto names = [](const auto& first, const auto& second, Axis axis) {
    const std::variant<Matrix, Frame> parts[] = {first, second};
    return texts_of(std::get<Matrix>(concat(parts, axis)).col_names());
  };
  CHECK(names(slots, slots, Axis::columns) == Texts{"a", "b", "c", "a", "b", "c"});
  CHECK(names(other, slots, Axis::columns) == Texts{"x", "y", "z", "a", "b", "c"});
  CHECK(names(slots, slots, Axis::rows) == Texts{"a", "b", "c"});
  CHECK(names(same, slots, Axis::rows) == Texts{"a", "b", "c"});
  for (const bool slots_first : {false, true}) {
    const Error error = required_error(error_of(
        [&] { names(slots_first ? slots : other, slots_first ? other : slots, Axis::rows); }));
    CHECK(error.detail() == "the columns have other names than those of the objects before");
  }
}
