// The cells of text values, computed while the text is scanned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dapple/error.h"
#include "lib/base/bytes.h"
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
    if (space_) return;
    space_.emplace(4 * text + kSlack);
    if (std::byte* const memory = space_->memory()) {
      next_ = memory;
      end_ = memory + space_->size();
    } else {
      buffer_.resize(kBuffer);
      next_ = buffer_.data();
      end_ = next_ + kBuffer;
    }
  }

  /// The low bytes of `bits`. REQUIRES expect(). Throws io.
  void add(std::uint64_t bits, std::size_t size) {
    if (end_ - next_ < static_cast<std::ptrdiff_t>(sizeof bits)) flush();
    store_le(next_, bits);
    next_ += size;
    added_ += size;
  }
  /// Bytes so far.
  std::uint64_t size() const noexcept { return added_; }
  /// REQUIRED after the last cell. Throws io.
  void finish() {
    if (!buffer_.empty()) flush();
  }
  /// REQUIRES finish(), bytes that were added.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const { return space_->at(offset, n); }

 private:
  static constexpr std::uint64_t kSlack = 16;
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  void flush() {
    // There is always room, unless the text grows while it is read.
    if (buffer_.empty()) throw Error(Errc::io, "the text changes while it is read");
    const auto n = static_cast<std::size_t>(next_ - buffer_.data());
    if (n > space_->size() - flushed_) throw Error(Errc::io, "the text changes while it is read");
    space_->write_at(flushed_, {buffer_.data(), n});
    flushed_ += n;
    next_ = buffer_.data();
  }

  std::optional<Scratch> space_;
  std::vector<std::byte> buffer_;  // unless the space is in memory
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint64_t flushed_ = 0, added_ = 0;
};

}  // namespace dapple::detail::futhark
