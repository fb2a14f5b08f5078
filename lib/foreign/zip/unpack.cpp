#include "lib/foreign/zip/unpack.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/codec/inflate.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail::zip {

namespace {

/// Hands out the contents of parts, and zeros between them.
class Unpacker {
 public:
  Unpacker(const ByteSource& archive, std::span<const Packed> parts)
      : archive_(archive), parts_(parts), stream_(Wrapper::raw) {}

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
  std::size_t step(const Packed& part, std::span<std::byte> out) {
    const std::uint64_t left = part.bytes.size() - taken_;
    const std::byte* const from = archive_.at(part.bytes.begin + taken_, left);
    out = out.first(std::min<std::uint64_t>(out.size(), part.size - made_));
    if (!part.deflated) {
      std::memcpy(out.data(), from, out.size());
      taken_ += out.size();
      return out.size();
    }
    const InflateStream::Step step = stream_.step({from, left}, out);
    taken_ += step.taken;
    if (step.state == InflateStream::State::damaged) fail(part, "the deflated data is damaged");
    if (step.made == 0 && step.state != InflateStream::State::goes_on) {
      fail(part, "the deflated data ends before its content does");
    }
    return step.made;
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
    stream_.restart();
  }

  [[noreturn]] void fail(const Packed& part, const std::string& what) const {
    throw Error(Errc::corrupt, archive_.name(), part.bytes.begin + taken_, what);
  }

  const ByteSource& archive_;
  std::span<const Packed> parts_;
  std::uint64_t taken_ = 0, made_ = 0;  // of the part that is being read
  uLong crc_ = 0;
  bool checked_ = false;
  InflateStream stream_;
};

}  // namespace

std::shared_ptr<ByteSource> unpack(const ByteSource& archive, std::span<const Packed> parts) {
  // A size that lies is seen before space is used up.
  for (const Packed& part : parts) {
    if (part.deflated && part.size / kMostInflation > part.bytes.size()) {
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
