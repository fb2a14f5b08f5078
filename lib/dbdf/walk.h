// The body of a file, item by item, when there is no index (rule 2.7). No payload is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "lib/dbdf/header.h"
#include "lib/file.h"

namespace dapple::detail::dbdf {

/// `while (auto item = walk.next()) ...` in file order, auxiliary and zero-area items included.
/// Throws corrupt (R1, R2, R4), io.
///
/// Headers are read, not mapped: a page fault per large block costs more than a small read (1.1
/// against 0.9 us, and 128 times the bytes when cold), while runs of small blocks come in large
/// reads (29 ns a block, as fast as walking a map).
class Walk {
 public:
  Walk(const MappedFile& file, std::uint64_t body, std::uint64_t rows, std::uint64_t cols);

  std::optional<Item> next();
  /// Byte of the file where the next item starts.
  std::uint64_t offset() const noexcept { return at_; }

 private:
  std::span<const std::byte> look();

  const MappedFile* file_;
  std::uint64_t rows_, cols_;
  std::uint64_t at_;
  std::unique_ptr<std::byte[]> window_;  // bytes [window_at_, window_at_ + window_size_)
  std::uint64_t window_at_ = 0;
  std::size_t window_size_ = 0;
  std::size_t next_read_;
};

}  // namespace dapple::detail::dbdf
