// The few Python literals that the header of a .npy file is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dapple::detail::npy {

/// Reads literals front to back. All functions skip white space first, and throw corrupt with the
/// byte, what is there and what should be.
class LiteralReader {
 public:
  /// `text` starts at byte `offset` of `file`, and is UTF-8 or Latin-1. It and `file` must outlive
  /// the reader.
  LiteralReader(std::span<const std::byte> text, std::uint64_t offset, bool utf8,
                const std::string& file) noexcept
      : text_(reinterpret_cast<const char*>(text.data()), text.size()),
        offset_(offset),
        utf8_(utf8),
        file_(&file) {}

  /// Takes `c` if it comes next.
  bool take(char c);
  void expect(char c);
  /// True when `c` comes next; takes nothing.
  bool sees(char c);
  /// True when a string literal comes next.
  bool sees_string();
  /// Takes the end of the text.
  void expect_end();

  /// A string in single or double quotes, with Python's escapes, as UTF-8.
  std::string string();
  /// A decimal integer that is not negative, with an L after it where Python 2 wrote one.
  std::uint64_t integer();
  /// True or False.
  bool boolean();

  /// Byte of the file that is read next, white space skipped.
  std::uint64_t offset();
  [[noreturn]] void fail(const std::string& wanted);

 private:
  void skip_space();
  void append_escape(std::string& out);
  void append_digits(std::string& out, int digits);
  void append_verbatim(std::string& out);
  bool at_end() const noexcept { return at_ == text_.size(); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  bool utf8_;
  const std::string* file_;
};

/// `text` as Python's repr() writes it. The text must be valid UTF-8. Characters beyond Latin-1
/// that Python escapes because they are unassigned are written as they are.
std::string python_repr(std::string_view text);

}  // namespace dapple::detail::npy
