// A matrix of blocks of every kind, and the cells that they must have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dapple/dapple.h"

namespace dapple::test {

/// Cells that are to be written, and the blocks that they are put in: of every kind, small ones
/// that are gathered and large ones that are written from their place or piece by piece.
class Work {
 public:
  static constexpr std::uint32_t kSide = 160;
  struct Step {
    Region cells;
    std::function<void(MatrixWriter&)> put;
  };

  Work() : cells_(std::size_t{2 * kSide} * (3 * kSide)) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::size_t row = i / cols(), col = i % cols();
      const bool sparse = row >= kSide;
      if (!sparse || (row + col) % 2 == 0) cells_[i] = static_cast<double>(i) + 0.5;
    }
    packed_.assign(std::size_t{kSide} * kSide, 0);
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = 0; c < kSide; ++c) packed_[r * kSide + c] = at(r, c);
    }
    for (std::uint32_t r = 0; r < kSide; ++r) {
      row_ptr_.push_back(col_idx_.size());
      for (std::uint32_t c = 0; c < kSide; ++c) {
        if (at(kSide + r, c) == 0) continue;
        col_idx_.push_back(c);
        values_.push_back(at(kSide + r, c));
      }
    }
    row_ptr_.push_back(col_idx_.size());
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = kSide; c > 0; --c) {
        const double value = at(kSide + r, kSide + c - 1);
        if (value != 0) triplets_.push_back({r, c - 1, value});
      }
    }
  }

  static std::uint64_t rows() { return 2 * kSide; }
  static std::uint64_t cols() { return 3 * kSide; }
  double at(std::uint64_t row, std::uint64_t col) const { return cells_[row * cols() + col]; }

  std::vector<Step> steps() const {
    const std::uint32_t s = kSide;
    return {
        {tile(0, 0, s, s),
         [=, this](auto& w) {
           w.template put<double>({0, 0}, {packed_.data(), s, s});
         }},
        {tile(0, s, s, s),
         [=, this](auto& w) {
           w.template put<double>({0, s}, {&cells_[s], s, s, cols()});
         }},
        {tile(0, 2 * s, 8, 8),
         [=, this](auto& w) {
           w.template put<double>({0, 2 * s}, {&cells_[2 * s], 8, 8, cols()});
         }},
        {tile(s, 0, s, s),
         [=, this](auto& w) {
           w.template put<double>({s, 0}, CsrRef<double>{s, s, row_ptr_, col_idx_, values_});
         }},
        {tile(s, s, s, s),
         [=, this](auto& w) {
           w.template put<double>({s, s}, TileShape{s, s}, std::span(triplets_));
         }},
        {tile(8, 2 * s, 8, 8),
         [=](auto& w) {
           w.put_empty({8, 2 * s}, {8, 8});
         }},
    };
  }

 private:
  static Region tile(std::uint64_t row, std::uint64_t col, std::uint64_t rows, std::uint64_t cols) {
    return {{row, row + rows}, {col, col + cols}};
  }

  std::vector<double> cells_, packed_, values_;
  std::vector<std::uint64_t> row_ptr_;
  std::vector<std::uint32_t> col_idx_;
  std::vector<Triplet<double>> triplets_;
};

}  // namespace dapple::test
