// Sources without a map: bytes that have to be fetched in ranges, from a server or a test.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dapple/range_reader.h"
#include "lib/io/byte_source.h"
#include "lib/io/piece_cache.h"
#include "lib/io/range_set.h"

namespace dapple::detail {

/// The most bytes that a source may have: what fits an address space.
inline constexpr std::uint64_t kMostRangedBytes = std::uint64_t{1} << 46;

/// Keeps what `at` is asked for, in an area of addresses as large as the source that costs memory
/// only where bytes were fetched; what `will_need` announces waits in memory until `hold` has taken
/// all of it, or too much waits: a range of some size by itself, so that it need not be copied to
/// stay alive without its neighbours. One fetch may serve many ranges. With a cache of the machine
/// (piece_cache.h), bytes that are kept there are used where they are, and others are fetched in
/// whole pieces and kept.
class RangedSource : public ByteSource {
 public:
  ~RangedSource() override;

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void will_need(std::span<const Range> ranges) const noexcept override;
  using ByteSource::will_need;
  bool may_wait() const noexcept override { return true; }
  bool fetches() const noexcept override { return true; }
  bool receive(std::span<const RangeRequest> wanted) const override;
  void presume(std::span<const std::byte> first) override;
  std::span<const std::byte> presumed() const noexcept override;
  void take_copy(std::uint64_t offset, std::span<const std::byte> bytes) const override;

 protected:
  /// How bytes are best fetched.
  struct Habits {
    std::uint64_t unit = 4 << 10;    // ranges start and end at multiples of it
    std::uint64_t gap = 64 << 10;    // a gap that is cheaper to fetch than to leave out
    std::uint64_t ahead = 64 << 20;  // the most bytes that wait to be taken
  };
  RangedSource(std::string name, const Identity& identity, const Habits& habits);

  using Part = RangeRequest;
  /// Parts that are best fetched as one, with what is between them.
  struct Near {
    Range bytes;
    std::span<const Part> parts;
  };
  /// The same parts: near ones together, unless they would be more than `most` bytes.
  std::vector<Near> joined(std::span<const Part> parts,
                           std::uint64_t most = kMostRangedBytes) const;
  static std::uint64_t end_of(const Part& part) noexcept { return part.offset + part.to.size(); }
  /// Fetches all parts from far away, at once as far as possible; they may be near each other. Any
  /// thread. Throws io.
  virtual void fetch(std::span<const Part> parts) const = 0;
  /// The same, looking in the cache first.
  void get(std::span<const Part> parts) const;
  /// Looks in a cache of `folder` from now on: `object` names these bytes, and no others that there
  /// are or will be. Notes when the folder cannot be used. Set before this is shared.
  void use_cache(const CacheFolder& folder, const std::string& object);
  /// Takes over bytes that came with something else, for example with the answer that told the
  /// size.
  void know(std::uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  struct Buffer;
  struct Gap;
  const std::byte* keep(std::uint64_t offset, std::uint64_t n) const override;
  HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override;

  Range in_units(const Range& range) const noexcept;
  std::vector<Range> joined(std::span<const Range> ranges) const;
  std::vector<Range> not_there(std::span<const Range> ranges) const;
  HeldBytes in_cache(std::uint64_t offset, std::uint64_t n) const noexcept;
  void put_kept(std::uint64_t offset, std::span<const std::byte> bytes) const;
  std::shared_ptr<const Buffer> find_ahead(std::uint64_t offset, std::uint64_t n) const;
  void put_ahead(const std::shared_ptr<const Buffer>& buffer) const;
  void drop_ahead(std::uint64_t offset) const;
  std::shared_ptr<const Buffer> take_ahead(std::uint64_t offset, std::uint64_t n) const;
  std::vector<std::shared_ptr<Buffer>> fetched(std::span<const Range> ranges) const;
  std::byte* area() const;
  void get_compared(std::vector<Part> parts) const;

  const Habits habits_;
  std::unique_ptr<const PieceCache> cache_;    // null: none
  std::shared_ptr<const Buffer> presumed_;     // null: nothing is
  mutable std::atomic<bool> compared_{false};  // with what was fetched
  mutable std::mutex mutex_;  // guards what follows; not held while bytes are fetched
  mutable std::byte* area_ = nullptr;
  mutable RangeSet kept_;
  mutable std::map<std::uint64_t, std::shared_ptr<const Buffer>> ahead_;  // by first byte
  mutable std::vector<std::uint64_t> ahead_order_;                        // oldest first
  mutable std::uint64_t ahead_bytes_ = 0;
  mutable std::vector<std::shared_ptr<const void>> pinned_;  // of the cache, where `at` led to it
};

}  // namespace dapple::detail
