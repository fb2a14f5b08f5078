#include "tests/partition.h"

#include <algorithm>

namespace dapple::test {

Partition regular(std::uint64_t rows, std::uint64_t cols, TileShape tile) {
  Partition p{"regular", rows, cols, {}};
  for (std::uint64_t r = 0; r < rows; r += tile.rows) {
    for (std::uint64_t c = 0; c < cols; c += tile.cols) {
      p.blocks.push_back({{r, std::min(r + tile.rows, rows)}, {c, std::min(c + tile.cols, cols)}});
    }
  }
  return p;
}

Partition guillotine(Rng& rng, std::uint64_t rows, std::uint64_t cols, unsigned gaps) {
  Partition p{gaps > 0 ? "guillotine with gaps" : "guillotine", rows, cols, {}};
  std::vector<Region> pending{{{0, rows}, {0, cols}}};
  while (!pending.empty()) {
    const Region piece = pending.back();
    pending.pop_back();
    const std::uint64_t height = piece.rows.size(), width = piece.cols.size();
    if (height * width <= 6 || rng.chance(5)) {
      if (!rng.chance(gaps)) p.blocks.push_back(piece);
    } else if (height > 1 && (width == 1 || rng.chance(50))) {
      const std::uint64_t at = piece.rows.begin + rng.between(1, height - 1);
      pending.push_back({{piece.rows.begin, at}, piece.cols});
      pending.push_back({{at, piece.rows.end}, piece.cols});
    } else {
      const std::uint64_t at = piece.cols.begin + rng.between(1, width - 1);
      pending.push_back({piece.rows, {piece.cols.begin, at}});
      pending.push_back({piece.rows, {at, piece.cols.end}});
    }
  }
  return p;
}

Partition spiral(std::uint64_t rings) {
  const std::uint64_t edge = 2 * rings + 1;
  Partition p{"spiral", edge, edge, {}};
  for (std::uint64_t k = 0; k < rings; ++k) {
    const std::uint64_t first = k, last = edge - 1 - k;
    p.blocks.push_back({{first, first + 1}, {first, last}});
    p.blocks.push_back({{first, last}, {last, last + 1}});
    p.blocks.push_back({{last, last + 1}, {first + 1, last + 1}});
    p.blocks.push_back({{first + 1, last + 1}, {first, first + 1}});
  }
  p.blocks.push_back({{rings, rings + 1}, {rings, rings + 1}});
  return p;
}

Partition pinwheels(std::uint64_t n) {
  Partition p{"pinwheels", 3 * n, 3 * n, {}};
  for (std::uint64_t r = 0; r < 3 * n; r += 3) {
    for (std::uint64_t c = 0; c < 3 * n; c += 3) {
      p.blocks.push_back({{r, r + 1}, {c, c + 2}});
      p.blocks.push_back({{r, r + 2}, {c + 2, c + 3}});
      p.blocks.push_back({{r + 2, r + 3}, {c + 1, c + 3}});
      p.blocks.push_back({{r + 1, r + 3}, {c, c + 1}});
      p.blocks.push_back({{r + 1, r + 2}, {c + 1, c + 2}});
    }
  }
  return p;
}

Partition banded(Rng& rng, std::uint64_t rows, std::uint64_t cols) {
  Partition p{"banded", rows, cols, {}};
  for (std::uint64_t r = 0; r < rows;) {
    const std::uint64_t end = std::min(rows, r + rng.between(1, 4));
    for (std::uint64_t c = 0; c < cols;) {
      const std::uint64_t right = std::min(cols, c + rng.between(1, 7));
      p.blocks.push_back({{r, end}, {c, right}});
      c = right;
    }
    r = end;
  }
  return p;
}

Partition scattered(Rng& rng, std::uint64_t rows, std::uint64_t cols, unsigned throws) {
  Partition p{"scattered", rows, cols, {}};
  for (unsigned i = 0; i < throws; ++i) {
    const std::uint64_t r = rng.below(rows), c = rng.below(cols);
    const Region piece{{r, std::min(rows, r + rng.between(1, 6))},
                       {c, std::min(cols, c + rng.between(1, 6))}};
    const bool free = std::all_of(p.blocks.begin(), p.blocks.end(), [&](const Region& other) {
      return intersect(other, piece).empty();
    });
    if (free) p.blocks.push_back(piece);
  }
  return p;
}

std::vector<Partition> partitions(Rng& rng, std::uint64_t edge) {
  std::vector<Partition> all{regular(edge, edge + 3, {5, 4}),
                             regular(edge, edge, {1, 100}),
                             guillotine(rng, edge, edge, 0),
                             guillotine(rng, edge, edge + 5, 20),
                             spiral(edge / 2),
                             pinwheels(edge / 3),
                             banded(rng, edge, edge),
                             scattered(rng, edge, edge, 60),
                             scattered(rng, 3 * edge, edge, 6),
                             Partition{"no block", edge, edge, {}},
                             Partition{"one block", 3, 4, {{{1, 3}, {0, 2}}}}};
  for (Partition& p : all) shuffle(p.blocks, rng);
  return all;
}

}  // namespace dapple::test
