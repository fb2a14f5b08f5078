// Hopping over the rows of a BTable in place.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/bytes.h"
#include "lib/foreign/btable/btable.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::btable {

/// One stored entry, in place.
struct RowEntry {
  const std::byte* p;
  std::uint32_t column() const noexcept { return load_be<std::uint32_t>(p); }
  std::uint64_t bits() const noexcept { return load_be<std::uint64_t>(p + 4); }
};

/// The entries of one row, in place and as stored.
struct Row {
  const std::byte* data = nullptr;
  std::uint64_t offset = 0;  // of the first entry in the file
  std::uint32_t size = 0;

  RowEntry operator[](std::uint32_t i) const noexcept {
    return {data + std::size_t{i} * kEntryBytes};
  }
  std::uint64_t offset_of(std::uint32_t i) const noexcept {
    return offset + std::uint64_t{i} * kEntryBytes;
  }
};

/// Takes the rows of bytes [begin, end) one after the other. A row that does not fit what is left
/// is corrupt. Columns are not looked at.
class RowWalk {
 public:
  /// REQUIRES that the bytes lie inside `file`, which must outlive this.
  RowWalk(const ByteSource& file, std::uint64_t begin, std::uint64_t end)
      : file_(file), first_(file.at(begin, end - begin)), begin_(begin), size_(end - begin) {}

  bool done() const noexcept { return at_ == size_; }
  std::uint64_t offset() const noexcept { return begin_ + at_; }

  /// The next row. Throws corrupt.
  Row next() {
    const std::uint64_t left = size_ - at_;
    if (left < kCountBytes) fail_end(left);
    const auto count = load_be<std::int32_t>(first_ + at_);
    if (count < 0) fail_count(count);
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * kEntryBytes;
    if (bytes > left - kCountBytes) fail_entries(bytes, left - kCountBytes);
    at_ += kCountBytes;
    const Row row{first_ + at_, begin_ + at_, static_cast<std::uint32_t>(count)};
    at_ += bytes;
    return row;
  }

 private:
  [[noreturn]] void fail_end(std::uint64_t left) const;
  [[noreturn]] void fail_count(std::int32_t count) const;
  [[noreturn]] void fail_entries(std::uint64_t wanted, std::uint64_t left) const;

  const ByteSource& file_;
  const std::byte* first_;
  std::uint64_t begin_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

}  // namespace dapple::detail::btable
