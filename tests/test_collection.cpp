// Collections: members of a folder and of an archive, in place.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dapple/open.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/window_source.h"
#include "tests/foreign/zip_image.h"
#include "tests/support.h"

namespace dapple {

namespace {

using test::error_of;
using test::required_error;
using test::TempDir;

std::string small_matrix(std::uint8_t first) {
  test::Image image = test::Image::matrix(1, 2, ValueType::u8);
  image.dense<std::uint8_t>({0, 0}, 1, 2, {first, 2});
  const std::vector<std::byte> bytes = image.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

OpenOptions member(const std::string& name) {
  OpenOptions options;
  options.array = name;
  return options;
}

std::uint8_t first_cell(const std::filesystem::path& path, const std::string& name) {
  return Matrix::open(path, member(name)).read<std::uint8_t>({{0, 1}, {0, 1}}).front();
}

const std::vector<std::string> kLeadElsewhere = {"../X", "/X", "a/../X", ".X",
                                                 "a//X", "X/", "a\\X"};

}  // namespace

TEST_CASE("collection: members of a folder") {
  const TempDir folder;
  const auto path = folder / "c.dds";
  put(path / "X.dbdf", small_matrix(1));
  put(path / "layers/counts.dbdf", small_matrix(7));
  put(path / ".new/Y.dbdf", small_matrix(9));
  put(folder / "X.dbdf", small_matrix(9));
  CHECK(list_members(path) == std::vector<std::string>{"X", "layers/counts"});
  CHECK(first_cell(path, "X") == 1);
  CHECK(first_cell(path, "layers/counts") == 7);
  CHECK(first_cell(path.string() + "/", "X") == 1);
  const Error none = required_error(error_of([&] { open(path); }));
  CHECK(none.code() == Errc::invalid_argument);
  CHECK(none.detail() == "the collection holds 2 members: X, layers/counts");
  CHECK(none.option() == "array");
  for (const std::string& name : kLeadElsewhere) {
    const Error error = required_error(error_of([&] { first_cell(path, name); }));
    CHECK(error.code() == Errc::invalid_argument);
  }
}

TEST_CASE("collection: members of an archive are used where they are") {
  const TempDir folder;
  const auto path = folder / "c.zip";
  put(path, test::zip_archive({{"collection.json", "{}"},
                               {"X.dbdf", small_matrix(1)},
                               {"../X.dbdf", small_matrix(9)},
                               {"layers/counts.dbdf", small_matrix(7)},
                               {"packed.dbdf", small_matrix(5), true}}));
  CHECK(list_members(path) == std::vector<std::string>{"X", "layers/counts", "packed"});
  CHECK(first_cell(path, "X") == 1);
  CHECK(first_cell(path, "layers/counts") == 7);
  CHECK(first_cell(path, "packed") == 5);
  for (const std::string& name : kLeadElsewhere) {
    const Error error = required_error(error_of([&] { first_cell(path, name); }));
    CHECK(error.code() == Errc::invalid_argument);
  }
  put(path, test::zip_archive({{"collection.json", "{}"}, {"X.dbdf", small_matrix(3)}}));
  CHECK(first_cell(path, "") == 3);
  CHECK(list_members(folder.path()).empty());
  put(folder / "a.npz", test::zip_archive({{"a.npy", test::npy_integers({1})}}));
  CHECK(list_members(folder / "a.npz").empty());
}

TEST_CASE("collection: a member that is damaged or cut off is an error") {
  const TempDir folder;
  const std::string whole =
      test::zip_archive({{"collection.json", "{}"}, {"X.dbdf", small_matrix(3)}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(folder / "c.zip", whole.substr(0, size));
    CHECK(error_of([&] { first_cell(folder / "c.zip", "X"); }));
  }
}

TEST_CASE("window: bytes of a source, and no others") {
  const std::string text = "0123456789";
  const auto whole = detail::memory_source(std::as_bytes(std::span(text.data(), text.size())), "w");
  const auto window = detail::window_source(whole, {3, 7}, "w/3");
  CHECK(window->size() == 4);
  CHECK(window->name() == "w/3");
  CHECK(window->at(0, 4) == whole->at(3, 4));
  CHECK(window->hold(1, 2).bytes.data() == whole->at(4, 2));
  std::byte out[2];
  window->read_at(2, out);
  CHECK(out[0] == std::byte{'5'});
}

}  // namespace dapple
