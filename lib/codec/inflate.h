// What general-purpose compressors made: files, members of archives and chunks of other formats are
// all decompressed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dapple/array.h"

struct z_stream_s;
struct ZSTD_DCtx_s;

namespace dapple::detail {

/// What DEFLATE data is wrapped in.
enum class Wrapper : std::uint8_t { raw, zlib, gzip };
enum class Inflated : std::uint8_t { whole, too_long, bad };

/// How long what comes out may be, and probably is.
struct Length {
  std::uint64_t likely, most;
};

/// The most bytes that DEFLATE makes of one: it spends at least two bits on a run of at most 258.
inline constexpr std::uint64_t kMostInflation = 1032;

/// Inflates `in` to exactly `out`. Bytes of `in` after the end of the compressed data are ignored.
/// Returns "" or what is wrong.
std::string inflate(Wrapper wrapper, std::span<const std::byte> in, std::span<std::byte> out);

/// The same where the inflated length is stored nowhere: as many bytes as come out, if they are at
/// most `length.most`. `out` is never larger than what can come out of `in`.
Inflated inflate_some(Wrapper wrapper, std::span<const std::byte> in, const Length& length,
                      Array<std::byte>& out);

/// DEFLATE data that is longer than memory should be, piece by piece. One thread.
class InflateStream {
 public:
  /// REQUIRES raw or gzip.
  explicit InflateStream(Wrapper wrapper);

  enum class State : std::uint8_t { goes_on, ended, needs_more, damaged };
  struct Step {
    std::size_t taken, made;
    State state;
  };
  /// Inflates some of `in` to the front of `out`. `needs_more`: nothing came out, and `in` is used
  /// up.
  Step step(std::span<const std::byte> in, std::span<std::byte> out);
  /// Another stream of the same kind comes next.
  void restart();

 private:
  struct Free {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, Free> stream_;
};

enum class Packing : std::uint8_t { zlib, gzip, zstd, blosc };

/// Unpacks chunks, with contexts that are used again: making one takes longer than a small chunk.
/// Any thread.
class Unpacker {
 public:
  /// Replaces `out` by what comes out of `in`. Returns "" or what is wrong: the data is damaged, or
  /// more than `length.most` bytes would come out. No more memory is taken than can come out of
  /// `in`. Throws unsupported for blosc where libblosc is not installed.
  std::string unpack(Packing packing, std::span<const std::byte> in, const Length& length,
                     Array<std::byte>& out) const;

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  using Context = std::unique_ptr<ZSTD_DCtx_s, Free>;
  Context take() const;
  std::string unpack_zstd(std::span<const std::byte> in, const Length& length,
                          Array<std::byte>& out) const;

  mutable std::mutex mutex_;
  mutable std::vector<Context> idle_;
};

}  // namespace dapple::detail
