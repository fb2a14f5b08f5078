#include "lib/dbdf/index_traces.h"

#include <string.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"

namespace dapple::detail::dbdf {

namespace {

// Before the payload are the position, the number of lines, and these: 64 columns, dense, u8.
constexpr std::array<unsigned char, 6> kLineShape = {kLine, 0, 0, 0, 1, 1};
constexpr std::uint64_t kInFront = kPosition + kDenseHeader;
constexpr std::array<unsigned char, kPosition> kPositionBytes = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

// True when the bytes differ in a few bits at most. The tags of padding and index differ in ten, so
// one is not taken for the other.
bool is_like(const std::byte* p, std::span<const unsigned char> bytes, int most = 4) {
  int differ = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    differ += std::popcount(static_cast<unsigned>(std::to_integer<unsigned char>(p[i]) ^ bytes[i]));
  }
  return differ <= most;
}

std::span<const unsigned char> characters(const char* tag) {
  return {reinterpret_cast<const unsigned char*>(tag), kTag};
}

class Traces {
 public:
  Traces(const ByteSource& file, std::uint64_t from)
      : all_(file.at(0, file.size())),
        size_(file.size()),
        from_(from),
        ends_in_trailer_(ends_like_trailer(file)) {}

  std::optional<std::uint64_t> find() {
    if (size_ < kLine || from_ > size_ - kLine) return std::nullopt;
    each(kPositionBytes, kInFront);
    each(kLineShape, kLineShape.size());
    each(characters(kIndexTag), 0);
    const std::uint64_t bytes = trailer_bytes();
    if (bytes <= size_) try_payload(size_ - bytes);
    return best_ == 0 ? std::nullopt : std::optional(payload_);
  }

 private:
  std::uint64_t trailer_bytes() const {
    return load_le<std::uint64_t>(all_ + size_ - kLine + trailer_at::bytes);
  }

  // Tries the place `distance` bytes after the start of each occurrence of `bytes`.
  void each(std::span<const unsigned char> bytes, std::uint64_t distance) {
    const std::byte* const end = all_ + size_;
    for (const std::byte* p = all_ + from_; p < end; ++p) {
      p = static_cast<const std::byte*>(
          ::memmem(p, static_cast<std::size_t>(end - p), bytes.data(), bytes.size()));
      if (p == nullptr) return;
      try_payload(static_cast<std::uint64_t>(p - all_) + distance);
    }
  }

  void try_payload(std::uint64_t at) {
    if (at < from_ || at - from_ < kInFront || at > size_ || size_ - at < kTag) return;
    const std::byte* const p = all_ + at;
    const std::uint64_t lines = load_le<std::uint32_t>(p - kDenseHeader), left = size_ - at;
    const bool tag = is_like(p, characters(kIndexTag));
    const bool trailer = left >= 2 * kLine &&
                         (trailer_bytes() == left || (ends_in_trailer_ && lines * kLine == left));
    const bool position = is_like(p - kInFront, kPositionBytes);
    const bool shape = lines >= 2 && is_like(p - kLineShape.size(), kLineShape, 1);
    const int score = tag + trailer + position + shape;
    if ((!tag && !trailer) || score < 2) return;
    if (score > best_ || (score == best_ && at > payload_)) {
      best_ = score;
      payload_ = at;
    }
  }

  const std::byte* all_;
  std::uint64_t size_, from_;
  bool ends_in_trailer_;
  int best_ = 0;
  std::uint64_t payload_ = 0;
};

}  // namespace

bool ends_like_trailer(const ByteSource& file) {
  return file.size() >= kLine &&
         is_like(file.at(file.size() - kTag, kTag), characters(kTrailerTag));
}

std::optional<std::uint64_t> find_damaged_index(const ByteSource& file, std::uint64_t from) {
  return Traces(file, from).find();
}

}  // namespace dapple::detail::dbdf
