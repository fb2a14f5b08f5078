// The values of an array file as a sequence: found by number, read in order.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/number_window.h"
#include "lib/base/text.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

/// Where values are in the text.
struct Positions {
  static constexpr std::uint64_t kStep = 256;
  std::vector<std::uint64_t> bytes;  // of values 0, kStep, 2 * kStep, ...
  bool comments = false;             // there are comments between the values
};

/// Goes through the text once. Throws corrupt when there are not exactly `count` values. Memory:
/// 8 bytes per kStep values.
Positions find_values(const Text& text, std::uint64_t data, std::uint64_t count);

/// Reads values one after the other, from any number on.
class ValueReader {
 public:
  /// Both must outlive the reader.
  ValueReader(const Text& text, const Positions& positions)
      : text_(text), positions_(positions), window_(text.end) {}

  /// Goes to value `number`. O(kStep), in steps of 64 bytes.
  void seek(std::uint64_t number);
  /// The next value. Throws corrupt, type_mismatch.
  template <class T>
  T read();
  /// First byte of the next value, or the end.
  const char* at() const noexcept { return p_; }

  /// Throws type_mismatch for the value read last, which could be rounded to the type or not.
  [[noreturn]] void fail_type(ValueType wanted, bool rounds = false) const;

 private:
  const Text& text_;
  const Positions& positions_;
  std::uint64_t number_ = 0;  // of the value at p_, once there is one
  const char* p_ = nullptr;
  const char* last_ = nullptr;
  NumberWindow window_;
};

/// Everything up to the blank separates values; other control characters fail when they are read.
inline bool is_space(char c) noexcept { return static_cast<unsigned char>(c) <= ' '; }

/// The value that starts at `p` or after it.
const char* find_value(const char* p, const char* end, bool comments) noexcept;

template <class T>
T ValueReader::read() {
  T value{};
  last_ = p_;
  const NumberText text = window_.read_at(p_, value);
  const bool whole = text.end == text_.end || is_space(*text.end);
  if (text.error == NumberError::no_number || !whole) {
    text_.fail_at(Errc::corrupt, p_, std::is_floating_point_v<T> ? "a number" : "an integer");
  }
  if (text.error == NumberError::out_of_range) fail_type(value_type_of<T>());
  p_ = find_value(text.end, text_.end, positions_.comments);
  ++number_;
  return value;
}

}  // namespace dapple::detail::mtx
