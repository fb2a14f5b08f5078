// Matrices and frames as a Zarr v3 hierarchy: metadata that is made up, and chunks that are decoded
// when they are asked for. pydapple's zarr_store gives the same keys the same values, and has text
// columns of other formats, too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/names.h"

namespace dapple::serve {

/// A matrix, a column of a frame, or names of rows or columns, cut into chunks of one size.
struct ChunkedArray {
  std::shared_ptr<const BlockedObject> object;
  std::optional<std::uint64_t> column;  // none: the whole matrix
  const Column* meaning = nullptr;      // of the column
  std::shared_ptr<const Names> names;   // in place of these
  ValueType type = ValueType::f64;
  std::uint64_t rows = 0, cols = 1;
  std::uint64_t chunk_rows = 1, chunk_cols = 1;

  bool is_flat() const noexcept { return column || names != nullptr; }
  bool has_words() const noexcept {
    return names != nullptr || (meaning != nullptr && meaning->meaning.has_words());
  }
};

/// Any thread.
class ZarrTree {
 public:
  using Object = std::variant<Matrix, Frame>;
  /// One object without a name is the array "data", or the columns of a frame; others are arrays
  /// and groups by their names, in which slashes make groups. The names of the rows of a frame, and
  /// of rows and columns of a matrix that is alone, are arrays called as their dimensions, unless
  /// another is called so. Throws invalid_argument for a name
  /// that is there twice, and for one in a matrix.
  explicit ZarrTree(std::vector<std::pair<std::string, Object>> objects);

  /// The value of a key; nothing when there is none. Throws what reading throws.
  std::optional<std::string> find(std::string_view key) const;

 private:
  /// Adds the groups above what is called so, and gives its path.
  std::string add_groups(std::string_view name);
  void add(const std::string& path, const Object& object);
  void add_matrix(const std::string& path, const Matrix& matrix);
  void add_frame(const std::string& path, const Frame& frame);
  void add_names(const std::string& path, std::shared_ptr<const Names> names,
                 const std::string& dimension);
  void put(const std::string& path, ChunkedArray array, std::string metadata);
  void consolidate(std::string attributes);

  std::map<std::string, ChunkedArray, std::less<>> arrays_;
  std::map<std::string, std::string, std::less<>> metadata_;  // JSON by path
};

}  // namespace dapple::serve
