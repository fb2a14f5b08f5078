#include "cell_pieces.h"

#include <map>
#include <nlohmann/json.hpp>

#include "column_types.h"

namespace dapple::viewer {

namespace {

constexpr std::uint64_t kLeastSide = 64, kMostSide = std::uint64_t{1} << 26;  // exact in JavaScript
constexpr std::uint64_t kMostPieces = 20000;  // of an object that does not cover all of its cells

/// Pieces while they are made.
class Cutter {
 public:
  /// `whole`: blocks cover every cell.
  Cutter(const picture::Object& object, bool whole, std::size_t most)
      : variant_(object), object_(picture::base(object)), whole_(whole), left_(most) {
    high_ = wide_ = kLeastSide;
    // Some thousand values each, or they would cost more than their values do.
    constexpr double kValues = 2048;
    const auto stored = static_cast<double>(object_.counts().stored);
    const auto many = [&] { return static_cast<double>(down()) * static_cast<double>(across()); };
    while (stored / many() < kValues && many() > 1) {
      std::uint64_t& side = across() >= down() ? wide_ : high_;
      if (side >= kMostSide) break;
      side *= 2;
    }
  }

  std::uint64_t high() const noexcept { return high_; }
  std::uint64_t wide() const noexcept { return wide_; }
  std::uint64_t down() const noexcept { return (object_.rows() - 1) / high_ + 1; }
  std::uint64_t across() const noexcept { return (object_.cols() - 1) / wide_ + 1; }

  template <Value T>
  void add(std::uint64_t row, std::uint64_t col, T value) {
    grow(row / high_, col / wide_,
         [&](CellPiece& piece) { piece.add(row, col, value, described_column(variant_, col)); });
  }
  /// Says of every piece which of its cells the block covers.
  void cover(const Region& cells) {
    for (std::uint64_t y = cells.rows.begin / high_; y * high_ < cells.rows.end; ++y) {
      for (std::uint64_t x = cells.cols.begin / wide_; x * wide_ < cells.cols.end; ++x) {
        grow(y, x, [&](CellPiece& piece) { piece.cover(intersect(region(y, x), cells)); });
      }
    }
  }
  /// Makes pieces that say nothing yet: no block covers them.
  void make_all() {
    for (std::uint64_t y = 0; y < down(); ++y) {
      for (std::uint64_t x = 0; x < across(); ++x) grow(y, x, [](const CellPiece&) {});
    }
  }
  bool is_full() const noexcept { return full_; }

  CellPieces finish() const {
    CellPieces all{high_, wide_, {}};
    for (const auto& [place, piece] : pieces_) {
      all.pieces.push_back({place.second, place.first, piece.json()});
    }
    return all;
  }

 private:
  Region region(std::uint64_t y, std::uint64_t x) const {
    const auto part = [](std::uint64_t k, std::uint64_t side, std::uint64_t all) {
      return Range{k * side, k * side + std::min(side, all - k * side)};
    };
    return {part(y, high_, object_.rows()), part(x, wide_, object_.cols())};
  }
  template <class Change>
  void grow(std::uint64_t y, std::uint64_t x, const Change& change) {
    if (full_) return;
    const std::pair place(y, x);
    if (last_ == nullptr || place != last_place_) {
      const auto [at, is_new] = pieces_.try_emplace(place, region(y, x), wide_);
      last_ = &at->second;
      last_place_ = place;
      if (is_new && whole_) last_->cover(region(y, x));
    }
    const std::size_t before = last_->size();
    change(*last_);
    const std::size_t more = last_->size() - before;
    full_ = more > left_;
    if (!full_) left_ -= more;
  }

  const picture::Object& variant_;
  const BlockedObject& object_;
  const bool whole_;
  std::uint64_t high_, wide_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, CellPiece> pieces_;
  std::pair<std::uint64_t, std::uint64_t> last_place_;
  CellPiece* last_ = nullptr;
  std::size_t left_;
  bool full_ = false;
};

template <Value T>
void add_dense(const picture::Object& object, Region part, Cutter& cutter) {
  constexpr std::uint64_t kCellsAtOnce = std::uint64_t{1} << 20;
  const std::uint64_t end = part.rows.end;
  const std::uint64_t step = std::max<std::uint64_t>(1, kCellsAtOnce / part.cols.size());
  for (; part.rows.begin < end && !cutter.is_full(); part.rows.begin = part.rows.end) {
    part.rows.end = part.rows.begin + std::min(step, end - part.rows.begin);
    std::vector<T> values(part.rows.size() * part.cols.size());
    std::visit([&](const auto& o) { o.read(part, std::span(values)); }, object);
    const T* value = values.data();
    for (std::uint64_t r = part.rows.begin; r < part.rows.end; ++r) {
      for (std::uint64_t c = part.cols.begin; c < part.cols.end; ++c) cutter.add(r, c, *value++);
    }
  }
}

template <Value T>
void add_sparse(const Block& block, const BlockInfo& info, Cutter& cutter) {
  const Csr<T, std::uint32_t> arrays = block.to_csr<T>();
  for (std::uint64_t r = 0; r < info.rows && !cutter.is_full(); ++r) {
    for (std::uint64_t k = arrays.row_ptr[r]; k < arrays.row_ptr[r + 1]; ++k) {
      cutter.add(info.pos.rx + r, info.pos.cx + arrays.col_idx[k], arrays.values[k]);
    }
  }
}

}  // namespace

const Column* described_column(const picture::Object& object, std::uint64_t col) {
  const auto* frame = std::get_if<Frame>(&object);
  if (frame == nullptr) return nullptr;
  const Column& column = frame->column_info(col);
  return is_plain(column) ? nullptr : &column;
}

std::string described_bits(const Column& column, std::uint64_t bits) {
  std::string text;
  append_text(column, bits, text);
  constexpr std::size_t kLongest = 200;  // more is not shown
  return nlohmann::json(text.substr(0, kLongest))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string CellPiece::json() const {
  std::string text = "{\"cells\":{" + cells_ + "}";
  const double all =
      static_cast<double>(region_.rows.size()) * static_cast<double>(region_.cols.size());
  if (covered_cells_ < all) {
    text += ",\"covered\":[";
    for (const Region& part : covered_) {
      if (text.back() != '[') text += ',';
      text += '[' + std::to_string(part.rows.begin) + ',' + std::to_string(part.rows.end) + ',' +
              std::to_string(part.cols.begin) + ',' + std::to_string(part.cols.end) + ']';
    }
    text += ']';
  }
  return text + "}";
}

std::optional<CellPieces> cell_pieces(const picture::Object& object,
                                      const picture::BlocksIn& blocks, std::size_t most) {
  const BlockedObject& o = picture::base(object);
  constexpr std::uint64_t kLeast = 7;  // bytes of a value's JSON: "1":"2",
  if (o.rows() == 0 || o.cols() == 0 || o.counts().stored > most / kLeast) return std::nullopt;
  const Region all{{0, o.rows()}, {0, o.cols()}};
  double covered = 0;
  blocks.for_each(all, [&](const BlockInfo& block) {
    covered += static_cast<double>(block.rows) * static_cast<double>(block.cols);
  });
  const bool whole = covered >= static_cast<double>(o.rows()) * static_cast<double>(o.cols());
  Cutter cutter(object, whole, most);
  if (!whole) {
    if (cutter.down() > kMostPieces / cutter.across()) return std::nullopt;
    cutter.make_all();
  }
  blocks.for_each_while(all, [&](const BlockInfo& block) {
    if (!whole) cutter.cover(block.cells());
    if (block.kind != BlockKind::empty) {
      picture::each_type(object, block, block.cells().cols, [&](auto tag, Range cols) {
        using T = decltype(tag);
        if (block.kind == BlockKind::dense) {
          add_dense<T>(object, {block.cells().rows, cols}, cutter);
        } else {
          add_sparse<T>(blocks.fetch(block), block, cutter);
        }
      });
    }
    return !cutter.is_full();
  });
  o.require_intact();
  if (cutter.is_full()) return std::nullopt;
  return cutter.finish();
}

}  // namespace dapple::viewer
