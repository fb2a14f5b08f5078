// Files that earlier releases wrote (tests/golden/README.md).
#include <sys/stat.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dapple/gather.h"
#include "dapple/open.h"
#include "dapple/sidecar.h"
#include "dapple/verify.h"
#include "lib/base/bytes.h"
#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/fuzz/sign.h"
#include "tests/support.h"

using namespace dapple;
namespace fs = std::filesystem;

namespace {

std::string wanted(fs::path path) { return test::read_text(path.replace_extension(".csv")); }

/// Writes the size and times of FILE to the line that binds something to it.
void bind(std::byte* line, const fs::path& file) {
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  const auto nanoseconds = [](const timespec& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
  };
  detail::store_le(line + 16, static_cast<std::uint64_t>(status.st_size));
  detail::store_le(line + 24, nanoseconds(status.st_mtim));
  detail::store_le(line + 32, nanoseconds(status.st_ctim));
  detail::store_le(line + 56, detail::xxh3({line, 56}));
}

/// A copy of a golden file with what is kept beside it, which still names the original.
fs::path copy_with(const test::TempDir& dir, const std::string& name, const std::string& ending) {
  const fs::path from = test::golden("dapple-0.2/beside") / name;
  fs::copy_file(from, dir / name);
  fs::copy_file(from.string() + ending, dir / (name + ending));
  return dir / name;
}

std::vector<Errc> codes(const fs::path& path) {
  std::vector<Errc> all;
  for (const Error& finding : verify(path, Level::payload).findings) all.push_back(finding.code());
  return all;
}

}  // namespace

TEST_CASE("golden: files of earlier releases hold what was put in") {
  for (const auto* const release : {"dapple-0.1", "dapple-0.2"}) {
    for (const auto& path : test::golden_files(release, ".dbdf")) {
      CAPTURE(path);
      CHECK(test::as_csv(open(path)) == wanted(path));
      CHECK(codes(path).empty());
    }
  }
}

TEST_CASE("golden: an index of 0.2 beside a file is used for the state that it is bound to") {
  const test::TempDir dir;
  for (const auto& [name_, csv] :
       {std::pair("plain.dbdf", "csr_f32.csv"), std::pair("frame.dbdf", "numbers.csv")}) {
    const auto& name = name_;  // clang 14 captures no bindings
    CAPTURE(name);
    const fs::path path = copy_with(dir, name, ".dpx");
    CHECK(codes(path) == std::vector{Errc::stale_index});
    auto bytes = test::read_bytes(path.string() + ".dpx");
    bind(bytes.data(), path);
    test::write_bytes(path.string() + ".dpx", bytes);
    CHECK(codes(path).empty());
    CHECK(test::as_csv(open(path)) == test::read_text(test::golden("dapple-0.2") / csv));
  }
}

TEST_CASE("golden: a copy by column of 0.2 is used for the state that it is bound to") {
  const test::TempDir dir;
  const fs::path path = copy_with(dir, "copied.dbdf", ".dpc");
  CHECK(column_copy_state(Matrix::open(path)) == SidecarState::stale);
  const std::string copy = path.string() + ".dpc";
  const auto hint = fuzz::hint_of(copy, "DPL-COPY");
  auto bytes = test::read_bytes(copy);
  bind(bytes.data() + hint.offset, path);
  fuzz::sign_hint(bytes, hint);
  test::write_bytes(copy, bytes);
  const Matrix matrix = Matrix::open(path);
  CHECK(column_copy_state(matrix) == SidecarState::fresh);
  CHECK(codes(path).empty());
  const std::vector<std::uint64_t> cols{8, 1};
  Csr<float> found;
  gather_columns(matrix, std::span<const std::uint64_t>(cols), found);
  for (std::size_t k = 0; k < cols.size(); ++k) {
    std::vector<float> column(matrix.rows());
    for (std::uint64_t i = found.row_ptr[k]; i < found.row_ptr[k + 1]; ++i) {
      column[found.col_idx[i]] = found.values[i];
    }
    CHECK(column == matrix.read<float>({{0, matrix.rows()}, {cols[k], cols[k] + 1}}));
  }
}

TEST_CASE("golden: what 0.2 kept beside a table changes nothing") {
  const test::TempDir dir;
  const fs::path path = copy_with(dir, "table.csv", ".dpx");
  CHECK(test::as_csv(open(path)) == test::read_text(path));
}
