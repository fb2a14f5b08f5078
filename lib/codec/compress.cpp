#include "lib/codec/compress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace dapple::detail {

namespace {

constexpr std::size_t kRoom = std::size_t{256} << 10;

}  // namespace

class Compressor::Encoder {
 public:
  struct Step {
    std::size_t taken, made;
    bool ended;  // all that was given is in what was made so far, if it was the last
  };
  virtual ~Encoder() = default;
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out, bool last) = 0;
};

namespace {

class Gzip final : public Compressor::Encoder {
 public:
  Gzip() {
    constexpr int kGzipHeader = 16, kWindow = 15, kUsualMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindow + kGzipHeader,
                     kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gzip() override { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Step step(std::span<const std::byte> in, std::span<std::byte> out, bool last) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
    const auto given = static_cast<uInt>(std::min(in.size(), kMost));
    const auto room = static_cast<uInt>(out.size());
    // zlib does not write to what it compresses.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int state = deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
    return {given - stream_.avail_in, room - stream_.avail_out, state == Z_STREAM_END};
  }

 private:
  z_stream stream_{};
};

class Zstd final : public Compressor::Encoder {
 public:
  Zstd() : stream_(ZSTD_createCStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() override { ZSTD_freeCStream(stream_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  Step step(std::span<const std::byte> in, std::span<std::byte> out, bool last) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(stream_, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) throw std::bad_alloc();  // nothing else can go wrong
    return {from.pos, to.pos, last && left == 0};
  }

 private:
  ZSTD_CStream* stream_;
};

std::unique_ptr<Compressor::Encoder> encoder_of(Compression how) {
  if (how == Compression::gzip) return std::make_unique<Gzip>();
  return std::make_unique<Zstd>();
}

}  // namespace

Compressor::Compressor(Compression how, Take take)
    : encoder_(encoder_of(how)), room_(kRoom), take_(std::move(take)) {}

Compressor::~Compressor() = default;

void Compressor::pass(std::span<const std::byte> bytes, bool last) {
  const std::span<std::byte> room(room_.data(), room_.size());
  for (bool ended = false; last ? !ended : !bytes.empty();) {
    const Encoder::Step step = encoder_->step(bytes, room, last);
    if (step.made != 0) take_(room.first(step.made));
    bytes = bytes.subspan(step.taken);
    ended = step.ended;
  }
}

}  // namespace dapple::detail
