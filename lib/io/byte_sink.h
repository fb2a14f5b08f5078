// The output of a writer that produces a file from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dapple::detail {

/// Receives the bytes of a file in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Bytes written so far.
  virtual std::uint64_t size() const noexcept = 0;
};

}  // namespace dapple::detail
