// Arrays of numbers in an archive, which sparse matrices are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/region.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/npy/npy_header.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::npz {

struct Numbers {
  std::shared_ptr<const ByteSource> file;
  npy::Field field;
  std::vector<std::uint64_t> shape;
  bool fortran = false;
  std::uint64_t offset = 0, bytes = 0;  // where they are in the file
  const std::byte* data = nullptr;      // the same in memory
};

/// The array in bytes `within` of a file. Throws corrupt when it has another number of dimensions,
/// or is longer than the file; unsupported when it does not hold numbers.
Numbers open_numbers(std::shared_ptr<const ByteSource> file, Range within, std::string_view name,
                     std::size_t dimensions);

/// Its items along the first dimension, each in C order as values of the field's type: in place if
/// they are stored so. REQUIRES one dimension or three.
arrays::Items items_of(const Numbers& numbers);

/// Items of an array of one dimension, of 4 or 8 bytes each. Throws corrupt also unless they
/// are integers.
arrays::Items open_integers(std::shared_ptr<const ByteSource> file, Range within,
                            std::string_view name);
/// The same of numbers that were opened.
arrays::Items integers_of(const Numbers& numbers, std::string_view name);

/// Line `i` of an array of two dimensions. REQUIRES C order, i below the first extent.
Numbers line_of(const Numbers& numbers, std::uint64_t i);

/// Loads a signed integer. REQUIRES items in place or loaded.
std::int64_t signed_item(const arrays::Items& items, std::uint64_t i) noexcept;

}  // namespace dapple::detail::npz
