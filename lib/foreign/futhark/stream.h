// A Futhark file is a list of values, text and binary in any mixture. This finds what each one is
// and where, and the cells of text.
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
#include "lib/foreign/futhark/text_cells.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::futhark {

/// Elements of a tile of text: a multiple of whole rows, or a part of one row that is longer.
inline constexpr std::uint64_t kTileElements = 32768;

/// One value of a stream.
struct StreamValue {
  ElementType element = ElementType::i32;
  bool binary = false;
  std::vector<std::uint64_t> dims;  // none: a scalar
  std::uint64_t begin = 0;          // bytes of the file, header or brackets included
  std::uint64_t end = 0;
  std::uint64_t data = 0;  // first byte of the elements: of the file, or of the cells of text

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

/// Reads the values of a stream one after the other. One thread.
class StreamReader {
 public:
  /// `types`: one for each value, as a compiled program knows them; empty: the text decides.
  /// `file` must outlive the reader.
  StreamReader(const ByteSource& file, std::vector<Type> types);

  /// Finds the next value; false after the last. Throws corrupt, type_mismatch when a value is
  /// not of the type given for it, io. Parses all of a text value, and adds its cells to `cells`,
  /// unless that is null; looks at the header of a binary one.
  bool next(StreamValue& value, TextCells* cells);

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

/// The text value at `p`, of that type if one is given: fills in all but `begin` and `end`, and
/// returns where it ends. Its cells go to `cells`, unless that is null.
const char* scan_text(const StreamBytes& in, const char* p, const Type* type, StreamValue& value,
                      TextCells* cells);

}  // namespace dapple::detail::futhark
