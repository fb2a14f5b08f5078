// The header of a .npy file: parse beside emit. FORMAT.md gives every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/column.h"
#include "dapple/region.h"
#include "dapple/value_type.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::npy {

inline constexpr std::string_view kMagic = "\x93NUMPY";

/// How the values of a field are stored.
enum class Form : std::uint8_t {
  plain,       // as the value type
  half,        // f2, read as f32
  bytes,       // S: bytes of UTF-8, filled up with zeros
  characters,  // U: characters of 32 bits, filled up with zeros
};

/// One field of a record; a plain array has a single one without a label.
struct Field {
  std::string label;
  ValueType type = ValueType::f64;
  bool swapped = false;      // big-endian
  std::uint64_t offset = 0;  // inside the item
  std::uint64_t size = 8;    // bytes in the file
  Form form = Form::plain;
  Meaning meaning{};  // of a record's field; words are the driver's (npy_values.h)

  bool in_place() const noexcept { return form == Form::plain && !swapped; }
  bool has_words() const noexcept { return form == Form::bytes || form == Form::characters; }
};

struct Header {
  bool records = false;
  std::vector<Field> fields;
  std::uint64_t item_size = 0;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data = 0;  // byte of the file where the array starts
};

/// Where texts may be: a matrix is of numbers.
enum class Words : bool { in_records, alone };

/// The header of the array in bytes `within` of a file. Throws corrupt, naming the byte;
/// unsupported for a version, an item type or a nesting that is not read. The array itself is not
/// looked at.
Header parse_header(const ByteSource& file, Range within, Words words = Words::in_records);

/// Bytes of an array of `items` items, compared with what `within` has for it. Throws corrupt.
std::uint64_t array_bytes(const Header& header, std::uint64_t items, const ByteSource& file,
                          Range within);

/// The bytes that numpy.save writes in front of an array of this schema, in C order, with meanings
/// where `meanings`; `widths` are the characters of each column of words, 0 for other columns.
/// Throws unsupported when NumPy cannot hold a label or the shape.
std::string emit_header(const Schema& schema, bool meanings, std::span<const std::uint64_t> widths);

// Item types as NumPy spells them: "<f8", "|S5", "<M8[us]".

/// Byte order, kind, size.
struct Dtype {
  char kind = 0;
  std::uint64_t size = 0;
  bool swapped = false;
  std::string_view unit{};  // of times
};

/// Nothing of use (kind 0) when it is spelled otherwise.
Dtype split_dtype(std::string_view text);

/// Sets type, form, size and meaning of a record's field; false for what cannot be read.
bool describe(const Dtype& dtype, Field& field);

/// As numpy.save spells a type of numbers, little-endian.
std::string spell_dtype(ValueType type);

}  // namespace dapple::detail::npy
