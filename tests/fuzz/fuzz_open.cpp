// Door: opening a DAPHNE file. Any bytes give an object or an Error; every block that the object
// lists can be fetched, decoded, or refused; `verify` reports, and throws nothing else.
#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::open_target {

namespace {

constexpr std::uint64_t kMostCells = 1 << 16;

// Decodes the first blocks, and lets their views walk over them.
void look_at_blocks(const BlockedObject& object) {
  std::uint64_t left = 64;
  for (const BlockInfo& info : object.blocks()) {
    if (left-- == 0) return;
    if (std::uint64_t{info.rows} * info.cols > kMostCells) continue;
    try {
      const Block block = object.block(info.pos);
      std::vector<double> cells(std::size_t{info.rows} * info.cols);
      block.decode(std::span(cells));
      block.to_csr<double>();
    } catch (const Error&) {
    }
  }
}

template <class Object>
void read_corner(const Object& object) {
  const Region corner{{0, std::min<std::uint64_t>(object.rows(), 40)},
                      {0, std::min<std::uint64_t>(object.cols(), 40)}};
  std::vector<double> cells(corner.rows.size() * corner.cols.size());
  try {
    object.template read<double>(corner, std::span(cells), 0, {.absent = Absent::zero});
  } catch (const Error&) {
  }
}

}  // namespace

FUZZ_TARGET(open) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  const OpenOptions as_dbdf{.format = "dbdf", .check = Check::always};
  try {
    verify(file.path(), Level::payload, as_dbdf);
  } catch (const Error&) {
  }
  try {
    const std::variant<Matrix, Frame> object = open(file.path(), as_dbdf);
    std::visit(
        [](const auto& o) {
          o.counts();
          o.grid();
          look_at_blocks(o);
          read_corner(o);
        },
        object);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::open_target
