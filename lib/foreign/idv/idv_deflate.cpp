#include "lib/foreign/idv/idv_deflate.h"

#include <libdeflate.h>

#include <algorithm>
#include <new>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv_lookup.h"

namespace dapple::detail::idv {
namespace {

// The level whose ratio and speed are those of zlib's default, only faster.
constexpr int kLevel = 6;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const noexcept { libdeflate_free_decompressor(d); }
};

/// `produced` counts the bytes that came out. Making a decompressor costs less than a microsecond.
libdeflate_result run(Compression compression, std::span<const std::byte> in,
                      std::span<std::byte> out, std::size_t& produced) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> d(
      libdeflate_alloc_decompressor());
  if (d == nullptr) throw std::bad_alloc();
  const auto call = compression == Compression::zlib ? libdeflate_zlib_decompress_ex
                                                     : libdeflate_deflate_decompress_ex;
  std::size_t consumed = 0;
  return call(d.get(), in.data(), in.size(), out.data(), out.size(), &consumed, &produced);
}

}  // namespace

std::string bad_data(Compression compression) {
  return std::string("the bytes are no ") +
         (compression == Compression::zlib ? "zlib" : "DEFLATE") + " data";
}

std::string inflate(Compression compression, std::span<const std::byte> in,
                    std::span<std::byte> out) {
  std::size_t produced = 0;
  switch (run(compression, in, out, produced)) {
    case LIBDEFLATE_SUCCESS:
      if (produced == out.size()) return {};
      return "the data inflates to " + counted(produced, "byte") + " instead of " +
             std::to_string(out.size());
    case LIBDEFLATE_SHORT_OUTPUT:
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return "the data inflates to more than " + counted(out.size(), "byte");
    case LIBDEFLATE_BAD_DATA:
      break;
  }
  return bad_data(compression);
}

Inflated inflate_some(Compression compression, std::span<const std::byte> in, std::uint64_t most,
                      std::vector<std::byte>& out) {
  const std::uint64_t possible = in.size() * kMostInflation;
  const std::uint64_t bound = std::min(possible, most);
  for (std::uint64_t size = std::min<std::uint64_t>(in.size() * 4, bound);;
       size = std::min(size * 4, bound)) {
    out.resize(size);
    std::size_t produced = 0;
    const libdeflate_result result = run(compression, in, out, produced);
    if (result == LIBDEFLATE_SUCCESS) {
      out.resize(produced);
      return Inflated::all;
    }
    if (result == LIBDEFLATE_BAD_DATA) return Inflated::bad;
    if (size == bound) return bound == possible ? Inflated::bad : Inflated::too_much;
  }
}

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
