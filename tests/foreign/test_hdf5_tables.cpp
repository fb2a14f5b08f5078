// Tables of anndata in HDF5 files: those that its releases wrote (tests/golden/make_anndata.py),
// and damaged ones.

#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

using Texts = std::vector<std::optional<std::string>>;

Frame table(const std::filesystem::path& path, const std::string& name = "obs") {
  OpenOptions options;
  options.array = name;
  return Frame::open(path, options);
}

/// The words of a column; nothing for a missing one.
Texts words(const Frame& frame, const std::string& column) {
  Texts all;
  for (const auto& word : frame.read_words(frame.column(column), {0, frame.rows()})) {
    all.emplace_back(word ? std::optional(std::string(*word)) : std::nullopt);
  }
  return all;
}

template <Value T>
std::vector<T> numbers(const Frame& frame, const std::string& column) {
  std::vector<T> all(frame.rows());
  frame.read_column<T>(frame.column(column), {0, frame.rows()}, std::span(all));
  return all;
}

Texts repeated(const Texts& some, std::size_t times) {
  Texts all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// A table whose only column, "a", is a group of what `fill` puts into it.
class Written {
 public:
  explicit Written(const std::filesystem::path& path) : file(path) {
    strings("obs/id", {"x", "y", "z"});
    file.text_attribute("obs", "encoding-type", "dataframe");
    file.text_attribute("obs", "_index", "id");
    const Hdf5Id type(text(), H5Tclose);
    const hsize_t one = 1;
    const Hdf5Id space(H5Screate_simple(1, &one, nullptr), H5Sclose);
    const Hdf5Id made(H5Acreate_by_name(file.id(), "obs", "column-order", type, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    const char* const name = "a";
    H5Awrite(made, type, &name);
  }
  void strings(const std::string& name, const std::vector<const char*>& values) {
    const Hdf5Id type(text(), H5Tclose);
    file.data_set_of(name, type, {values.size()}, {}, type, values.data());
  }
  void truths(const std::string& name, const std::vector<std::int8_t>& values) {
    const Hdf5Id type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    const std::int8_t no = 0, yes = 1;
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    file.data_set_of(name, type, {values.size()}, {}, type, values.data());
  }
  void category(const std::vector<std::int8_t>& codes) {
    file.vector("obs/a/codes", codes);
    file.text_attribute("obs/a", "encoding-type", "categorical");
  }
  Hdf5Writer file;

 private:
  static hid_t text() {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
  }
};

void check_corrupt(const Error& error, const std::string& told) {
  CHECK(error.code() == Errc::corrupt);
  CHECK_MESSAGE(std::string(error.what()).find(told) != std::string::npos, error.what());
}

}  // namespace

TEST_CASE("hdf5: tables of each version of anndata are frames") {
  for (const auto& path : golden_files("anndata", ".h5ad.gz")) {
    CAPTURE(path);
    const Frame obs = table(path);
    REQUIRE(obs.rows() == 20);
    CHECK(obs.note() == "");
    CHECK(words(obs, obs.column_info(0).label)[19] == "cell19");
    CHECK(words(obs, "cell_type") == repeated({"B", "T", std::nullopt, "NK"}, 5));
    const Column ordered = obs.column_info(obs.column("ordered"));
    CHECK(ordered.meaning.kind == MeaningKind::category);
    CHECK(ordered.meaning.ordered);
    CHECK((*ordered.meaning.words)[0] == "lo");
    CHECK(words(obs, "ordered") == repeated({"lo", "hi"}, 10));
    CHECK(words(obs, "note")[7] == "n2");
    CHECK(numbers<std::int64_t>(obs, "n")[13] == 13);
    CHECK(obs.column_info(obs.column("flag")).meaning.kind == MeaningKind::boolean);
    CHECK(numbers<std::uint8_t>(obs, "flag")[3] == 1);
    CHECK(numbers<std::uint8_t>(obs, "flag")[4] == 0);
    if (obs.find_column("some")) {
      const auto some = numbers<std::int64_t>(obs, "some");
      CHECK(some[8] == 8);
      CHECK(is_missing(obs.column_info(obs.column("some")).meaning,
                       static_cast<std::uint64_t>(some[7])));
      CHECK(numbers<std::uint8_t>(obs, "maybe")[0] == kMissingBoolean);
      CHECK(numbers<std::uint8_t>(obs, "maybe")[1] == 1);
    }
    if (obs.find_column("string")) {
      CHECK(words(obs, "string")[4] == "s4");
      CHECK(words(obs, "string")[5] == std::nullopt);
    }
    CHECK(numbers<std::int64_t>(table(path, "obsm/table"), "q")[5] == 5);
    CHECK(words(table(path, "raw/var"), table(path, "raw/var").column_info(0).label)[5] == "gene5");
    const auto all = Matrix::open(path).contents();
    CHECK(std::find(all.begin(), all.end(), "obs") != all.end());
    CHECK(std::find(all.begin(), all.end(), "obs/n") == all.end());
  }
}

TEST_CASE("hdf5: categories may be numbers and truth values") {
  const TempDir dir;
  const auto path = dir / "a.h5ad";
  {
    Written written(path);
    written.category({1, -1, 0});
    written.file.vector<std::int64_t>("obs/a/categories", {-7, 30});
  }
  CHECK(words(table(path), "a") == Texts{"30", std::nullopt, "-7"});
  {
    Written written(path);
    written.category({1, 1, 0});
    written.file.vector<double>("obs/a/categories", {0.1, 2});
  }
  CHECK(words(table(path), "a") == Texts{"2", "2", "0.1"});
  {
    Written written(path);
    written.category({1, 0, 0});
    written.truths("obs/a/categories", {0, 1});
  }
  CHECK(words(table(path), "a") == Texts{"true", "false", "false"});
  {
    Written written(path);
    written.category({1, 0, 0});
    written.strings("obs/a/categories/values", {"p", "q"});
    written.truths("obs/a/categories/mask", {0, 0});
  }
  CHECK(words(table(path), "a") == Texts{"q", "p", "p"});
}

TEST_CASE("hdf5: a damaged table is an error that says what is wrong") {
  const TempDir dir;
  const auto path = dir / "a.h5ad";
  const auto cells = [&] { return required_error(error_of([&] { words(table(path), "a"); })); };
  const auto opened = [&] { return required_error(error_of([&] { table(path); })); };
  { const Written written(path); }
  check_corrupt(opened(), "no column 'a'");
  for (const std::int8_t code : {std::int8_t{-2}, std::int8_t{2}}) {
    {
      Written written(path);
      written.category({0, code, 1});
      written.strings("obs/a/categories", {"p", "q"});
    }
    check_corrupt(cells(), "column 'a' has code " + std::to_string(code) + " in row 1");
  }
  {
    Written written(path);
    written.category({0, 0, 1});
    written.strings("obs/a/categories", {"p", "p"});
  }
  check_corrupt(cells(), "twice");
  {
    Written written(path);
    written.category({0, 0, 1});
    written.strings("obs/a/categories", {"p", "\xff"});
  }
  check_corrupt(cells(), "not UTF-8");
  {
    Written written(path);
    written.category({0, 0});
    written.strings("obs/a/categories", {"p", "q"});
  }
  check_corrupt(opened(), "has 2 rows, not 3");
  {
    Written written(path);
    written.category({0, 0, 0});
  }
  check_corrupt(opened(), "obs/a/categories cannot be opened");
  {
    Written written(path);
    written.file.vector<std::int32_t>("obs/a/values", {1, 2, 3});
    written.truths("obs/a/mask", {0, 1});
    written.file.text_attribute("obs/a", "encoding-type", "nullable-integer");
  }
  check_corrupt(opened(), "a mask of as many");
  {
    Written written(path);
    written.file.vector<std::int32_t>("obs/a/values", {1, 2, 3});
    written.file.text_attribute("obs/a", "encoding-type", "awkward-array");
  }
  const Frame without = table(path);
  CHECK(without.cols() == 1);
  CHECK(without.note() == "left out: a (its encoding is 'awkward-array')");
}
