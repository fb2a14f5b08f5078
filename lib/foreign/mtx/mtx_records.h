// The entries of a coordinate file in working space, strip by strip.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/write/sparse_cells.h"
#include "lib/foreign/mtx/mtx_text.h"
#include "lib/io/scratch.h"

namespace dapple::detail::mtx {

/// One entry; the row counts from its strip's first, unless said otherwise.
using Record = dbdf::SparseCell;

/// How the records of a file are stored: row and column in one number, in four bytes where all fit,
/// otherwise in eight; then eight bytes of the value, where there are values.
class Packing {
 public:
  /// For strips of 2^shift rows.
  Packing(const Header& header, unsigned shift) noexcept
      : col_bits_(header.cols > 0 ? static_cast<unsigned>(std::bit_width(header.cols - 1)) : 0),
        place_bytes_(shift + col_bits_ <= 32 ? 4 : 8),
        has_values_(!header.pattern) {}

  /// Bytes of a record.
  std::size_t size() const noexcept { return place_bytes_ + (has_values_ ? 8 : 0); }

  /// Records are read and written in ascending order, and may touch this number of bytes after
  /// their own.
  static constexpr std::size_t kBehind = 8;

  void store(std::byte* to, const Record& record) const noexcept {
    store_le(to, std::uint64_t{record.row} << col_bits_ | record.col);
    store_le(to + place_bytes_, record.bits);
  }
  Record load(const std::byte* from) const noexcept {
    std::uint64_t place = load_le<std::uint64_t>(from);
    if (place_bytes_ == 4) place = static_cast<std::uint32_t>(place);
    const std::uint64_t row = place >> col_bits_;
    return {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(place - (row << col_bits_)),
            has_values_ ? load_le<std::uint64_t>(from + place_bytes_) : 1};
  }

 private:
  unsigned col_bits_;
  unsigned place_bytes_;
  bool has_values_;
};

/// Records are kept in chunks of this number.
inline constexpr std::uint64_t kChunk = 1024;

/// The records of all strips. Each strip fills a chunk in memory, and then takes another place for
/// it in working space: nobody needs to know how many records there will be. One thread fills it;
/// then any number of threads may work on different strips.
class StripRecords {
 public:
  /// Room for `most` records. Memory or temporary space: 4 to 16 bytes for each, and a chunk of
  /// memory for each strip. Throws io.
  StripRecords(const Packing& packing, std::uint64_t strips, std::uint64_t most)
      : packing_(packing),
        space_(most / kChunk * chunk_bytes() + Packing::kBehind),
        buffers_(strips * stride()),
        strips_(strips) {}

  /// Adds a record to a strip. REQUIRES that no more than `most` are added. Throws io.
  void put(std::uint64_t strip, const Record& record) {
    Strip& to = strips_[strip];
    if (to.waiting == kChunk) write_chunk(strip);
    packing_.store(buffers_.data() + strip * stride() + to.waiting++ * packing_.size(), record);
  }

  std::uint64_t strips() const noexcept { return strips_.size(); }
  /// Copies the records of a strip to `out`. REQUIRES that all were put. Any thread. Throws io.
  void read(std::uint64_t strip, std::vector<Record>& out) const;

 private:
  std::uint64_t chunk_bytes() const noexcept { return kChunk * packing_.size(); }
  /// Bytes from one chunk in memory to the next. Strips fill alike: were their chunks at multiples
  /// of a power of two, they would share the same few places of the caches.
  std::uint64_t stride() const noexcept {
    static_assert(Packing::kBehind <= 64);
    return chunk_bytes() + 64;
  }

  struct Strip {
    std::uint64_t waiting = 0;          // records in the chunk in memory
    std::vector<std::uint64_t> chunks;  // the others: where they are in the space
  };

  void write_chunk(std::uint64_t strip);

  Packing packing_;
  Scratch space_;
  Array<std::byte> buffers_;  // a chunk of each strip
  std::vector<Strip> strips_;
  std::uint64_t taken_ = 0;  // bytes of the space
};

}  // namespace dapple::detail::mtx
