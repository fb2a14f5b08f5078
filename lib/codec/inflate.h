// Buffers that general-purpose compressors made. Formats whose chunks are compressed (idv, hdf5,
// zarr) decompress them here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dapple/array.h"

namespace dapple::detail {

/// What DEFLATE data is wrapped in.
enum class Wrapper : std::uint8_t { raw, zlib, gzip };
enum class Inflated : std::uint8_t { whole, too_long, bad };

/// The most bytes that DEFLATE makes of one.
inline constexpr std::uint64_t kMostInflation = 1032;

/// Inflates `in` to `out`, of which the first `produced` bytes are written then. Bytes of `in`
/// after the end of the compressed data are ignored. `too_long`: `out` is too small.
Inflated inflate(Wrapper wrapper, std::span<const std::byte> in, std::span<std::byte> out,
                 std::size_t& produced);

enum class Packing : std::uint8_t { zlib, gzip, zstd, blosc };

/// How long what comes out may be, and probably is.
struct Length {
  std::uint64_t likely, most;
};

/// Replaces `out` by what comes out of `in`. Returns "" or what is wrong: the data is damaged, or
/// more than `length.most` bytes would come out. No more memory is taken than can come out of
/// `in`. Throws unsupported for blosc where libblosc is not installed.
std::string unpack(Packing packing, std::span<const std::byte> in, const Length& length,
                   Array<std::byte>& out);

/// CRC-32C (Castagnoli), as iSCSI and Zarr use it.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace dapple::detail
