// Collections: members of a folder and of an archive, in place.
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "dapple/collection.h"
#include "dapple/open.h"
#include "dapple/verify.h"
#include "lib/foreign/zip/write_zip.h"
#include "lib/io/local/local_file.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/output_file.h"
#include "lib/io/temporary.h"
#include "lib/io/window_source.h"
#include "tests/check.h"
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

std::vector<std::string> list_members(const std::filesystem::path& path) {
  const auto found = Collection::find(path);
  return found ? found->members() : std::vector<std::string>();
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

TEST_CASE("collection: a member by its path") {
  const TempDir folder;
  const auto path = folder / "c.dds", packed = folder / "c.zip";
  put(path / "X.dbdf", small_matrix(1));
  put(path / "layers/counts.dbdf", small_matrix(7));
  put(path / "uns.json", "{}");
  pack_collection(path, packed);
  for (const auto& whole : {path, packed}) {
    CHECK(list_members(whole) == std::vector<std::string>{"X", "layers/counts"});
    const Collection found = Collection::find(whole).value();
    CHECK(found.json_members() == std::vector<std::string>{"uns"});
    CHECK(found.json("uns") == "{}");
    CHECK(error_of([&] { found.json("X"); }));
    CHECK(std::get<Matrix>(found.open("layers/counts"))
              .read<std::uint8_t>({{0, 1}, {0, 1}})
              .front() == 7);
    CHECK(error_of([&] { found.open("layers/x"); }));
    CHECK(first_cell(whole / "layers/counts", "") == 7);
    const Error error = required_error(error_of([&] { first_cell(whole / "layers/x", ""); }));
    CHECK(error.detail() == "the collection has no member 'layers/x', only X, layers/counts");
    for (const std::string name : {"../c", "layers//counts", ".X", "layers/../X"}) {
      CHECK(error_of([&] { first_cell(whole.string() + "/" + name, ""); }));
    }
  }
  put(path / "layers.dbdf", small_matrix(2));  // beside the folder of that name
  CHECK(first_cell(path / "layers", "") == 2);
  CHECK(find_member(path / "X")->first == path / "X.dbdf");
  CHECK(find_member(packed / "X")->second == "X");
  CHECK(!find_member(folder / "none"));
}

TEST_CASE("collection: packed and unpacked are the same") {
  const TempDir folder;
  const auto path = folder / "c.dds", packed = folder / "c.zip", back = folder / "back.dds";
  put(path / "X.dbdf", small_matrix(1));
  put(path / "uns/run.json", "{\"a\": 1}");
  put(path / "notes.txt", "no member");
  std::uint64_t told = 0, bytes = 0;
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    told = done, bytes = total;
  };
  CHECK(pack_collection(path, packed, false, progress) == std::vector<std::string>{"notes.txt"});
  CHECK(bytes == small_matrix(1).size() + 8);
  CHECK(told == bytes);
  CHECK(required_error(error_of([&] { pack_collection(path, packed); })).option() == "overwrite");
  for (const char* const other : {"c.tar", "c.dbdf", "d.dds"}) {
    const Error error = required_error(error_of([&] { pack_collection(path, folder / other); }));
    CHECK(error.detail() == "a packed collection is a ZIP file; let its name end in .zip");
  }
  pack_collection(path, packed, true);
  unpack_collection(packed, back);
  CHECK(test::read_text(back / "X.dbdf") == small_matrix(1));
  CHECK(test::read_text(back / "uns/run.json") == "{\"a\": 1}");
  CHECK(!std::filesystem::exists(back / "notes.txt"));
  CHECK(required_error(error_of([&] { unpack_collection(packed, back); })).option() == "overwrite");
  put(back / "Y.dbdf", small_matrix(1));
  unpack_collection(packed, back, true);
  CHECK(list_members(back) == std::vector<std::string>{"X"});
  CHECK(error_of([&] { unpack_collection(packed, folder / "other"); }));
  CHECK(error_of([&] { unpack_collection(path, folder / "d.dds"); }));
  CHECK(error_of([&] { pack_collection(packed, folder / "d.zip"); }));
  std::filesystem::create_directory(path / "Z.dbdf");  // a data set
  CHECK(error_of([&] { pack_collection(path, folder / "d.zip"); }));
  std::size_t left = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder.path())) {
    left += one.path().filename() != "c.dds" ? 1 : 0;
  }
  CHECK(left == 2);
}

TEST_CASE("collection: verify looks at all that it has") {
  const TempDir folder;
  const auto path = folder / "c.dds", packed = folder / "c.zip";
  std::uint64_t blocks = 0;
  const auto found = [&](const std::filesystem::path& file) {
    std::vector<std::string> texts;
    const VerifyReport report = verify(file, Level::payload);
    blocks = report.blocks;
    for (const Error& finding : report.findings) texts.push_back(finding.what());
    return texts;
  };
  put(path / "X.dbdf", small_matrix(1));
  put(path / "layers/counts.dbdf", small_matrix(2));
  put(path / "uns/run.json", "{\"a\": 1}");
  pack_collection(path, packed);
  CHECK(found(path).empty());
  CHECK(blocks == 2);
  CHECK(found(packed).empty());
  CHECK(blocks == 2);

  std::string bytes = test::read_text(packed);
  bytes[bytes.find("\"a\"") + 1] = 'b';
  put(folder / "d.zip", bytes);
  REQUIRE(found(folder / "d.zip").size() == 1);
  CHECK(found(folder / "d.zip")[0].ends_with("the content of uns/run.json does not match its CRC"));

  put(path / "uns/run.json", "{\"a\": 1");
  std::string damaged = small_matrix(2);
  damaged.pop_back();
  put(path / "layers/counts.dbdf", damaged);
  REQUIRE(found(path).size() == 2);
  CHECK(found(path)[0].starts_with((path / "layers/counts.dbdf").string()));
  CHECK(found(path)[1].starts_with((path / "uns/run.json").string()));
}

TEST_CASE("collection: one that is replaced is there at every moment") {
  const TempDir folder;
  const auto path = folder / "c.dds", packed = folder / "c.zip";
  put(path / "X.dbdf", small_matrix(1));
  pack_collection(path, packed);
  std::atomic<bool> done = false;
  std::thread replacing([&] {
    for (int i = 0; i < 300; ++i) unpack_collection(packed, path, true);
    done = true;
  });
  std::size_t missing = 0;
  while (!done) missing += std::filesystem::exists(path) ? 0 : 1;
  replacing.join();
  CHECK(missing == 0);
  CHECK(list_members(path) == std::vector<std::string>{"X"});
}

TEST_CASE("collection: an archive in the folder that it would replace stays") {
  const TempDir dir;
  const auto folder = dir / "c.dds", archive = folder / "kept" / "c.zip";
  put(folder / "X.dbdf", small_matrix(1));
  pack_collection(folder, dir / "c.zip");
  std::filesystem::create_directory(folder / "kept");
  std::filesystem::rename(dir / "c.zip", archive);
  std::filesystem::create_directory_symlink(folder, dir / "link.dds");
  for (const auto& name : {archive, dir / "link.dds" / "kept" / "c.zip"}) {
    const auto error = error_of([&] { unpack_collection(name, folder, true); });
    CHECK(required_error(error).detail().find("move it out first") != std::string::npos);
  }
  std::filesystem::rename(archive, dir / "c.zip");
  unpack_collection(dir / "c.zip", folder, true);
  CHECK(!std::filesystem::exists(folder / "kept"));
}

TEST_CASE("collection: what a process left that was killed while it unpacked is removed") {
  const TempDir folder;
  const auto path = folder / "c.dds", packed = folder / "c.zip";
  put(path / "X.dbdf", small_matrix(1));
  pack_collection(path, packed);
  std::filesystem::path left, used;
  const auto lock = detail::open_hidden_folder(folder / "d.dds", used);
  detail::open_hidden_folder(folder / "d.dds", left).close();
  put(left / "obs/x.dbdf", "half");
  put(used / "obs/x.dbdf", "half");
  unpack_collection(packed, folder / "d.dds");
  CHECK(!std::filesystem::exists(left));
  CHECK(std::filesystem::exists(used / "obs/x.dbdf"));
  CHECK(list_members(folder / "d.dds") == std::vector<std::string>{"X"});
}

TEST_CASE("collection: only dbdf files are packed as members") {
  const TempDir folder;
  put(folder / "c.dds/X.dbdf", small_matrix(1));
  put(folder / "c.dds/Y.dbdf", "1,2\n3,4\n");
  const Error e =
      required_error(error_of([&] { pack_collection(folder / "c.dds", folder / "c.zip"); }));
  CHECK(e.code() == Errc::corrupt);
  CHECK(e.file().ends_with("Y.dbdf"));
  CHECK(!std::filesystem::exists(folder / "c.zip"));
}

TEST_CASE("collection: what an archive may not have is not unpacked") {
  const TempDir folder;
  const auto refused = [&](const std::vector<test::ZipMember>& members) {
    put(folder / "c.zip", test::zip_archive(members));
    CHECK(error_of([&] { unpack_collection(folder / "c.zip", folder / "d.dds"); }));
    CHECK(!std::filesystem::exists(folder / "d.dds"));
  };
  for (const std::string& name : kLeadElsewhere) {
    refused({{"collection.json", "{}"}, {name + ".dbdf", small_matrix(9)}});
  }
  refused({{"collection.json", R"({"axes": {"X": ["a"]}})"}, {"X.dbdf", small_matrix(9)}});
  refused({{"collection.json", "{}"}, {"X.dbdf", small_matrix(1)}, {"obs.dbdf", "none"}});
  std::string damaged = test::zip_archive({{"collection.json", "{}"}, {"uns.json", "{12}"}});
  damaged[damaged.find("{12}") + 1] = '3';
  put(folder / "c.zip", damaged);
  const Error error =
      required_error(error_of([&] { unpack_collection(folder / "c.zip", folder / "d.dds"); }));
  CHECK(error.detail() == "the content of uns.json does not match its CRC");
}

TEST_CASE("collection: members have the rows and columns that they share") {
  const TempDir folder;
  const auto path = folder / "c.dds";
  put(path / "X.dbdf", small_matrix(1));
  put(path / "obsm/a.dbdf", small_matrix(1));
  put(path / "own.dbdf", small_matrix(1));
  CHECK(Collection::find(path)->axes_of("X") == MemberAxes{"obs", "var"});
  CHECK(Collection::find(path)->axes_of("X/a") == MemberAxes{});
  CHECK(Collection::find(path)->axes_of("layers") == MemberAxes{});
  CHECK(Collection::find(path)->axes_of("obsp/a") == MemberAxes{"obs", "obs"});
  CHECK(Collection::find(path)->axes_of("own") == MemberAxes{});
  Collection::find(path)->require_axes();
  Collection::find(path)->require_fit("varm/a", 2, 9, {"var", ""});
  const Error error = required_error(error_of([&] {
    Collection::find(path)->require_fit("obs", 2, 1, {"obs", ""});
  }));
  CHECK(error.detail() == "obs has 2 rows, and the axis 'obs' has 1, as X says");
  Collection::find(path)->require_fit("own", 5, 9, {});
  put(path / "collection.json", R"({"axes": {"own": [null, "obs"], "later": ["x", null]}})");
  CHECK(Collection::find(path)->axes_of("own") == MemberAxes{"", "obs"});
  CHECK(Collection::find(path)->axes_of("later") == MemberAxes{"x", ""});
  const Error unfit = required_error(error_of([&] { pack_collection(path, folder / "c.zip"); }));
  CHECK(unfit.detail() == "own has 2 columns, and the axis 'obs' has 1, as X says");
  CHECK(!std::filesystem::exists(folder / "c.zip"));
  put(path / "layers/cut.dbdf", "no member");  // which is opened for who shares an axis with it
  Collection::find(path)->require_fit("other", 7, 8, {"x", "y"});
  CHECK(error_of([&] { Collection::find(path)->require_fit("other", 7, 8, {"x", "var"}); }));
  std::filesystem::remove(path / "layers/cut.dbdf");
  const auto found = Collection::find(path);
  CHECK(found->axes_of("own") == MemberAxes{"", "obs"});
  put(path / "collection.json", R"({"axes": {}})");
  CHECK(found->axes_of("own") == MemberAxes{"", "obs"});  // it is read once, not for each member
}

TEST_CASE("zip: an archive with wide fields reads back") {
  const TempDir folder;
  const std::string first = "one", second(100, 'x');
  const auto source = [](const std::string& text) {
    return detail::memory_source(std::as_bytes(std::span(text)), "text");
  };
  for (const std::uint64_t wide_from : {0, 50, 1000}) {
    const auto path = folder / std::to_string(wide_from);
    detail::OutputFile out(path, false);
    detail::zip::Writer writer(out, wide_from);
    writer.add("a", *source(first));
    writer.add("b/\u00e9", *source(second));
    writer.finish();
    out.publish(false);
    const std::shared_ptr<detail::ByteSource> file = detail::LocalFile::open(path.string());
    const auto members = detail::zip::read_directory(*file);
    REQUIRE(members.size() == 2);
    CHECK(members[1].name == "b/\u00e9");
    const auto contents = detail::zip::contents_of(file, std::array{&members[0], &members[1]});
    CHECK(std::memcmp(file->at(contents.members[0].begin, 3), "one", 3) == 0);
    CHECK(std::memcmp(file->at(contents.members[1].begin, 100), second.data(), 100) == 0);
    CHECK(contents.members[1].begin % 64 == 0);
    CHECK(contents.members[1].size() == 100);
  }
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
