// The cells of text values, computed while the text is scanned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "dapple/error.h"
#include "lib/io/scratch.h"

namespace dapple::detail::futhark {

/// Cells one after the other in working space (lib/io/scratch.h): how many make a row is known only
/// at the end of the first. One thread adds them; then any number of threads may read them.
class TextCells {
 public:
  /// Makes room for what `text` bytes of text can hold, once. An element takes two bytes of text
  /// and eight of cells at most; a character of a string is one byte, and two cells of one. Throws
  /// io.
  void expect(std::uint64_t text) {
    if (!space_) space_.emplace(4 * text + kSlack);
  }
  /// The low bytes of `bits`. REQUIRES expect(). Throws io.
  void add(std::uint64_t bits, std::size_t size) {
    const std::size_t at = buffer_.size();
    buffer_.resize(at + size);
    std::memcpy(buffer_.data() + at, &bits, size);  // the low bytes come first
    if (buffer_.size() >= kBuffer) finish();
  }
  /// Bytes so far.
  std::uint64_t size() const noexcept { return written_ + buffer_.size(); }
  /// REQUIRED after the last cell. Throws io.
  void finish() {
    if (buffer_.empty()) return;
    // There is always room, unless the text grows while it is read.
    if (buffer_.size() > space_->size() - written_) {
      throw Error(Errc::io, "the text changes while it is read");
    }
    space_->write_at(written_, buffer_);
    written_ += buffer_.size();
    buffer_.clear();
  }
  /// REQUIRES finish(), bytes that were added.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const { return space_->at(offset, n); }

 private:
  static constexpr std::uint64_t kSlack = 16;
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  std::optional<Scratch> space_;
  std::vector<std::byte> buffer_;  // not yet in the space
  std::uint64_t written_ = 0;
};

}  // namespace dapple::detail::futhark
