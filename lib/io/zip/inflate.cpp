#include "lib/io/zip/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "lib/base/bytes.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail::zip {

namespace {

/// Hands out the contents of parts, and zeros between them.
class Unpacker {
 public:
  Unpacker(const ByteSource& archive, std::span<const Packed> parts)
      : archive_(archive), parts_(parts) {
    constexpr int kRaw = -15;
    if (inflateInit2(&stream_, kRaw) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  std::size_t read(std::span<std::byte> out) {
    while (!parts_.empty()) {
      const Packed& part = parts_.front();
      if (made_ < part.size) return count(part, out.first(step(part, out)));
      if (made_ == part.size && checked_ == false) check(part);
      const std::uint64_t padded = round_up(part.size, kUnpackedAlign);
      if (made_ < padded) return pad(out.first(std::min(out.size(), padded - made_)));
      next();
    }
    return 0;
  }

 private:
  static uInt available(std::uint64_t n) {
    return static_cast<uInt>(std::min<std::uint64_t>(n, std::numeric_limits<uInt>::max()));
  }

  std::size_t step(const Packed& part, std::span<std::byte> out) {
    const std::uint64_t left = part.bytes.size() - taken_;
    const std::byte* const from = archive_.at(part.bytes.begin + taken_, left);
    const auto room = available(std::min<std::uint64_t>(out.size(), part.size - made_));
    if (!part.deflated) {
      std::memcpy(out.data(), from, room);
      taken_ += room;
      return room;
    }
    const uInt given = available(left);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    taken_ += given - stream_.avail_in;
    const uInt made = room - stream_.avail_out;
    if (result != Z_OK && result != Z_STREAM_END) fail(part, "the deflated data is damaged");
    if (made == 0 && (result == Z_STREAM_END || taken_ == part.bytes.size())) {
      fail(part, "the deflated data ends before its content does");
    }
    return made;
  }

  std::size_t count(const Packed&, std::span<const std::byte> made) {
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(made.data()), made.size());
    made_ += made.size();
    return made.size();
  }

  void check(const Packed& part) {
    if (crc_ != part.crc) fail(part, "the content of a member does not match its CRC");
    checked_ = true;
  }

  std::size_t pad(std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{0});
    made_ += out.size();
    return out.size();
  }

  void next() {
    parts_ = parts_.subspan(1);
    taken_ = made_ = 0;
    crc_ = 0;
    checked_ = false;
    inflateReset(&stream_);
  }

  [[noreturn]] void fail(const Packed& part, const std::string& what) const {
    throw Error(Errc::corrupt, archive_.name(), part.bytes.begin + taken_, what);
  }

  const ByteSource& archive_;
  std::span<const Packed> parts_;
  std::uint64_t taken_ = 0, made_ = 0;  // of the part that is being read
  uLong crc_ = 0;
  bool checked_ = false;
  z_stream stream_{};
};

}  // namespace

std::shared_ptr<ByteSource> unpack(const ByteSource& archive, std::span<const Packed> parts) {
  // Deflate makes at most 1032 bytes of one, so a size that lies is seen before space is used up.
  constexpr std::uint64_t kMostRatio = 1032;
  for (const Packed& part : parts) {
    if (part.deflated && part.size / kMostRatio > part.bytes.size()) {
      throw Error(
          Errc::corrupt, archive.name(), part.bytes.begin,
          counted(part.size, "byte") + " cannot come out of " + std::to_string(part.bytes.size()));
    }
  }
  Unpacker unpacker(archive, parts);
  return LocalFile::spool([&](std::span<std::byte> out) { return unpacker.read(out); },
                          archive.name());
}

}  // namespace dapple::detail::zip
