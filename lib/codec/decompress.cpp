#include "lib/codec/decompress.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <string>

#include "lib/codec/inflate.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail {

namespace {

constexpr std::array kGzip = {std::byte{0x1f}, std::byte{0x8b}};
constexpr std::array kZstd = {std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd}};

template <class Magic>
bool starts_with(std::span<const std::byte> bytes, const Magic& magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

std::span<const std::byte> head_of(const ByteSource& file) {
  return file.bytes(0, std::min<std::uint64_t>(file.size(), kZstd.size()));
}

/// The compressed bytes that are left.
class Input {
 public:
  explicit Input(const ByteSource& file) : file_(file), left_(file.bytes(0, file.size())) {}

  std::span<const std::byte> left() const noexcept { return left_; }
  void skip(std::size_t n) noexcept { left_ = left_.subspan(n); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Errc::corrupt, file_.name(), file_.size() - left_.size(), what);
  }
  [[noreturn]] void fail_end() const { fail("the compressed data ends before its content does"); }

 private:
  const ByteSource& file_;
  std::span<const std::byte> left_;
};

class Gunzip {
 public:
  explicit Gunzip(const ByteSource& file) : in_(file), stream_(Wrapper::gzip) {}

  std::size_t read(std::span<std::byte> out) {
    std::size_t made = 0;
    while (made == 0 && !ended_) made = step(out);
    return made;
  }

 private:
  std::size_t step(std::span<std::byte> out) {
    const InflateStream::Step step = stream_.step(in_.left(), out);
    in_.skip(step.taken);
    switch (step.state) {
      case InflateStream::State::goes_on:
        break;
      case InflateStream::State::ended:
        end_member();
        break;
      case InflateStream::State::needs_more:
        in_.fail_end();
      case InflateStream::State::damaged:
        in_.fail("the gzip data is damaged");
    }
    return step.made;
  }

  // Another member may follow, or zeros, which gzip treats as padding.
  void end_member() {
    const auto rest = in_.left();
    if (starts_with(rest, kGzip)) {
      stream_.restart();
    } else {
      ended_ = true;
      const auto zero = [](std::byte b) { return b == std::byte{0}; };
      if (!std::all_of(rest.begin(), rest.end(), zero)) in_.fail("bytes follow the gzip data");
    }
  }

  Input in_;
  InflateStream stream_;
  bool ended_ = false;
};

class Unzstd {
 public:
  explicit Unzstd(const ByteSource& file) : in_(file), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Unzstd() { ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  std::size_t read(std::span<std::byte> out) {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0 && !(in_.left().empty() && at_end_)) {
      ZSTD_inBuffer from{in_.left().data(), in_.left().size(), 0};
      const std::size_t result = ZSTD_decompressStream(stream_, &to, &from);
      if (ZSTD_isError(result) != 0) {
        in_.fail(std::string("the zstd data is damaged: ") + ZSTD_getErrorName(result));
      }
      if (result != 0 && from.pos == 0 && to.pos == 0) in_.fail_end();
      in_.skip(from.pos);
      at_end_ = result == 0;
    }
    return to.pos;
  }

 private:
  Input in_;
  ZSTD_DStream* stream_;
  bool at_end_ = false;  // of a frame whose content was returned completely
};

template <class Decoder>
std::shared_ptr<ByteSource> spool_from(const ByteSource& file) {
  Decoder decoder(file);
  return LocalFile::spool([&](std::span<std::byte> out) { return decoder.read(out); }, file.name());
}

}  // namespace

bool is_compressed(const ByteSource& file) {
  const auto head = head_of(file);
  return starts_with(head, kGzip) || starts_with(head, kZstd);
}

std::shared_ptr<ByteSource> decompress(const ByteSource& file) {
  return starts_with(head_of(file), kGzip) ? spool_from<Gunzip>(file) : spool_from<Unzstd>(file);
}

}  // namespace dapple::detail
