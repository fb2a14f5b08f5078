// Partitions of a matrix into blocks, of every shape that an index has to cope with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dapple/region.h"
#include "tests/support.h"

namespace dapple::test {

/// Disjoint rectangles inside rows x cols cells. Some cells may be in none of them.
struct Partition {
  std::string name;
  std::uint64_t rows = 0, cols = 0;
  std::vector<Region> blocks;
};

Partition regular(std::uint64_t rows, std::uint64_t cols, TileShape tile);
/// Cut again and again, along rows or columns; `gaps` percent of the pieces are left out.
Partition guillotine(Rng& rng, std::uint64_t rows, std::uint64_t cols, unsigned gaps);
/// Bars that wind around a single cell, `rings` times: no line cuts them without crossing one.
Partition spiral(std::uint64_t rings);
/// n x n pinwheels of five blocks each, every one turned like its neighbours.
Partition pinwheels(std::uint64_t n);
/// Bands of rows of different heights, each cut into columns of its own.
Partition banded(Rng& rng, std::uint64_t rows, std::uint64_t cols);
/// Rectangles thrown at random, kept where they hit no other.
Partition scattered(Rng& rng, std::uint64_t rows, std::uint64_t cols, unsigned throws);

/// One of each of the above, about `edge` cells a side, in an order shuffled by `rng`.
std::vector<Partition> partitions(Rng& rng, std::uint64_t edge);

template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

}  // namespace dapple::test
