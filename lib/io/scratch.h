// Working space that may be larger than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dapple/array.h"
#include "lib/io/byte_source.h"
#include "lib/io/descriptor.h"

namespace dapple::detail {

/// `size` bytes of temporary storage: up to 256 MiB in memory, otherwise in an unnamed sparse file
/// in $TMPDIR (or /tmp). Threads may write and read different bytes at once; once all is written,
/// any number of threads may read it.
class Scratch {
 public:
  static constexpr std::uint64_t kInMemory = std::uint64_t{256} << 20;

  /// Throws io.
  explicit Scratch(std::uint64_t size);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::uint64_t size() const noexcept { return size_; }

  /// REQUIRES that the bytes are inside size(). Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// REQUIRES bytes inside size() that were written. Throws io.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// All bytes, to write to; null when they are in a file.
  std::byte* memory() noexcept { return in_memory() ? memory_.data() : nullptr; }

  /// Bytes in place, valid as long as the object lives. REQUIRES bytes inside size() that were
  /// written. Throws io.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const;

 private:
  bool in_memory() const noexcept { return size_ <= kInMemory; }

  std::uint64_t size_;
  Array<std::byte> memory_;  // if in_memory(), otherwise:
  Descriptor fd_;
  std::shared_ptr<ByteSource> file_;
};

}  // namespace dapple::detail
