// The bytes of one block as its codec wrote them, and a reader that names what it finds there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/serial_number.h"
#include "lib/foreign/idv/idv_lookup.h"

namespace dapple::detail::idv {

/// Cheap to copy. Valid as long as the file, or in the inflated case, as long as a copy of it.
struct BlockBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // of inflated bytes; null: `bytes` lie in the file
  std::uint64_t offset = 0;           // of the block in the file
  const std::string* file = nullptr;

  /// Throws corrupt for byte `at` of the block.
  [[noreturn]] void fail(std::uint64_t at, std::string detail) const;
};

/// Reads a block front to back; every read is compared with what remains.
class BlockReader {
 public:
  explicit BlockReader(const BlockBytes& block) noexcept : block_(&block) {}

  /// Byte of the block that is read next.
  std::uint64_t offset() const noexcept { return at_; }
  std::uint64_t remaining() const noexcept { return block_->bytes.size() - at_; }
  std::span<const std::byte> take(std::uint64_t n, std::string_view what);
  std::span<const std::byte> rest() noexcept;
  template <Number T>
  T le(std::string_view what) {
    return load_le<T>(take(sizeof(T), what).data());
  }
  [[noreturn]] void fail(std::uint64_t at, std::string detail) const {
    block_->fail(at, std::move(detail));
  }

 private:
  const BlockBytes* block_;
  std::size_t at_ = 0;
};

/// Whether a block that had to be inflated is likely to be asked for again.
enum class Again : bool { no, yes };

/// Blocks of one file, inflated; the cache keeps them, so that reading a block piece by piece
/// inflates it once. Any thread.
class InflatedBlocks {
 public:
  InflatedBlocks() = default;
  ~InflatedBlocks();
  InflatedBlocks(const InflatedBlocks&) = delete;
  InflatedBlocks& operator=(const InflatedBlocks&) = delete;

  /// The block's bytes: in place when it isn't compressed. Throws corrupt.
  BlockBytes read(const ByteSource& file, Compression compression, const BlockPlace& place,
                  Again again);

  /// Copies all of the block to `out`, straight from the compressed bytes unless it is kept.
  /// Throws corrupt. REQUIRES room for the inflated block.
  void copy(const ByteSource& file, Compression compression, const BlockPlace& place,
            std::byte* out);

 private:
  struct Kept;
  std::shared_ptr<const Kept> find(Compression compression, const BlockPlace& place) const;

  const std::uint64_t number_ = serial_number();  // in keys of the cache
  std::atomic<bool> keeps_{false};                // something
};

}  // namespace dapple::detail::idv
