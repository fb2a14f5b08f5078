// Compression of blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lib/codec/inflate.h"
#include "lib/foreign/idv/idv_toc.h"

struct libdeflate_compressor;

namespace dapple::detail::idv {

/// REQUIRES compression other than none.
constexpr Wrapper wrapper_of(Compression compression) noexcept {
  return compression == Compression::zlib ? Wrapper::zlib : Wrapper::raw;
}

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
