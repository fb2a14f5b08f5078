// Compression, the only user of libdeflate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/foreign/idv/idv_toc.h"

struct libdeflate_compressor;

namespace dapple::detail::idv {

/// Inflates all of `in` to exactly `out`. Bytes of `in` after the end of the compressed data are
/// ignored, as ML.NET does. Returns "" or what was wrong.
/// REQUIRES compression other than none.
std::string inflate(Compression compression, std::span<const std::byte> in,
                    std::span<std::byte> out);

/// "the bytes are no DEFLATE data".
std::string bad_data(Compression compression);

enum class Inflated : std::uint8_t { all, too_much, bad };

/// The same where the inflated length is stored nowhere: as many bytes as come out, if they are at
/// most `most`. They are at most 1032 times those of `in`. `out` grows.
Inflated inflate_some(Compression compression, std::span<const std::byte> in, std::uint64_t most,
                      std::vector<std::byte>& out);

/// Makes raw DEFLATE data of one block after the other. One thread.
class Deflater {
 public:
  Deflater();
  /// Replaces `out` by the compressed bytes of `in`.
  void deflate(std::span<const std::byte> in, std::vector<std::byte>& out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* c) const noexcept;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

}  // namespace dapple::detail::idv
