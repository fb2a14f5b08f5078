// Files that are compressed as a whole while they are written, as decompress.h reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "dapple/array.h"

namespace dapple::detail {

enum class Compression : std::uint8_t { none, gzip, zstd };

/// Compresses bytes as one member of gzip that holds neither a name nor a time, or as one frame of
/// zstd, at the level that their programs have by default. One thread.
class Compressor {
 public:
  using Take = std::function<void(std::span<const std::byte> compressed)>;
  /// REQUIRES gzip or zstd. Throws bad_alloc.
  Compressor(Compression how, Take take);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void put(std::span<const std::byte> bytes) { pass(bytes, false); }
  /// The last call.
  void finish() { pass({}, true); }

  /// What a library makes of the bytes, as much of it as there is room for.
  class Encoder;

 private:
  void pass(std::span<const std::byte> bytes, bool last);

  std::unique_ptr<Encoder> encoder_;
  Array<std::byte> room_;
  Take take_;
};

}  // namespace dapple::detail
