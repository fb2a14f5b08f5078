// Walking over the items of a file's body, for files without an index. Payloads are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/dbdf/header.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// `for (Item item; walk.next(item);) ...` in file order, including auxiliary and zero-area items.
/// Throws corrupt (R1, R2, R4), io. Headers of large blocks are read one by one, since a page fault
/// costs more than a small read; runs of small blocks are read through the map.
class Walk {
 public:
  Walk(const ByteSource& file, std::uint64_t body, std::uint64_t rows, std::uint64_t cols);

  /// False at the end of the file.
  bool next(Item& item);
  /// Offset in the file of the next item.
  std::uint64_t offset() const noexcept { return at_; }

 private:
  std::span<const std::byte> look();

  const ByteSource* file_;
  std::uint64_t rows_, cols_;
  std::uint64_t at_;
  std::unique_ptr<std::byte[]> buffer_;
  const std::byte* window_ = nullptr;  // bytes [window_at_, window_at_ + window_size_)
  std::uint64_t window_at_;
  std::size_t window_size_ = 0;
  std::size_t next_window_;
};

}  // namespace dapple::detail::dbdf
