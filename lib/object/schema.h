// What an object is: matrix or frame, its shape, value types and labels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dapple/matrix.h"
#include "dapple/value_type.h"
#include "dapple/writer.h"
#include "lib/object/names.h"

namespace dapple::detail {

enum class ObjectKind : std::uint8_t { matrix, frame };

struct Schema {
  ObjectKind kind = ObjectKind::matrix;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ValueType value_type = ValueType::f64;  // of a matrix
  Storage storage = Storage::dense;       // of a matrix
  std::vector<Column> columns;            // of a frame: cols of them
  /// Of a matrix: what its columns are called. Null: nothing.
  std::shared_ptr<const ColumnGroup> group;
  /// Reads the user's attributes, a JSON object as text; "" when there are none. Throws corrupt.
  /// Null: there are none.
  std::function<std::string()> attributes;

  /// The names of rows, and of the columns of a matrix. Null: there are none.
  ReadNames row_names, col_names;

  ValueType type_of(std::uint64_t col) const {
    return kind == ObjectKind::matrix ? value_type : columns[col].value_type;
  }
  /// The first of these columns that is declared as another type than they begin with, or their
  /// end.
  std::uint64_t end_of_type(Range some) const {
    if (kind == ObjectKind::matrix) return some.end;
    std::uint64_t end = some.begin + 1;
    while (end < some.end && type_of(end) == type_of(some.begin)) ++end;
    return end;
  }
  std::string read_attributes() const { return attributes ? attributes() : std::string(); }
  std::shared_ptr<const Names> read_row_names() const { return row_names ? row_names() : nullptr; }
  std::shared_ptr<const Names> read_col_names() const { return col_names ? col_names() : nullptr; }
  /// What the columns of a matrix are called: their own names, or else those of the vector's slots.
  /// Null: there are none.
  ReadNames names_of_columns() const;
};

}  // namespace dapple::detail
