// A Futhark file is a list of values, text and binary in any mixture. This finds where each one
// lies and what it is; elements are decoded later, tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/number.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::futhark {

/// Elements of a text value that are decoded together: a multiple of whole rows, or a part of one
/// row that is longer.
inline constexpr std::uint64_t kTileElements = 32768;

/// Where the text of a tile starts.
struct TileStart {
  std::uint64_t offset = 0;    // of its first element
  std::uint8_t in_string = 0;  // n: it is the n-th byte of the character there, inside "..."
};

/// One value of a stream.
struct StreamValue {
  ElementType element = ElementType::i32;
  bool binary = false;
  std::vector<std::uint64_t> dims;  // none: a scalar
  std::uint64_t begin = 0;          // bytes of the file, header or brackets included
  std::uint64_t end = 0;
  std::uint64_t data = 0;        // first byte of the elements
  std::vector<TileStart> tiles;  // of a text value, in order

  /// The matrix that the value is read as: the last dimension in columns, all others in rows; a
  /// vector is one column, a scalar one cell.
  std::uint64_t rows() const noexcept;
  std::uint64_t cols() const noexcept;
  /// Rows and columns of a tile of text; only those at the ends are smaller.
  std::uint64_t tile_rows() const noexcept;
  std::uint64_t tile_cols() const noexcept;
};

/// Messages for shapes that do not work out.
std::string too_many_elements(const std::string& type);
std::string uneven_row(std::uint64_t found, std::uint64_t wanted);

/// The bytes of a stream, and the errors that blame one of them.
struct StreamBytes {
  const char* begin;
  const char* end;
  const std::string& file;
  bool text_only = true;  // so far: lines can be counted

  std::uint64_t offset(const char* at) const noexcept {
    return static_cast<std::uint64_t>(at - begin);
  }
  /// Throws corrupt: "what is at `at` where WANTED should be, in line N".
  [[noreturn]] void fail(const char* at, std::string_view wanted) const;
  [[noreturn]] void fail_as(Errc code, const char* at, const std::string& detail) const;
};

/// Reads the values of a stream one after the other. One thread. Memory: the dimensions and tiles
/// of one value, at most a thousandth of its text.
class StreamReader {
 public:
  /// `types`: one for each value, as a compiled program knows them; empty: the text decides.
  /// `file` must outlive the reader.
  StreamReader(const ByteSource& file, std::vector<Type> types);

  /// Finds the next value; false after the last. Throws corrupt, type_mismatch when a value is
  /// not of the type given for it, io. Looks at every byte of a text value, and at the header of
  /// a binary one.
  bool next(StreamValue& value);

  Dialect dialect() const noexcept { return types_.empty() ? Dialect::untyped : Dialect::typed; }

 private:
  bool at_typed_end();
  void read_binary(StreamValue& value);

  StreamBytes in_;
  const char* at_;
  std::vector<Type> types_;
  std::size_t read_ = 0;  // values so far
};

/// The number of elements, or nothing when it, or the rows it is folded to, exceed 2^63 - 1.
std::optional<std::uint64_t> count_elements(std::span<const std::uint64_t> dims) noexcept;

/// The text value at `p`: fills in all but `begin` and `end`, and returns where it ends.
const char* scan_untyped(const StreamBytes& in, const char* p, StreamValue& value);
const char* scan_typed(const StreamBytes& in, const char* p, const Type& type, StreamValue& value);

}  // namespace dapple::detail::futhark
