// Selected cells as text, page by page in bounded memory: numbers, and text columns.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/convert.h"

namespace dapple::cli {

/// How cells become text.
struct TextOptions {
  ReadOptions reading{};
  bool short_floats = false;  // f32 in the fewest digits that read back as f32
};

/// One column of a page.
struct PageColumn {
  std::string label;  // as stored; the column's number in a matrix
  bool is_text = false;
  std::vector<std::string> cells;  // text cells are as stored
};

/// A column as it is shown: of text, or of numbers.
struct ShownColumn {
  bool is_text;
  std::uint64_t number;  // of the text column, or of the object's column
};

/// All columns that can be shown, in file order.
std::vector<ShownColumn> shown_columns(const BlockedObject& object);
/// These columns of numbers.
std::vector<ShownColumn> shown_columns(const std::vector<std::uint64_t>& numbers);

class CellPages {
 public:
  /// Readable text columns are included unless `part` chooses columns. The arguments must outlive
  /// this.
  CellPages(const std::variant<Matrix, Frame>& object, const Selection& part,
            const TextOptions& options);

  Range rows() const noexcept { return rows_; }
  std::uint64_t cols() const noexcept { return mixed_.empty() ? numbers_ : mixed_.size(); }

  /// Calls `take` with each page: bands of rows from the top, each from left to right. A selection
  /// without rows is one band. Throws what reading throws.
  using Take = std::function<void(Range rows, std::vector<PageColumn> page)>;
  void for_each(const Take& take) const;

 private:
  ShownColumn column(std::uint64_t k) const;
  std::vector<PageColumn> load(Range rows, Range cols) const;
  void load_matrix(const Matrix& matrix, Range rows, Range cols,
                   std::vector<PageColumn>& page) const;
  void load_column(const Frame& frame, Range rows, std::uint64_t col, PageColumn& column) const;

  const std::variant<Matrix, Frame>& object_;
  const Selection& part_;
  const TextOptions& options_;
  Range rows_;
  std::uint64_t numbers_;           // selected columns of numbers
  std::vector<ShownColumn> mixed_;  // all columns, if there are text columns among them
};

}  // namespace dapple::cli
