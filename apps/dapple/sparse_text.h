// Printing cells that are not zero as lines of row, column and value.
#pragma once

#include <string>
#include <variant>

#include "dapple/convert.h"
#include "output.h"
#include "pages.h"

namespace dapple::cli {

/// Prints "row,column,value" for each cell of the selection that is not zero, row by row and
/// within a row in the order of the columns, in bounded memory. Negative zero, false and missing
/// cells are no values; words and times are printed as such. Text columns of other formats are left
/// out. Throws what reading throws.
void print_sparse(const std::variant<Matrix, Frame>& object, const Selection& part,
                  const TextOptions& options, Output& out);

/// "about 97 % of these 50000000 cells are zero; --sparse prints only the others", if there are
/// many cells and most of them are zero; otherwise nothing.
std::string sparse_hint(const std::variant<Matrix, Frame>& object, const Selection& part);

/// The same from the cells that are printed, where zeros are stored.
class ZeroCounter {
 public:
  explicit ZeroCounter(const CellPages& pages)
      : all_(static_cast<double>(pages.rows().size()) * static_cast<double>(pages.cols())) {}

  /// "98 % of the first 65536 cells are zero; ...", once, as soon as enough of them are; otherwise
  /// nothing.
  std::string add(const std::vector<PageColumn>& page);

 private:
  double all_;
  std::uint64_t cells_ = 0, zeros_ = 0;
  bool said_ = false;
};

}  // namespace dapple::cli
