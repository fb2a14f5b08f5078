// Objects of many files, opened from a store of the caller's.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/cache/block_cache.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

using Bytes = std::vector<std::byte>;

/// The files of a folder as they were when this was made, and which of them were asked for.
class Bucket final : public ObjectStore {
 public:
  explicit Bucket(const std::filesystem::path& folder) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      if (!file.is_regular_file()) continue;
      objects[file.path().lexically_relative(folder).generic_string()] =
          test::read_bytes(file.path());
    }
  }
  std::shared_ptr<const RangeReader> find(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    asked.push_back(name);
    const auto found = objects.find(name);
    return found == objects.end() ? nullptr : std::make_shared<const Object>(found->second);
  }
  std::vector<std::string> list(const std::string& folder) const override {
    std::vector<std::string> names = also_listed;
    for (const auto& [name, bytes] : objects) {
      if (!name.starts_with(folder)) continue;
      const std::string inside = name.substr(folder.size());
      names.push_back(inside.substr(0, std::min(inside.find('/'), inside.size() - 1) + 1));
    }
    return names;
  }

  std::map<std::string, Bytes> objects;
  std::vector<std::string> also_listed;
  mutable std::vector<std::string> asked;

 private:
  struct Object final : RangeReader {
    explicit Object(Bytes of) : bytes(std::move(of)) {}
    std::uint64_t size() const override { return bytes.size(); }
    std::uint64_t read(std::span<const RangeRequest> requests) const override {
      std::uint64_t total = 0;
      for (const auto& [offset, to] : requests) {
        std::memcpy(to.data(), bytes.data() + offset, to.size());
        total += to.size();
      }
      return total;
    }
    Bytes bytes;
  };
  mutable std::mutex mutex_;
};

std::variant<Matrix, Frame> numbers(const std::filesystem::path& path, double first) {
  auto writer = MatrixWriter::create(path, 50, 8, ValueType::f64);
  std::vector<double> cells(50 * 8);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first + static_cast<double>(i);
  writer.put<double>({0, 0}, {cells.data(), 50, 8});
  writer.finish();
  return open(path);
}

/// Three parts one below the other, of 1200 cells that count from 0.
void make_set(const test::TempDir& dir) {
  ConvertOptions options;
  options.write.sync = false;
  for (int i = 0; i < 3; ++i) {
    dataset::append(dir / "far" / "set", numbers(dir / "one.dbdf", 400 * i), options);
    std::filesystem::remove(dir / "one.dbdf");
  }
}

std::optional<Error> error_of_reading(const std::shared_ptr<const Bucket>& bucket,
                                      const std::string& name, OpenOptions options = {}) {
  return test::error_of([&] {
    const auto object = open(bucket, name, std::move(options));
    (void)std::get<Matrix>(object).read<double>({{0, 150}, {0, 8}});
  });
}

}  // namespace

TEST_CASE(
    "object store: a data set is opened in its latest state, and parts when they are touched") {
  const test::TempDir dir;
  make_set(dir);
  const auto bucket = std::make_shared<Bucket>(dir / "far");
  for (const std::string name : {"set", "set/", "set/dataset-3"}) {
    bucket->asked.clear();
    const auto object = open(bucket, name);
    const Matrix& matrix = std::get<Matrix>(object);
    CHECK(matrix.rows() == 150);
    CHECK(matrix.format() == "dataset");
    for (const std::string& asked : bucket->asked) CHECK(asked.find("part-") == asked.npos);
    const std::size_t before = bucket->asked.size();
    CHECK(matrix.read<double>({{120, 121}, {3, 4}}) == std::vector<double>{120 * 8 + 3});
    CHECK(bucket->asked.size() == before + 1);
    const auto all = matrix.read<double>({{0, 150}, {0, 8}});
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == static_cast<double>(i));
  }
  CHECK(std::get<Matrix>(open(bucket, "set/dataset-2")).rows() == 100);
}

TEST_CASE(
    "object store: a part that is missing or changed is an error with its name and the state's") {
  const test::TempDir dir;
  make_set(dir);
  const Bucket sound(dir / "far");
  for (const auto& [part, bytes] : sound.objects) {
    if (part.find("part-") == part.npos) continue;
    for (const bool gone : {true, false}) {
      const auto bucket = std::make_shared<Bucket>(dir / "far");
      if (gone) {
        bucket->objects.erase(part);
      } else {
        bucket->objects[part][bytes.size() - 20] ^= std::byte{1};
      }
      const auto error = error_of_reading(bucket, "set");
      REQUIRE(error);
      CHECK(error->code() == (gone ? Errc::io : Errc::corrupt));
      CHECK(error->file() == part);
      CHECK(error->detail().find("data set set/dataset-3") != std::string::npos);
    }
  }
}

TEST_CASE("object store: cells of parts that are read once are not kept") {
  const test::TempDir dir;
  ConvertOptions options;
  options.write.sync = false;
  constexpr std::uint32_t kRows = 1000, kCols = 100;
  for (std::uint32_t part = 0; part < 3; ++part) {
    std::vector<double> cells(std::size_t{kRows} * kCols);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = part + static_cast<double>(i) + 0.1;
    auto writer = MatrixWriter::create(dir / "one.dbdf", kRows, kCols, ValueType::f64);
    writer.put_region<double>({0, 0}, {cells.data(), kRows, kCols});
    writer.finish();
    dataset::append(dir / "far" / "set", open(dir / "one.dbdf"), options);
    std::filesystem::remove(dir / "one.dbdf");
  }
  const auto bucket = std::make_shared<Bucket>(dir / "far");
  std::vector<double> cells(std::size_t{3} * kRows * kCols);
  const Matrix matrix = std::get<Matrix>(open(bucket, "set"));
  for (int run = 0; run < 2; ++run) {
    std::fill(cells.begin(), cells.end(), -1);
    const std::uint64_t kept = detail::block_cache().bytes();
    matrix.read<double>({{0, 3 * kRows}, {0, kCols}}, cells, 0, {.keep = false});
    bool right = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t part = i / (kRows * kCols);
      right &= cells[i] == static_cast<double>(part + i % (kRows * kCols)) + 0.1;
    }
    CHECK(right);
    CHECK(detail::block_cache().bytes() == kept);
  }
  // A part that is cut short is an error that names it.
  for (auto& [name, bytes] : bucket->objects) {
    if (name.find("part-") != name.npos) bytes.resize(bytes.size() / 2);
  }
  const auto error = test::error_of([&] {
    (void)std::get<Matrix>(open(bucket, "set"))
        .read<double>({{0, 3 * kRows}, {0, kCols}}, {.keep = false});
  });
  REQUIRE(error);
  CHECK(error->file().find("part-") != std::string::npos);
}

TEST_CASE("object store: what is not there, and members of collections") {
  const test::TempDir dir;
  std::filesystem::create_directories(dir / "far" / "c.dds" / "layers");
  numbers(dir / "far" / "c.dds" / "layers" / "a.dbdf", 7);
  numbers(dir / "far" / "c.dds" / "X.dbdf", 9);
  const auto bucket = std::make_shared<Bucket>(dir / "far");
  OpenOptions options;
  options.array = "layers/a";
  const auto object = open(bucket, "c.dds", options);
  CHECK(std::get<Matrix>(object).read<double>({{0, 1}, {0, 1}})[0] == 7);
  CHECK(error_of_reading(bucket, "none")->code() == Errc::io);
  const auto unnamed = error_of_reading(bucket, "c.dds");
  CHECK(unnamed->code() == Errc::invalid_argument);
  CHECK(unnamed->detail() == "the collection holds 2 members: X, layers/a");
  options.array = "none";
  CHECK(error_of_reading(bucket, "c.dds", options)->detail() ==
        "the collection has no member 'none', only X, layers/a");
  options.array = "../c.dds/X";
  CHECK(error_of_reading(bucket, "c.dds", options)->code() == Errc::invalid_argument);
  CHECK(error_of_reading(nullptr, "c.dds")->code() == Errc::invalid_argument);
}

TEST_CASE("object store: a collection, of a folder and packed, with a member that is a data set") {
  const test::TempDir dir;
  make_set(dir);
  std::filesystem::create_directories(dir / "far" / "c.dds" / "layers");
  numbers(dir / "far" / "c.dds" / "X.dbdf", 9);
  std::ofstream(dir / "far" / "c.dds" / "uns.json") << R"({"a": 1})";
  pack_collection(dir / "far" / "c.dds", dir / "far" / "c.zip");
  std::filesystem::rename(dir / "far" / "set", dir / "far" / "c.dds" / "layers" / "set.dbdf");
  const auto bucket = std::make_shared<Bucket>(dir / "far");
  for (const std::string name : {"c.dds", "c.dds/", "c.zip"}) {
    const bool packed = name == "c.zip";
    const Collection found = Collection::find(bucket, name).value();
    CHECK(found.members() ==
          (packed ? std::vector<std::string>{"X"} : std::vector<std::string>{"X", "layers/set"}));
    CHECK(found.json_members() == std::vector<std::string>{"uns"});
    CHECK(found.json("uns") == R"({"a": 1})");
    CHECK(std::get<Matrix>(found.open("X")).read<double>({{0, 1}, {0, 1}})[0] == 9);
    if (packed) continue;
    CHECK(std::get<Matrix>(found.open("layers/set")).read<double>({{149, 150}, {7, 8}})[0] == 1199);
    const Error unfit = test::required_error(test::error_of([&] { found.require_axes(); }));
    CHECK(unfit.detail() == "layers/set has 150 rows, and the axis 'obs' has 50, as X says");
  }
  CHECK(!Collection::find(bucket, "c.dds/X.dbdf"));
  CHECK(!Collection::find(bucket, "none.dds"));
  CHECK(!Collection::find(bucket, "none.zip"));
  bucket->also_listed = {"../Y.dbdf", "/Y.dbdf", "", "/", "Y/../Z.dbdf", ".Y.dbdf", "Y\\Z.dbdf"};
  CHECK(Collection::find(bucket, "c.dds")->members() ==
        std::vector<std::string>{"X", "layers/set"});
  bucket->also_listed = {"endless/"};
  const Collection endless = Collection::find(bucket, "c.dds").value();
  CHECK(endless.members() == std::vector<std::string>{"X", "layers/set"});
}

TEST_CASE("object store: a state that is listed and never found is an error, not waited for") {
  const test::TempDir dir;
  make_set(dir);
  const auto bucket = std::make_shared<Bucket>(dir / "far");
  bucket->also_listed = {"dataset-9"};
  const Error missing = test::required_error(error_of_reading(bucket, "set"));
  CHECK(missing.code() == Errc::io);
  CHECK(missing.file() == "set/dataset-9");
  bucket->objects["set/dataset-9"] = bucket->objects["set/dataset-2"];
  const Error renamed = test::required_error(error_of_reading(bucket, "set"));
  CHECK(renamed.code() == Errc::corrupt);
  CHECK(renamed.file() == "set/dataset-9");
}
