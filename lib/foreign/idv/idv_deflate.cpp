#include "lib/foreign/idv/idv_deflate.h"

#include <libdeflate.h>

#include <new>

namespace dapple::detail::idv {
namespace {

// The level whose ratio and speed are those of zlib's default, only faster.
constexpr int kLevel = 6;

}  // namespace

Deflater::Deflater() : compressor_(libdeflate_alloc_compressor(kLevel)) {
  if (compressor_ == nullptr) throw std::bad_alloc();
}

void Deflater::Free::operator()(libdeflate_compressor* c) const noexcept {
  libdeflate_free_compressor(c);
}

void Deflater::deflate(std::span<const std::byte> in, std::vector<std::byte>& out) {
  out.resize(libdeflate_deflate_compress_bound(compressor_.get(), in.size()));
  out.resize(
      libdeflate_deflate_compress(compressor_.get(), in.data(), in.size(), out.data(), out.size()));
}

}  // namespace dapple::detail::idv
