// Item types as NumPy spells them in the header of a .npy file: "<f8", "|S5", "<M8[us]".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dapple/value_type.h"
#include "lib/foreign/npy/npy_header.h"

namespace dapple::detail::npy {

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
