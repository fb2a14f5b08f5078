// Working space that may be larger than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dapple/array.h"
#include "lib/io/file.h"

namespace dapple::detail {

/// `size` bytes to write and then to read: memory when they are few, otherwise a file without a
/// name in $TMPDIR (or /tmp) that takes its space as it is written and goes away with the object.
/// Writing is for one thread; `at` for any number of them, once all is written.
class Scratch {
 public:
  /// Throws io.
  explicit Scratch(std::uint64_t size);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::uint64_t size() const noexcept { return size_; }

  /// REQUIRES that the bytes lie inside size(). Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// REQUIRES as `at`. Throws io.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Bytes in place. REQUIRES that they lie inside size() and were written. Throws io. Valid for
  /// the life of the object.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const;

 private:
  static constexpr std::uint64_t kInMemory = std::uint64_t{32} << 20;

  bool in_memory() const noexcept { return size_ <= kInMemory; }

  std::uint64_t size_;
  Array<std::byte> memory_;  // when they are few, otherwise:
  Descriptor fd_;
  std::shared_ptr<MappedFile> file_;
};

}  // namespace dapple::detail
