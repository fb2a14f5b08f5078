// Small pieces of text: names from untrusted files, sizes, counts, values of cells.
#pragma once

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "dapple/blocked_object.h"
#include "dapple/column.h"
#include "dapple/value_type.h"

namespace dapple::cli {

/// `bytes` made safe for one line of a terminal: control characters and bytes that are not valid
/// UTF-8 become \xNN.
std::string printable(std::string_view bytes);

/// The same as a word of a command for a shell: in quotes where that needs them.
std::string shell_word(std::string_view bytes);

/// Whether two names are the same but for capitals.
bool is_same_name(std::string_view a, std::string_view b) noexcept;
/// Whether a file's name ends so, in capitals or not.
bool has_ending(std::string_view name, std::string_view ending) noexcept;

/// Columns that printable text takes up: one per code point.
std::size_t display_width(std::string_view printable_text) noexcept;

/// `printable_text` cut to `width` columns, with "..." (in fewer than four, "~") at its end when
/// something is missing.
std::string shortened(std::string_view printable_text, std::size_t width);

/// `line` and a line end, cut where spaces are so that no part is longer than `width` unless it is
/// one word.
std::string folded(std::string line, std::size_t width);

/// A label for the screen, at most `width` columns wide; in quotes if it is empty, or starts or
/// ends with a blank.
std::string label_text(std::string_view label, std::size_t width);

/// "119.9 MiB", "65 bytes".
std::string human_size(std::uint64_t bytes);

/// "1 block", "2 blocks": `noun` is the singular of a word whose plural takes an s.
std::string counted(std::uint64_t n, std::string_view noun);

/// Decimal digits of `n`.
std::size_t digits(std::uint64_t n) noexcept;

/// "31 empty, 61 csr": the kinds that occur.
std::string kinds_text(const BlockCounts& counts);

/// A number as dapple::append_number has it; with `short_floats`, an f32 in the fewest digits that
/// read back as f32.
template <Value T>
std::string cell_text(T value, bool short_floats = false) {
  if constexpr (std::is_same_v<T, float>) {
    if (short_floats && std::isfinite(value)) {
      std::array<char, 24> digits;
      return {digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
    }
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  std::string text;
  append_number(value_type_of<T>(), bits, text);
  return text;
}

}  // namespace dapple::cli
