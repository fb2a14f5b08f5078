#include "lib/codec/inflate.h"

#include <dlfcn.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
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

/// Bytes of `in` after the end of the compressed data are ignored.
Inflated inflate_once(Wrapper wrapper, std::span<const std::byte> in, std::span<std::byte> out,
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

/// Tries sizes from the likely one on. `attempt(out, produced)` says how it went.
template <class F>
Inflated grow(std::uint64_t possible, const Length& length, Array<std::byte>& out,
              const F& attempt) {
  const std::uint64_t bound = std::min(possible, length.most);
  for (std::uint64_t size = std::min(length.likely, bound);;
       size = std::min(size * 4 + 64, bound)) {
    out.reset(size);
    std::size_t produced = 0;
    const Inflated result = attempt(std::span(out.data(), out.size()), produced);
    if (result == Inflated::whole) out.shorten(produced);
    if (result != Inflated::too_long) return result;
    if (size == bound) return bound == possible ? Inflated::bad : Inflated::too_long;
  }
}

std::string explain(Inflated result, std::uint64_t most) {
  if (result == Inflated::whole) return {};
  return result == Inflated::bad ? "the compressed data is damaged" : too_long(most);
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

}  // namespace

std::string inflate(Wrapper wrapper, std::span<const std::byte> in, std::span<std::byte> out) {
  std::size_t produced = 0;
  switch (inflate_once(wrapper, in, out, produced)) {
    case Inflated::whole:
      if (produced == out.size()) return {};
      return "the data inflates to " + counted(produced, "byte") + " instead of " +
             std::to_string(out.size());
    case Inflated::too_long:
      return "the data inflates to more than " + counted(out.size(), "byte");
    case Inflated::bad:
      break;
  }
  return std::string("the bytes are no ") + (wrapper == Wrapper::zlib ? "zlib" : "DEFLATE") +
         " data";
}

Inflated inflate_some(Wrapper wrapper, std::span<const std::byte> in, const Length& length,
                      Array<std::byte>& out) {
  return grow(in.size() * kMostInflation, length, out,
              [&](std::span<std::byte> room, std::size_t& produced) {
                return inflate_once(wrapper, in, room, produced);
              });
}

InflateStream::InflateStream(Wrapper wrapper) : stream_(new z_stream{}) {
  constexpr int kWindow = 15, kGzipOnly = 16;
  if (inflateInit2(stream_.get(), wrapper == Wrapper::gzip ? kWindow + kGzipOnly : -kWindow) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

void InflateStream::Free::operator()(z_stream* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

InflateStream::Step InflateStream::step(std::span<const std::byte> in, std::span<std::byte> out) {
  const auto available = [](std::size_t n) {
    return static_cast<uInt>(std::min<std::size_t>(n, std::numeric_limits<uInt>::max()));
  };
  const uInt given = available(in.size()), room = available(out.size());
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
  stream_->avail_in = given;
  stream_->next_out = reinterpret_cast<Bytef*>(out.data());
  stream_->avail_out = room;
  const int result = ::inflate(stream_.get(), Z_NO_FLUSH);
  Step step{given - stream_->avail_in, room - stream_->avail_out, State::goes_on};
  if (result == Z_STREAM_END) {
    step.state = State::ended;
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    step.state = State::damaged;
  } else if (step.made == 0 && step.taken == in.size()) {
    step.state = State::needs_more;
  }
  return step;
}

void InflateStream::restart() { inflateReset(stream_.get()); }

void Unpacker::Free::operator()(ZSTD_DCtx_s* context) const noexcept { ZSTD_freeDCtx(context); }

/// One that no other thread uses.
Unpacker::Context Unpacker::take() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Context context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  Context made(ZSTD_createDCtx());
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

std::string Unpacker::unpack_zstd(std::span<const std::byte> in, const Length& length,
                                  Array<std::byte>& out) const {
  constexpr std::uint64_t kLongestBlock = 128 << 10, kShortestBlock = 3;
  const std::uint64_t possible = (in.size() / kShortestBlock + 1) * kLongestBlock;
  const auto told = ZSTD_getFrameContentSize(in.data(), in.size());
  if (told == ZSTD_CONTENTSIZE_ERROR) return "the bytes are no zstd data";
  if (told != ZSTD_CONTENTSIZE_UNKNOWN && told > length.most) return too_long(length.most);
  const Length tried{told == ZSTD_CONTENTSIZE_UNKNOWN ? length.likely : told, length.most};
  Context context = take();
  const auto attempt = [&](std::span<std::byte> room, std::size_t& produced) {
    produced = ZSTD_decompressDCtx(context.get(), room.data(), room.size(), in.data(), in.size());
    if (ZSTD_isError(produced) == 0) return Inflated::whole;
    // The code for a full buffer is no part of the stable interface.
    return told == ZSTD_CONTENTSIZE_UNKNOWN ? Inflated::too_long : Inflated::bad;
  };
  const Inflated result = grow(possible, tried, out, attempt);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
  return explain(result, length.most);
}

std::string Unpacker::unpack(Packing packing, std::span<const std::byte> in, const Length& length,
                             Array<std::byte>& out) const {
  switch (packing) {
    case Packing::zlib:
      return explain(inflate_some(Wrapper::zlib, in, length, out), length.most);
    case Packing::gzip:
      return explain(inflate_some(Wrapper::gzip, in, length, out), length.most);
    case Packing::zstd:
      return unpack_zstd(in, length, out);
    case Packing::blosc:
      break;
  }
  return unpack_blosc(in, length, out);
}

}  // namespace dapple::detail
