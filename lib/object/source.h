// What writers of any format pull from: a selection of an object's rows and columns, read region
// by region. Rows and columns here count within the selection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dapple/convert.h"
#include "lib/object/store.h"

namespace dapple::detail {

class Source {
 public:
  /// Throws out_of_range when the selection leaves the object; type_mismatch when `value_type` is
  /// asked for and a column's type is not contained in it, unless `allow_loss`.
  Source(std::shared_ptr<const Store> store, const Selection& selection,
         const ConvertOptions& options);

  ObjectKind kind() const noexcept { return schema_.kind; }
  /// Rows, columns, labels and types as the output has them.
  const Schema& schema() const noexcept { return schema_; }
  std::uint64_t rows() const noexcept { return schema_.rows; }
  std::uint64_t cols() const noexcept { return schema_.cols; }

  /// Copies a region; cells of `out` may have any type that holds the values exactly (R6).
  void read(const Region& region, const Target& out) const;

  /// Every cell of the region that is not positive zero, in ascending order of rows, then columns.
  void entries(const Region& region, const std::function<void(const StoredCell&)>& take) const;

  /// Rows to ask for at once so that a strip of all columns stays near `bytes`, and follows the
  /// blocks of the source.
  std::uint64_t strip_rows(std::uint64_t bytes = std::uint64_t{32} << 20) const;

  /// Tells the caller of `convert` how far the work is.
  void progress(std::uint64_t rows_done) const;
  unsigned threads() const noexcept { return options_.threads; }
  const Store& store() const noexcept { return *store_; }

 private:
  std::shared_ptr<const Store> store_;
  Schema schema_;
  Range rows_;
  std::vector<Range> runs_;  // the selected columns as runs of neighbours, in output order
  ConvertOptions options_;
};

}  // namespace dapple::detail
