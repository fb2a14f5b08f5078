// Holds everything that the library says of a file against the reference reader.
#pragma once

#include <filesystem>
#include <string>

#include "dapple/open.h"
#include "tests/reference.h"
#include "tests/support.h"

namespace dapple::test {

enum class Demand : std::uint8_t {
  equal,           // the same object, cell for cell; an error exactly where a block is at fault
  equal_or_error,  // each answer is the same, or an Error
  cells_or_error,  // each cell that is handed out is the same, or an Error; shape and blocks may
                   // differ (for files that the reference refuses to read at all)
};

/// Opens the file and asks for its schema, its blocks, and each cell in every way there is. Returns
/// the first difference in words, or "".
std::string difference(const std::filesystem::path& path, const reference::Object& expected,
                       Demand demand = Demand::equal, const OpenOptions& options = {});

/// Reads `path` with the reference reader and with the library, and holds them against each other.
inline std::string difference(const std::filesystem::path& path) {
  return difference(path, reference::read(read_bytes(path)));
}

/// A cell's value, exactly.
long double exact_number(const reference::Object& object, std::uint64_t row, std::uint64_t col);

/// The same as it is rounded to f64.
inline double rounded_number(const reference::Object& object, std::uint64_t row,
                             std::uint64_t col) {
  return static_cast<double>(exact_number(object, row, col));
}

}  // namespace dapple::test
