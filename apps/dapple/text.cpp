#include "text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dapple::cli {

namespace {

/// Length of the UTF-8 sequence that `text` starts with; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : n;
}

/// True for control characters, and for those that end lines or turn the direction of text.
bool is_control(std::string_view sequence) noexcept {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (first == 0xC2) return static_cast<unsigned char>(sequence[1]) < 0xA0;
  if (first == 0xD8) return sequence == "\u061c";
  if (first == 0xE2) {
    const auto within = [&](std::string_view a, std::string_view b) {
      return a <= sequence && sequence <= b;
    };
    return within("\u200e", "\u200f") || within("\u2028", "\u202e") || within("\u2066", "\u2069");
  }
  return first < 0x20 || first == 0x7F;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t n = sequence_length(bytes);
    if (n > 0 && !is_control(bytes.substr(0, n))) {
      text += bytes.substr(0, n);
      bytes.remove_prefix(n);
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
    }
  }
  return text;
}

std::string shell_word(std::string_view bytes) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  const std::string text = printable(bytes);
  const bool plain = text.find_first_not_of(kPlain) == text.npos;
  if (plain && !text.empty()) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + '\'';
}

bool is_same_name(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool has_ending(std::string_view name, std::string_view ending) noexcept {
  return name.size() >= ending.size() &&
         is_same_name(name.substr(name.size() - ending.size()), ending);
}

std::size_t display_width(std::string_view printable_text) noexcept {
  std::size_t width = 0;
  for (const char c : printable_text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++width;
  }
  return width;
}

std::string shortened(std::string_view printable_text, std::size_t width) {
  if (display_width(printable_text) <= width) return std::string(printable_text);
  const std::string_view sign = width > 3 ? "..." : "~";
  const std::size_t keep = width > sign.size() ? width - sign.size() : 0;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < printable_text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(printable_text[end]) & 0xC0) != 0x80;
    if (starts && seen++ == keep) break;
  }
  return std::string(printable_text.substr(0, end)).append(sign);
}

std::string folded(std::string line, std::size_t width) {
  std::size_t begin = 0;
  while (line.size() - begin > width) {
    std::size_t space = line.rfind(' ', begin + width);
    if (space == std::string::npos || space <= begin) space = line.find(' ', begin + width);
    if (space == std::string::npos) break;
    line[space] = '\n';
    begin = space + 1;
  }
  return line + '\n';
}

std::string label_text(std::string_view label, std::size_t width) {
  const std::string text = shortened(printable(label), width);
  const bool bare = !text.empty() && text.front() != ' ' && text.back() != ' ';
  return bare ? text : '"' + text + '"';
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return counted(bytes, "byte");
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1023.95 && unit + 1 < units.size()) {  // what would print as 1024.0
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, units[unit]);
}

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::size_t digits(std::uint64_t n) noexcept {
  std::size_t count = 1;
  for (; n >= 10; n /= 10) ++count;
  return count;
}

std::string kinds_text(const BlockCounts& counts) {
  const std::array<std::pair<std::uint64_t, BlockKind>, 4> all = {{
      {counts.empty, BlockKind::empty},
      {counts.dense, BlockKind::dense},
      {counts.csr, BlockKind::csr},
      {counts.coo, BlockKind::coo},
  }};
  std::string text;
  for (const auto& [n, kind] : all) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, name(kind));
  }
  return text;
}

}  // namespace dapple::cli
