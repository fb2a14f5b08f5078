// The bytes of one block as its codec wrote them, and a reader that names what it finds there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/base/bytes.h"
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

/// Blocks inflated lately, so that reading a block piece by piece inflates it once. Any thread;
/// the lock is held for a look into a table, never while inflating. Keeps at most kBytes, or the
/// last block when that one is larger.
class InflatedBlocks {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{128} << 20;

  /// The block's bytes: in place when it isn't compressed. Throws corrupt.
  BlockBytes read(const ByteSource& file, Compression compression, const BlockPlace& place,
                  Again again);

  /// Copies all of the block to `out`, straight from the compressed bytes unless it is kept.
  /// Throws corrupt. REQUIRES room for the inflated block.
  void copy(const ByteSource& file, Compression compression, const BlockPlace& place,
            std::byte* out);

 private:
  struct Kept {
    BlockPlace place;
    Compression compression;
    std::shared_ptr<const std::byte[]> bytes;
  };
  using List = std::list<Kept>;
  static constexpr std::uint64_t kOverhead = 192;  // of a small block's node and table entry

  std::shared_ptr<const std::byte[]> find(Compression compression, const BlockPlace& place);
  void keep(Kept block);
  void drop(List::iterator block) noexcept;

  std::mutex mutex_;
  List kept_;  // the last one used first
  std::unordered_map<std::uint64_t, List::iterator> by_offset_;
  std::uint64_t total_ = 0;
};

}  // namespace dapple::detail::idv
