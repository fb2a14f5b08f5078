// The values of a field, of either byte order and of half precision, too; its texts are words of a
// dictionary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dapple/value_type.h"
#include "lib/foreign/npy/npy_header.h"
#include "lib/object/lazy_words.h"

namespace dapple::detail::npy {

/// Copies `n` values, `from_step` bytes apart, to values of type `to`, `to_step` bytes apart.
/// Returns how many fitted, as `convert_cells` does. REQUIRES a field that is not of words.
std::size_t copy_values(const Field& field, const std::byte* from, std::size_t from_step,
                        ValueType to, std::byte* target, std::size_t to_step, std::size_t n);

/// A dimension in memory: `extent` steps of `stride` bytes.
struct Dimension {
  std::uint64_t extent, stride;
};

/// Where the cells of an array are.
struct Layout {
  std::uint64_t data = 0;        // byte of the file where the array starts
  std::vector<Dimension> rows;   // the row number is split over these, the last one runs fastest
  std::uint64_t col_stride = 0;  // of a matrix
  std::vector<Field> fields;     // of a frame, one per column; of a matrix, one
  bool records = false;

  const Field& field(std::uint64_t col) const { return fields[records ? col : 0]; }

  /// Byte of the file where a cell's value starts.
  std::uint64_t at(std::uint64_t row, std::uint64_t col) const {
    std::uint64_t offset = data + (records ? fields[col].offset : col * col_stride);
    for (auto d = rows.rbegin(); d != rows.rend(); ++d) {
      offset += row % d->extent * d->stride;
      row /= d->extent;
    }
    return offset;
  }

  /// Rows from `row` on that follow each other at one stride.
  std::uint64_t even_rows(std::uint64_t row) const {
    return rows.back().extent - row % rows.back().extent;
  }
  std::uint64_t row_stride() const { return rows.back().stride; }
};

/// The words of a field of texts, which its layout has alone. Texts that are not UTF-8, or hold no
/// characters, are corrupt.
class FieldWords final : public LazyWords {
 public:
  FieldWords(std::shared_ptr<ByteSource> file, Layout layout, std::uint64_t rows)
      : file_(std::move(file)), layout_(std::move(layout)), rows_(rows) {}

 private:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override;

  std::shared_ptr<ByteSource> file_;
  Layout layout_;
  std::uint64_t rows_;
};

/// Characters of the longest word of a column, at least 1, as NumPy counts the width of U. Throws
/// unsupported for a word that ends in NUL, which NumPy takes for the filling after it.
std::uint64_t width_of(const Column& column);

/// Writes a word as characters of 32 bits, filled up with zeros to `width` of them.
void put_characters(std::byte* to, std::string_view word, std::uint64_t width) noexcept;

/// The text of an array that is a single string. Throws corrupt, unsupported when it is anything
/// else.
std::string read_word(const ByteSource& file, Range within);

}  // namespace dapple::detail::npy
