// Chunks that are compressed as h5py does it by default are decompressed here, so that threads do
// it at the same time; in the library they would take turns.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cache/block_cache.h"
#include "lib/codec/inflate.h"
#include "lib/foreign/hdf5/data_set.h"

namespace dapple::detail::hdf5 {

namespace {

/// Puts the bytes of each item together again: before, all first bytes precede all second ones.
void unshuffle(const std::byte* in, std::byte* out, std::size_t items, std::size_t size) {
  for (std::size_t i = 0; i < items; ++i) {
    for (std::size_t b = 0; b < size; ++b) out[i * size + b] = in[b * items + i];
  }
}

}  // namespace

/// One chunk as cells; null when the library must read it. It takes any chunk for whole, and what
/// is missing from its memory, so the size is looked at here.
DataSet::Chunk DataSet::read_chunk(const BlockPos& at) const {
  const std::size_t size = size_of(type_);
  const std::uint64_t items = chunk_[0] * (chunk_.size() == 2 ? chunk_[1] : 1);
  const std::uint64_t bytes = items * size;
  Array<std::byte> packed;
  std::uint32_t left_out = 0;  // a bit for each filter, by its number
  const auto refuse = [&](const std::string& what) {
    fail(Errc::corrupt, "has a chunk at (" + std::to_string(at.rx) + ", " + std::to_string(at.cx) +
                            ") that " + what);
  };
  {
    const Session session(file_->name());
    const Api& h5 = session.api();
    const std::array<hsize_t, 2> start{at.rx, at.cx};
    hsize_t stored = 0;
    if (h5.H5Dget_chunk_storage_size(id_.get(), start.data(), &stored) < 0 || stored == 0) {
      return nullptr;
    }
    if (stored > file().size() || bytes / kMostInflation > stored) {
      refuse("takes " + counted(stored, "byte") + ", not those of " + counted(items, "cell"));
    }
    packed.reset(stored);
    if (h5.H5Dread_chunk(id_.get(), H5P_DEFAULT, start.data(), &left_out, packed.data()) < 0) {
      return nullptr;
    }
  }
  const bool shuffled = filters_.shuffle && (left_out & 1) == 0;
  const bool deflated = filters_.deflate && (left_out >> (filters_.shuffle ? 1 : 0) & 1) == 0;
  if (!deflated && packed.size() != bytes) {
    refuse("takes " + counted(packed.size(), "byte") + " where its cells take " +
           std::to_string(bytes));
  }
  auto cells = std::make_shared<Array<std::byte>>();
  if (deflated) {
    cells->reset(bytes);
    const std::string fault =
        inflate(Wrapper::zlib, {packed.data(), packed.size()}, {cells->data(), bytes});
    if (!fault.empty()) refuse("cannot be decompressed: " + fault);
    packed.swap(*cells);
  }
  if (shuffled && size > 1) {
    cells->reset(bytes);
    unshuffle(packed.data(), cells->data(), items, size);
  } else {
    packed.swap(*cells);
  }
  return cells;
}

/// The same; one that is read in part is kept, because readers go on where they stopped, which is
/// mostly inside of a chunk.
DataSet::Chunk DataSet::chunk(const BlockPos& at, bool whole) const {
  const std::uint64_t across = chunk_.size() == 2 ? chunk_[1] : 1;
  const std::uint64_t in_a_row = (cols() - 1) / across + 1;
  const BlockCache::Key key{number_, at.rx / chunk_[0] * in_a_row + at.cx / across};
  if (whole) {
    const Cached kept = block_cache().find(key);
    return kept.value != nullptr ? std::static_pointer_cast<const Array<std::byte>>(kept.value)
                                 : read_chunk(at);
  }
  const Cached kept = block_cache().get(key, [&]() -> Cached {
    const Chunk cells = read_chunk(at);
    return {cells, cells != nullptr ? cells->size() : 0};
  });
  return std::static_pointer_cast<const Array<std::byte>>(kept.value);
}

/// False when the library must read them.
bool DataSet::read_chunks(Range rows, Range cols, std::byte* out) const {
  if (!filters_.known) return false;
  const std::uint64_t down = chunk_[0], across = chunk_.size() == 2 ? chunk_[1] : 1;
  const std::size_t size = size_of(type_);
  for (std::uint64_t row = rows.begin / down * down; row < rows.end; row += down) {
    for (std::uint64_t col = cols.begin / across * across; col < cols.end; col += across) {
      const Range r{std::max(row, rows.begin), std::min(row + down, rows.end)};
      const Range c{std::max(col, cols.begin), std::min(col + across, cols.end)};
      const bool whole = r.size() == std::min(down, this->rows() - row) &&
                         c.size() == std::min(across, this->cols() - col);
      const Chunk cells = chunk({row, col}, whole);
      if (cells == nullptr) return false;
      for (std::uint64_t i = r.begin; i < r.end; ++i) {
        std::memcpy(out + ((i - rows.begin) * cols.size() + c.begin - cols.begin) * size,
                    cells->data() + ((i - row) * across + c.begin - col) * size, c.size() * size);
      }
    }
  }
  return true;
}

}  // namespace dapple::detail::hdf5
