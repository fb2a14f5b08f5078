// Door: putting files together. The input is a DAPHNE file, with and without right hashes for its
// index. It is concatenated with itself, and its rows are appended to it: either gives the cells of
// the reference reader, or an Error that leaves the file as it was.
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/reference.h"
#include "tests/support.h"

// A new file is appended to only after the file system's clock has ticked; here nothing else
// changes it.
extern "C" int nanosleep(const timespec*, timespec*) { return 0; }

namespace dapple::fuzz::append_target {

namespace {

using Bytes = std::vector<std::byte>;
using Object = std::variant<Matrix, Frame>;

constexpr std::uint64_t kMostCells = 1 << 10;

/// All cells. Throws Error.
std::vector<double> cells_of(const Object& object) {
  return std::visit(
      [](const auto& o) {
        std::vector<double> cells(o.rows() * o.cols());
        if (!cells.empty())
          o.template read<double>({{0, o.rows()}, {0, o.cols()}}, std::span(cells));
        return cells;
      },
      object);
}

bool same(double a, double b) { return a == b || (a != a && b != b); }

/// Holds the object and itself along the axis against the object. Throws Error.
void concat_with_itself(const Object& object, Axis axis) {
  const Object parts[] = {object, object};
  const Object whole = concat(parts, axis);
  const auto once = cells_of(object), twice = cells_of(whole);
  require(twice.size() == 2 * once.size(), "another number of cells");
  const std::uint64_t cols = test::base(object).cols();
  for (std::size_t i = 0; i < twice.size(); ++i) {
    const std::size_t at =
        axis == Axis::rows ? i % once.size() : i / (2 * cols) * cols + i % (2 * cols) % cols;
    require(same(once[at], twice[i]), "another cell in the concatenation");
  }
}

bool is_small(const Object& object) {
  const BlockedObject& o = test::base(object);
  return o.rows() <= kMostCells && o.cols() <= kMostCells && o.rows() * o.cols() <= kMostCells;
}

/// Holds the file after its rows were appended to it against what it was before.
void compare(const reference::Object& before, const reference::Object& after) {
  require(after.rows == 2 * before.rows && after.cols == before.cols, "another shape");
  require(after.labels == before.labels, "other labels");
  for (std::uint64_t r = 0; r < after.rows; ++r) {
    for (std::uint64_t c = 0; c < after.cols; ++c) {
      const reference::Cell& old = before.cell(r % before.rows, c);
      if (old.state != reference::State::known) continue;
      const reference::Cell& now = after.cell(r, c);
      require(now.state == reference::State::known, "a cell is lost");
      require(reference::convert(before.type_of(c), old.bits, after.type_of(c)) == now.bits,
              "another cell");
    }
  }
}

void append_to_itself(const std::filesystem::path& path, const Bytes& bytes, bool forged) {
  ConvertOptions options;
  options.write.sync = false;
  try {
    append(path, open(path, OpenOptions{.format = "dbdf"}), options);
  } catch (const Error&) {
    require(test::read_bytes(path) == bytes, "an error that changed the file");
    return;
  }
  if (forged) return;
  std::optional<reference::Object> before;
  try {
    before = reference::read(bytes, kMostCells);
  } catch (const reference::TooLarge&) {
    return;
  } catch (const reference::Refused&) {
    return;
  }
  compare(*before, reference::read(test::read_bytes(path), 2 * kMostCells));
}

}  // namespace

FUZZ_TARGET(append) {
  // In memory where that can be: to replace a file on a disk takes the disk's time.
  static const bool in_memory =
      access("/dev/shm", W_OK) == 0 && setenv("TMPDIR", "/dev/shm", 0) == 0;
  static const test::TempDir dir;
  static_cast<void>(in_memory);
  const auto input = std::as_bytes(std::span(data, size));
  for (const bool forged : {false, true}) {
    Bytes bytes(input.begin(), input.end());
    if (forged) fuzz::sign_index(bytes);
    const auto path = dir.write("m.dbdf", bytes);
    try {
      const Object object = open(path, OpenOptions{.format = "dbdf"});
      if (!is_small(object)) continue;
      for (const Axis axis : {Axis::rows, Axis::columns}) {
        try {
          concat_with_itself(object, axis);
        } catch (const Error&) {
        }
      }
    } catch (const Error&) {
      continue;
    }
    append_to_itself(path, bytes, forged);
  }
  return 0;
}

}  // namespace dapple::fuzz::append_target
