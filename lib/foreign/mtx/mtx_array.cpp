#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/number_window.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

namespace {

/// The most cells of neighbouring columns in memory at once, unless one column has more.
constexpr std::uint64_t kMostCells = std::uint64_t{8} << 20;
constexpr std::uint64_t kTileEdge = 256;

/// Everything up to the blank separates values; other control characters fail when they are read.
bool is_space(char c) noexcept { return static_cast<unsigned char>(c) <= ' '; }

/// Values that an array file of this header holds. Throws corrupt when they cannot be counted.
std::uint64_t count_of(const Text& text, const Header& header) {
  const std::uint64_t n = header.rows;
  std::uint64_t count = 0;
  if (!multiply(n, header.cols, count)) {
    throw Error(
        Errc::corrupt, text.file, header.data,
        "no file holds the " + extents_text(n, header.cols) + " values that the header announces");
  }
  if (header.symmetry == Symmetry::symmetric) return n + (count - n) / 2;
  return header.symmetry == Symmetry::skew ? (count - n) / 2 : count;
}

/// The values of the text, one after the other.
class Values {
 public:
  Values(const Text& text, const Header& header)
      : text_(text), header_(header), count_(count_of(text, header)), window_(text.end) {
    p_ = text.base + header.data;
    // A value and its line end take two bytes; the last line end may be missing.
    const std::uint64_t most = (static_cast<std::uint64_t>(text.end - p_) + 1) / 2;
    if (count_ > most) fail_less("at most " + std::to_string(most));
    skip_space();
  }

  /// The bits of the next one. Throws corrupt, type_mismatch.
  std::uint64_t next() {
    if (p_ == text_.end) fail_less(std::to_string(read_));
    ++read_;
    switch (header_.value_type) {
      case ValueType::i64:
        return next_as<std::int64_t>();
      case ValueType::u64:
        return next_as<std::uint64_t>();
      default:
        return next_as<double>();
    }
  }
  /// Of the value read last, the one that mirrors it in a skew-symmetric matrix.
  std::uint64_t negated(std::uint64_t bits) const {
    const bool smallest =
        std::bit_cast<std::int64_t>(bits) == std::numeric_limits<std::int64_t>::min();
    if (header_.value_type == ValueType::i64 && smallest) text_.fail_range(last_, ValueType::i64);
    return mtx::negated(header_.value_type, bits);
  }
  /// Throws corrupt unless all values were read.
  void require_end() const {
    if (p_ == text_.end) return;
    text_.fail(
        Errc::corrupt, p_,
        "the file goes on after the " + counted(count_, "value") + " that its header announces");
  }

 private:
  template <class T>
  std::uint64_t next_as() {
    T value{};
    last_ = p_;
    p_ = read_value(
        text_, window_, p_, [&](const char* p) { return p == text_.end || is_space(*p); }, value);
    skip_space();
    return std::bit_cast<std::uint64_t>(value);
  }
  void skip_space() noexcept {
    for (;;) {
      while (p_ != text_.end && is_space(*p_)) ++p_;
      if (p_ == text_.end || *p_ != '%') return;
      p_ = next_line(p_, text_.end);
    }
  }
  [[noreturn]] void fail_less(const std::string& seen) const {
    throw Error(Errc::corrupt, text_.file, text_.offset(text_.end),
                "the file ends after " + seen + " of " + counted(count_, "value"));
  }

  const Text& text_;
  const Header& header_;
  const std::uint64_t count_;
  std::uint64_t read_ = 0;
  const char* p_ = nullptr;
  const char* last_ = nullptr;
  NumberWindow window_;
};

/// Parses columns, some at a time, and puts them as tiles.
class ColumnTiles {
 public:
  ColumnTiles(const Header& header, Values& values, TileShape tile, BlockWriter& writer)
      : header_(header), values_(values), tile_(tile), writer_(writer) {}

  /// Of a general matrix: as many columns as a tile has, or parts of one.
  void put_general() {
    if (header_.rows == 0) return;  // of columns there may be 2^63
    for (std::uint64_t c = 0; c < header_.cols; c += tile_.cols) {
      const std::uint64_t cols = std::min<std::uint64_t>(tile_.cols, header_.cols - c);
      // Of a single column, a tile is put as soon as it is full.
      const std::uint64_t height = cols == 1 ? tile_.rows : header_.rows;
      for (std::uint64_t r = 0; r < header_.rows; r += height) {
        const std::uint64_t rows = std::min(height, header_.rows - r);
        cells_.resize(rows * cols);
        for (std::uint64_t& cell : cells_) cell = values_.next();
        put_tiles({{r, r + rows}, {c, c + cols}}, rows, false);
      }
    }
  }

  /// Of a symmetric one, whose tiles are squares: the cells below the diagonal of some columns, and
  /// their mirror images beside it.
  void put_symmetric() {
    const bool skew = header_.symmetry == Symmetry::skew;
    const std::uint64_t n = header_.rows;
    for (std::uint64_t c = 0; c < n; c += tile_.cols) {
      const std::uint64_t cols = std::min<std::uint64_t>(tile_.cols, n - c), rows = n - c;
      cells_.assign(rows * cols, 0);
      mirrored_.assign(rows * cols, 0);
      for (std::uint64_t i = 0; i < cols; ++i) {
        for (std::uint64_t r = i + (skew ? 1 : 0); r < rows; ++r) {
          const std::uint64_t bits = values_.next();
          const std::uint64_t mirrored = skew ? values_.negated(bits) : bits;
          cells_[i * rows + r] = bits;
          mirrored_[i * rows + r] = mirrored;
          if (r < cols) cells_[r * rows + i] = mirrored;
        }
      }
      put_tiles({{c, n}, {c, c + cols}}, rows, false);
      if (cols == rows) break;
      cells_.swap(mirrored_);
      put_tiles({{c + cols, n}, {c, c + cols}}, rows, true, cols);
    }
  }

 private:
  /// Puts the cells of a region, in `cells_` column after column, of `height` each and from row
  /// `skip` on, tile by tile; mirrored at the diagonal if asked.
  void put_tiles(const Region& cells, std::uint64_t height, bool mirrored, std::uint64_t skip = 0) {
    const std::uint64_t cols = cells.cols.size();
    for (std::uint64_t r = cells.rows.begin; r < cells.rows.end; r += tile_.rows) {
      const std::uint64_t rows = std::min<std::uint64_t>(tile_.rows, cells.rows.end - r);
      const std::uint64_t* from = cells_.data() + skip + (r - cells.rows.begin);
      tile_cells_.resize(rows * cols);
      for (std::uint64_t c = 0; c < cols; ++c, from += height) {
        for (std::uint64_t i = 0; i < rows; ++i) {
          tile_cells_[mirrored ? c * rows + i : i * cols + c] = from[i];
        }
      }
      const BlockPos pos = mirrored ? BlockPos{cells.cols.begin, r} : BlockPos{r, cells.cols.begin};
      const auto high = static_cast<std::uint32_t>(mirrored ? cols : rows);
      const auto wide = static_cast<std::uint32_t>(mirrored ? rows : cols);
      writer_.put(pos, {reinterpret_cast<const std::byte*>(tile_cells_.data()), header_.value_type,
                        high, wide, wide * sizeof(std::uint64_t)});
    }
  }

  const Header& header_;
  Values& values_;
  const TileShape tile_;
  BlockWriter& writer_;
  std::vector<std::uint64_t> cells_, mirrored_, tile_cells_;
};

TileShape tile_of(const Header& header) {
  if (header.symmetry != Symmetry::general) {
    constexpr auto kEdge = static_cast<std::uint32_t>(kTileEdge);
    return {kEdge, kEdge};
  }
  TileShape tile = default_tile(header.rows, header.cols);
  if (header.rows == 0) return tile;
  const std::uint64_t most = std::max<std::uint64_t>(kMostCells / header.rows, 1);
  if (tile.cols <= most) return tile;
  tile.cols = static_cast<std::uint32_t>(most);
  tile.rows = static_cast<std::uint32_t>(std::min(header.rows, kTileEdge * kTileEdge / most));
  return tile;
}

}  // namespace

void parse_array(const Text& text, const Header& header, texts::Import& import) {
  Values values(text, header);
  Schema schema;
  schema.rows = header.rows;
  schema.cols = header.cols;
  schema.value_type = header.value_type;
  const TileShape tile = tile_of(header);
  ColumnTiles columns(header, values, tile, import.start(schema, tile));
  if (header.symmetry == Symmetry::general) {
    columns.put_general();
  } else {
    columns.put_symmetric();
  }
  values.require_end();
  import.finish(std::move(schema), {});
}

}  // namespace dapple::detail::mtx
