// The head of a Matrix Market file, the words of its text that all readers share, and the readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "dapple/error.h"
#include "dapple/value_type.h"
#include "lib/base/number_window.h"
#include "lib/base/text.h"
#include "lib/foreign/text/import.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::mtx {

/// Rows and columns that the reader of coordinate files takes.
inline constexpr std::uint64_t kMostIndex = 0xffff'ffff;

enum class Symmetry : std::uint8_t { general, symmetric, skew };

struct Header {
  bool coordinate = false;
  bool pattern = false;                   // entries have no value: each is 1
  ValueType value_type = ValueType::f64;  // u8 for patterns, i64 or u64, f64
  Symmetry symmetry = Symmetry::general;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t entries = 0;  // of a coordinate file: lines that hold one
  std::uint64_t data = 0;     // byte where the values start
};

/// The text of a whole file.
struct Text {
  const std::string& file;
  const char* base;
  const char* end;

  explicit Text(const ByteSource& mapped)
      : file(mapped.name()),
        base(reinterpret_cast<const char*>(mapped.at(0, mapped.size()))),
        end(base + mapped.size()) {}

  std::uint64_t offset(const char* p) const { return static_cast<std::uint64_t>(p - base); }

  /// The number of the line that `p` is in, from 1.
  std::string line(const char* p) const;

  /// Throws: "line <of p>: <what>", for the byte at `p`. O(bytes before p), to count the lines.
  [[noreturn]] void fail(Errc code, const char* p, const std::string& what,
                         std::string_view option = {}) const;
  /// Throws that there is no `wanted` at `p`: "line 3 has 'x' where a number should be".
  [[noreturn]] void fail_at(Errc code, const char* p, const std::string& wanted) const;
  /// Throws that the type does not hold the number at `p`.
  [[noreturn]] void fail_range(const char* p, ValueType type) const;
};

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

inline const char* skip_blanks(const char* p, const char* end) noexcept {
  while (p != end && is_blank(*p)) ++p;
  return p;
}

/// True after the last character of a token.
inline bool at_token_end(const char* p, const char* end) noexcept {
  return p == end || is_blank(*p) || *p == '\n';
}

/// The token that starts at `p`; empty at a blank, a line end and the end.
std::string_view token_at(const char* p, const char* end) noexcept;

/// The start of the next line, or the end.
const char* next_line(const char* p, const char* end) noexcept;

/// What was read of the number at `p`, whose exponent starts with a D as Fortran writes it, and all
/// of it.
NumberText with_fortran_exponent(const char* p, const char* end, const NumberText& read,
                                 double& value);

/// Reads the number at `p`, after which `is_end` has to hold, and returns where it ends. Throws
/// corrupt; type_mismatch for one that T does not hold.
template <class T, class IsEnd>
const char* read_value(const Text& text, NumberWindow& window, const char* p, const IsEnd& is_end,
                       T& value) {
  NumberText number = window.read_at(p, value);
  if constexpr (std::is_floating_point_v<T>) {
    if (number.error == NumberError::none && number.end != text.end &&
        (*number.end | 0x20) == 'd') {
      number = with_fortran_exponent(p, text.end, number, value);
    }
  }
  if (number.error == NumberError::no_number || !is_end(number.end)) {
    text.fail_at(Errc::corrupt, p, std::is_floating_point_v<T> ? "a number" : "an integer");
  }
  if (number.error == NumberError::out_of_range) text.fail_range(p, value_type_of<T>());
  return number.end;
}

/// Reads banner, comments and sizes. Throws corrupt; unsupported for complex
/// matrices and for objects that are no matrix.
Header read_header(const Text& text);

/// The bits of the value that mirrors this one in a skew-symmetric matrix. REQUIRES that i64 has
/// it: not the smallest.
std::uint64_t negated(ValueType type, std::uint64_t bits) noexcept;

/// True when a file starts with these bytes and may be Matrix Market text.
bool has_banner(std::string_view head) noexcept;

// The two kinds of files. Both throw as `parse_mtx`.

/// All values of a dense matrix, column after column. REQUIRES an array header.
void parse_array(const Text& text, const Header& header, texts::Import& import);

/// One entry per line, in any order, as bands of rows. REQUIRES a coordinate header.
void parse_coordinate(const Text& text, const Header& header, unsigned threads,
                      texts::Import& import);

}  // namespace dapple::detail::mtx
