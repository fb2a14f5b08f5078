// Door: the pictures that are kept beside a file. Any bytes are an archive whose pieces read back
// whole, or none, and a piece is a tile of the size that is asked for, or none.
#include <cstdint>
#include <cstdlib>

#include "apps/viewer/archive.h"
#include "apps/viewer/tile_bytes.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

FUZZ_TARGET(archive) {
  using namespace dapple;
  static fuzz::MemoryFile file;
  file.set(std::span(data, size));
  std::size_t fault = 0;
  const auto archive = viewer::Archive::open(file.path(), fault);
  if (!archive) {
    if (fault > size) std::abort();
    return 0;
  }
  for (const char* name : {"pyramid.json", "meta", "tile/mean/0.0.0", "tile/max/0.0.0"}) {
    constexpr std::size_t kMost = 5 + 2 * 256 * 256;
    const auto piece = archive->find(name, kMost);
    if (!piece) continue;
    if (piece->size() > kMost) std::abort();
    const auto picture = viewer::read_tile(*piece, picture::Axis::steps({0, 3}, 1),
                                           picture::Axis::steps({0, 3}, 1), picture::What::mean);
    if (picture && viewer::tile_bytes(*picture, viewer::kExact).size() != piece->size()) {
      std::abort();
    }
  }
  return 0;
}
