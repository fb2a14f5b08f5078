// A frame in a file: labelled columns, each of its own value type, stored in blocks.
//
//   dapple::Frame f = dapple::Frame::open("wine.dbdf");
//   std::vector<double> ph = f.read_column<double>(f.column("pH"), {0, f.rows()});
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/column.h"
#include "dapple/open.h"

namespace dapple {

/// Where `Frame::read_rows` puts one column: values of type `value_type`, `step` bytes apart, with
/// room for one per row.
struct ColumnBuffer {
  std::uint64_t col = 0;
  ValueType value_type = ValueType::f64;
  std::byte* data = nullptr;
  std::size_t step = 0;
};

class Frame : public BlockedObject {
 public:
  /// Like `dapple::open`; throws type_mismatch when the file holds a matrix.
  static Frame open(const std::filesystem::path& path, OpenOptions options = {}) {
    return Frame(detail::open_only(detail::Wanted::frame, path, options));
  }
  /// The same for the bytes of a file, as `dapple::open` of them.
  static Frame open(std::span<const std::byte> bytes, std::string name = "memory",
                    OpenOptions options = {}) {
    return Frame(detail::open_only(detail::Wanted::frame, bytes, std::move(name), options));
  }
  /// The same for bytes that are read in ranges.
  static Frame open(std::shared_ptr<const RangeReader> reader, std::string name,
                    OpenOptions options = {}) {
    return Frame(
        detail::open_only(detail::Wanted::frame, std::move(reader), std::move(name), options));
  }

  /// The label as stored; valid as long as the frame. UTF-8 is customary, but a file may hold any
  /// bytes. Throws out_of_range.
  const std::string& label(std::uint64_t col) const&;
  std::string label(std::uint64_t col) const&& { return label(col); }
  /// Label, value type and meaning of a column; valid as long as the frame. Throws out_of_range.
  const Column& column_info(std::uint64_t col) const&;
  Column column_info(std::uint64_t col) const&& { return column_info(col); }

  /// The first column with that label. Without one, `find_column` returns nothing and `column`
  /// throws absent, suggesting a label of similar spelling. O(cols).
  std::optional<std::uint64_t> find_column(std::string_view label) const noexcept;
  std::uint64_t column(std::string_view label) const;

  /// The columns of each group, in order (`ColumnGroup`). O(cols).
  std::vector<Range> groups() const;
  /// The columns of the last group of that name, or nothing. O(cols).
  std::optional<Range> find_group(std::string_view name) const;

  /// Copies rows of one column. Every value must fit T exactly (R6, R8). Throws what
  /// `Matrix::read` throws.
  template <Value T>
  void read_column(std::uint64_t col, Range rows, std::span<T> out,
                   const ReadOptions& options = {}) const {
    read_to({rows, {col, col + 1}}, out.data(), out.size(), 0, value_type_of<T>(), options);
  }
  template <Value T>
  std::vector<T> read_column(std::uint64_t col, Range rows, const ReadOptions& options = {}) const;

  /// For each of these rows, 1 if the column has a value there, 0 where it is missing
  /// (`Meaning::missing`, code 0 of words). Throws what `read_column` throws.
  std::vector<std::uint8_t> read_valid(std::uint64_t col, Range rows,
                                       const ReadOptions& options = {}) const;

  /// The words of a category or text column; nothing for a missing one. They are valid as long as
  /// any copy of the frame. Throws type_mismatch for a column of another meaning, what
  /// `read_column` throws, and corrupt for a code without a word.
  std::vector<std::optional<std::string_view>> read_words(std::uint64_t col, Range rows,
                                                          const ReadOptions& options = {}) const&;
  std::vector<std::optional<std::string_view>> read_words(std::uint64_t, Range,
                                                          const ReadOptions& = {}) const&& = delete;

  /// Copies rows of several columns at once, each to its own buffer. Throws what `read_column`
  /// throws.
  void read_rows(Range rows, std::span<const ColumnBuffer> columns,
                 const ReadOptions& options = {}) const;

  using BlockedObject::read;  // as a type that is known at run time
  /// Copies a rectangle of cells of any columns as values of one type, like `Matrix::read`.
  template <Value T>
  void read(const Region& region, std::span<T> out, std::size_t row_stride = 0,
            const ReadOptions& options = {}) const {
    read_to(region, out.data(), out.size(), row_stride, value_type_of<T>(), options);
  }

 private:
  friend struct detail::ObjectMaker;
  using BlockedObject::BlockedObject;
};

}  // namespace dapple
