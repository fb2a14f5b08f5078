// XXH3-64, which guards blocks and indexes (FORMAT.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace dapple::detail {

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// The same of the first kHashedOfLine bytes of a line of an index.
std::uint64_t xxh3_line(const std::byte* line, std::uint64_t seed) noexcept;
inline constexpr std::size_t kHashedOfLine = 48;

/// XXH3-64 of bytes that come in pieces.
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
