// How much memory this process may use.
#pragma once

#include <cstdint>

namespace dapple::detail {

/// Bytes: of the machine, or of the control group that this process is in. Looked up once.
std::uint64_t memory_limit() noexcept;
/// The same, or what the limits of this process (ulimit -d, -v) allow, if that is less.
std::uint64_t memory_allowed() noexcept;

/// True for bytes of files that are not all kept in memory: they may leave it at any time.
inline bool outgrows_memory(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kSmall = 64 << 20;  // asking would take longer than opening
  return bytes > kSmall && bytes > memory_limit() / 2;
}

}  // namespace dapple::detail
