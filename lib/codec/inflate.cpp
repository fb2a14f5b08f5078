#include "lib/codec/inflate.h"

#include <dlfcn.h>
#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "dapple/error.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const noexcept { libdeflate_free_decompressor(d); }
};

/// libblosc, loaded when the first chunk needs it: few programs do. Its context functions share no
/// state.
struct Blosc {
  int (*validate)(const void* packed, std::size_t size, std::size_t* unpacked) = nullptr;
  int (*decompress)(const void* packed, void* out, std::size_t room, int threads) = nullptr;
};

const Blosc& blosc() {
  static const Blosc loaded = [] {
    Blosc functions;
    void* const library = ::dlopen("libblosc.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return functions;
    functions.validate =
        reinterpret_cast<decltype(functions.validate)>(::dlsym(library, "blosc_cbuffer_validate"));
    functions.decompress =
        reinterpret_cast<decltype(functions.decompress)>(::dlsym(library, "blosc_decompress_ctx"));
    return functions;
  }();
  if (loaded.validate == nullptr || loaded.decompress == nullptr) {
    throw Error(Errc::unsupported,
                "chunks of blosc are read with libblosc 1.21 or later, which is not installed");
  }
  return loaded;
}

std::string too_long(std::uint64_t most) {
  return "the data unpacks to more than " + counted(most, "byte");
}

/// Tries sizes from the likely one on. `attempt(out, produced)` says how it went.
template <class F>
std::string grow(std::uint64_t first, std::uint64_t possible, std::uint64_t most,
                 Array<std::byte>& out, const F& attempt) {
  const std::uint64_t bound = std::min(possible, most);
  for (std::uint64_t size = std::min(first, bound);; size = std::min(size * 4 + 64, bound)) {
    out.reset(size);
    std::size_t produced = 0;
    switch (attempt(std::span(out.data(), out.size()), produced)) {
      case Inflated::whole:
        out.shorten(produced);
        return {};
      case Inflated::bad:
        return "the compressed data is damaged";
      case Inflated::too_long:
        if (size == bound)
          return bound == possible ? "the compressed data is damaged" : too_long(most);
    }
  }
}

std::string unpack_deflate(Wrapper wrapper, std::span<const std::byte> in, const Length& length,
                           Array<std::byte>& out) {
  return grow(length.likely, in.size() * kMostInflation, length.most, out,
              [&](std::span<std::byte> room, std::size_t& produced) {
                return inflate(wrapper, in, room, produced);
              });
}

std::string unpack_zstd(std::span<const std::byte> in, const Length& length,
                        Array<std::byte>& out) {
  constexpr std::uint64_t kLongestBlock = 128 << 10, kShortestBlock = 3;
  const std::uint64_t possible = (in.size() / kShortestBlock + 1) * kLongestBlock;
  const auto told = ZSTD_getFrameContentSize(in.data(), in.size());
  if (told == ZSTD_CONTENTSIZE_ERROR) return "the bytes are no zstd data";
  if (told != ZSTD_CONTENTSIZE_UNKNOWN && told > length.most) return too_long(length.most);
  const std::uint64_t first = told == ZSTD_CONTENTSIZE_UNKNOWN ? length.likely : told;
  return grow(first, possible, length.most, out,
              [&](std::span<std::byte> room, std::size_t& produced) {
                produced = ZSTD_decompress(room.data(), room.size(), in.data(), in.size());
                if (ZSTD_isError(produced) == 0) return Inflated::whole;
                // The code for a full buffer is no part of the stable interface.
                return told == ZSTD_CONTENTSIZE_UNKNOWN ? Inflated::too_long : Inflated::bad;
              });
}

std::string unpack_blosc(std::span<const std::byte> in, const Length& length,
                         Array<std::byte>& out) {
  const Blosc& library = blosc();
  std::size_t size = 0;
  if (library.validate(in.data(), in.size(), &size) < 0) return "the bytes are no blosc data";
  if (size > length.most) return too_long(length.most);
  out.reset(size);
  const int made = size == 0 ? 0 : library.decompress(in.data(), out.data(), size, 1);
  if (made < 0 || static_cast<std::size_t>(made) != size) return "the blosc data is damaged";
  return {};
}

constexpr auto kCrc32c = [] {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}();

}  // namespace

Inflated inflate(Wrapper wrapper, std::span<const std::byte> in, std::span<std::byte> out,
                 std::size_t& produced) {
  // Making a decompressor costs less than a microsecond.
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> d(
      libdeflate_alloc_decompressor());
  if (d == nullptr) throw std::bad_alloc();
  const auto call = wrapper == Wrapper::zlib   ? libdeflate_zlib_decompress_ex
                    : wrapper == Wrapper::gzip ? libdeflate_gzip_decompress_ex
                                               : libdeflate_deflate_decompress_ex;
  std::size_t consumed = 0;
  switch (call(d.get(), in.data(), in.size(), out.data(), out.size(), &consumed, &produced)) {
    case LIBDEFLATE_SUCCESS:
      return Inflated::whole;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return Inflated::too_long;
    default:
      return Inflated::bad;
  }
}

std::string unpack(Packing packing, std::span<const std::byte> in, const Length& length,
                   Array<std::byte>& out) {
  switch (packing) {
    case Packing::zlib:
      return unpack_deflate(Wrapper::zlib, in, length, out);
    case Packing::gzip:
      return unpack_deflate(Wrapper::gzip, in, length, out);
    case Packing::zstd:
      return unpack_zstd(in, length, out);
    case Packing::blosc:
      break;
  }
  return unpack_blosc(in, length, out);
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::byte b : bytes) {
    crc = crc >> 8 ^ kCrc32c[(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
  }
  return ~crc;
}

}  // namespace dapple::detail
