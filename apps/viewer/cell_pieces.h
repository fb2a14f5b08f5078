// Values of cells as text, in the pieces that a page asks for or holds.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scan.h"

namespace dapple::viewer {

/// The column where its cells stand for words, times or truth values, or may be missing; otherwise
/// null.
const Column* described_column(const picture::Object& object, std::uint64_t col);

/// What that cell says, as a JSON string; "" for a missing one. Throws corrupt. `bits` are those
/// of its value in the column's type.
std::string described_bits(const Column& column, std::uint64_t bits);
template <Value T>
std::string described_text(const Column& column, T value) {
  return visit_type(column.value_type, [&](auto tag) {
    const auto stored = static_cast<decltype(tag)>(value);  // blocks may be narrower
    std::uint64_t bits = 0;
    std::memcpy(&bits, &stored, sizeof stored);
    return described_bits(column, bits);
  });
}

/// JSON of a rectangle of cells:
/// {"cells":{"N":"text",...},"covered":[[top,bottom,left,right],...]}. N counts row after row, each
/// of `side` cells. Positive zeros are left out, and `covered` when it is all of the cells: others
/// are absent. Instead of a text, described columns have ["number","what it means"].
class CellPiece {
 public:
  CellPiece(const Region& region, std::uint64_t side) : region_(region), side_(side) {}

  void cover(const Region& cells) {
    covered_cells_ +=
        static_cast<double>(cells.rows.size()) * static_cast<double>(cells.cols.size());
    covered_.push_back(cells);
  }
  /// REQUIRES a cell of the region. `described`: its column, if it is a described one.
  template <Value T>
  void add(std::uint64_t row, std::uint64_t col, T value, const Column* described) {
    if (value == T{} && !std::signbit(static_cast<double>(value))) return;
    cells_ += cells_.empty() ? "\"" : ",\"";
    append((row - region_.rows.begin) * side_ + (col - region_.cols.begin));
    cells_ += described != nullptr ? "\":[\"" : "\":\"";
    append(value);
    cells_ += '"';
    if (described != nullptr) cells_ += ',' + described_text(*described, value) + ']';
  }
  /// How long it is, about.
  std::size_t size() const noexcept { return cells_.size() + 40 * covered_.size(); }
  std::string json() const;

 private:
  template <Value T>
  void append(T number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof number);
    append_number(value_type_of<T>(), bits, cells_);
  }

  Region region_;
  std::uint64_t side_;
  std::string cells_;
  std::vector<Region> covered_;
  double covered_cells_ = 0;
};

/// All cells of an object, cut into pieces so large that each holds some thousand values.
struct CellPieces {
  std::uint64_t high = 0, wide = 0;  // cells of a piece, each way
  struct Named {
    std::uint64_t x, y;
    std::string json;
  };
  std::vector<Named> pieces;  // those that are not all zeros
};

/// Nothing when it would be more than `most` bytes of JSON. Reads every block once; throws what
/// reading throws.
std::optional<CellPieces> cell_pieces(const picture::Object& object,
                                      const picture::BlocksIn& blocks, std::size_t most);

}  // namespace dapple::viewer
