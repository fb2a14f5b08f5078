// The entries of a coordinate file in working space, strip by strip.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "lib/foreign/mtx/mtx_text.h"
#include "lib/io/scratch.h"

namespace dapple::detail::mtx {

/// One entry; the row counts from its strip's first, unless said otherwise.
struct Record {
  std::uint32_t row, col;
  std::uint64_t bits;  // of the header's value type
};

/// Records are kept in chunks of so many.
inline constexpr std::uint64_t kChunk = 1024;

/// The records of one strip.
class Records {
 public:
  /// `chunks` says at which byte from `base` each chunk is.
  Records(const std::byte* base, const std::uint64_t* chunks, std::uint64_t size) noexcept
      : base_(base), chunks_(chunks), size_(size) {}

  Record operator[](std::uint64_t i) const noexcept {
    Record record;
    std::memcpy(&record, base_ + chunks_[i / kChunk] + i % kChunk * sizeof record, sizeof record);
    return record;
  }

  std::uint64_t size() const noexcept { return size_; }

  /// Number of the first record from `first` on that is in row `row` or below it. REQUIRES sorted
  /// records.
  std::uint64_t find_row(std::uint64_t row, std::uint64_t first = 0) const noexcept;

 private:
  const std::byte* base_;
  const std::uint64_t* chunks_;
  std::uint64_t size_;
};

/// The records of all strips. Each strip takes chunk after chunk of working space as its records
/// come: nobody needs to know how many there will be, and they are stored once. One thread fills
/// it; then any number of threads may work on different strips.
class StripRecords {
 public:
  /// Room for `most` records. Memory or temporary space: 16 bytes for each, and up to 16 KiB for
  /// each strip; in addition 16 KiB of memory for each strip when all takes more than 256 MiB.
  /// Throws io.
  StripRecords(const Text& text, std::uint64_t strips, std::uint64_t most);

  /// So many records take up to 256 MiB, which are kept in memory.
  static std::uint64_t most_in_memory(std::uint64_t strips) noexcept {
    constexpr std::uint64_t kChunks = Scratch::kInMemory / kStride;
    return kChunks < strips ? 0 : (kChunks - strips) * kChunk;
  }

  /// Adds a record to a strip. Throws io when there is no room: the text has changed.
  void put(std::uint64_t strip, const Record& record) {
    Strip& to = strips_[strip];
    if (to.next == to.end) start_chunk(strip);
    *to.next++ = record;
  }
  /// Call once after the last `put`. Throws io.
  void finish();

  std::uint64_t size(std::uint64_t strip) const noexcept {
    const Strip& s = strips_[strip];
    return s.chunks.size() * kChunk - static_cast<std::uint64_t>(s.end - s.next);
  }
  /// Copies the records of a strip to `out`, and back. REQUIRES finish(). Throws io.
  void read(std::uint64_t strip, std::vector<Record>& out) const;
  void write(std::uint64_t strip, std::span<const Record> records);
  /// The same in place. REQUIRES finish(). Throws io.
  Records of(std::uint64_t strip) const;

 private:
  /// Strips fill alike: were their chunks at multiples of a power of two, they would share the same
  /// few places of the caches.
  static constexpr std::uint64_t kStride = kChunk * sizeof(Record) + 64;

  struct Strip {
    Record* next = nullptr;  // where the next record goes,
    Record* end = nullptr;   // up to here
    std::vector<std::uint64_t> chunks;
  };

  void start_chunk(std::uint64_t strip);
  void write_buffer(std::uint64_t strip);

  const std::string& file_;
  Scratch space_;
  Array<Record> buffers_;  // a chunk of each strip, unless the space is in memory
  std::vector<Strip> strips_;
  std::uint64_t taken_ = 0;  // bytes of the space
};

/// Throws io: the text is not what it was when it was opened.
[[noreturn]] void fail_changed(const std::string& file);

}  // namespace dapple::detail::mtx
