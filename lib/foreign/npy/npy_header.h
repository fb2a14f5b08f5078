// The header of a .npy file: parse beside emit. FORMAT.md gives every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/value_type.h"
#include "lib/io/file.h"
#include "lib/object/schema.h"

namespace dapple::detail::npy {

inline constexpr std::string_view kMagic = "\x93NUMPY";

/// One field of a record; a plain array has a single one without a label.
struct Field {
  std::string label;
  ValueType type = ValueType::f64;
  bool swapped = false;      // big-endian
  std::uint64_t offset = 0;  // inside the item
};

struct Header {
  bool records = false;
  std::vector<Field> fields;
  std::uint64_t item_size = 0;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data = 0;  // byte of the file where the array starts
};

/// Throws corrupt, naming the byte; unsupported for a version, an item type or a nesting that is
/// not read. The array itself is not looked at.
Header parse_header(const MappedFile& file);

/// The bytes that numpy.save writes in front of an array of this schema, in C order. Throws
/// unsupported when NumPy cannot hold a label or the shape.
std::string emit_header(const Schema& schema);

}  // namespace dapple::detail::npy
