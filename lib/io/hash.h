// XXH3-64, the hash of blocks and indexes (FORMAT.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace dapple::detail {

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// The hash of bytes that come in pieces.
class Xxh3 {
 public:
  /// Throws std::bad_alloc.
  Xxh3();
  void add(std::span<const std::byte> bytes) noexcept;
  std::uint64_t value() const noexcept;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace dapple::detail
