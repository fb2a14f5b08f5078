// SciPy's matrices of blocks (bsr) and of diagonals (dia) as archives, and as the cells that three
// nested loops find.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/foreign/zip_image.h"
#include "tests/support.h"

namespace dapple::test {

/// How the arrays of a matrix are written.
struct ArrayForm {
  bool deflated = false, swapped = false, fortran = false;
  int width = 4;  // of integers
};

/// Little-endian items of `width` bytes turned around.
inline std::string turned(std::string bytes, std::size_t width) {
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  return bytes;
}

/// An array of 16-bit integers.
inline std::string values_image(const std::vector<int>& values, const std::string& shape,
                                const ArrayForm& form) {
  std::string data;
  for (const int value : values) data += number(static_cast<std::uint64_t>(value), 2);
  if (form.swapped) data = turned(data, 2);
  std::string image = npy_image(form.swapped ? ">i2" : "<i2", shape, data);
  if (form.fortran) image.replace(image.find("False"), 5, "True ");
  return image;
}

inline std::string integers_image(const std::vector<std::int64_t>& values, const ArrayForm& form) {
  std::string image = npy_integers(values, form.width);
  if (!form.swapped) return image;
  image[image.find('<')] = '>';
  const std::size_t data = image.size() - values.size() * static_cast<std::size_t>(form.width);
  return image.substr(0, data) + turned(image.substr(data), static_cast<std::size_t>(form.width));
}

inline std::string scipy_archive(const std::string& format, const ArrayForm& form,
                                 const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::vector<ZipMember> members{{"format.npy", npy_image("|S3", "", format), form.deflated}};
  for (const auto& [name, image] : arrays) {
    members.push_back({name + ".npy", image, form.deflated});
  }
  return zip_archive(members);
}

/// A matrix of blocks.
struct BlockMatrix {
  std::int64_t rows, cols, down, across;
  std::vector<std::int64_t> indptr{0}, indices{};
  std::vector<int> data{};  // in C order

  static BlockMatrix random(Rng& rng) {
    BlockMatrix m{0, 0, static_cast<std::int64_t>(rng.between(1, 4)),
                  static_cast<std::int64_t>(rng.between(1, 4))};
    m.rows = m.down * static_cast<std::int64_t>(rng.below(6));
    m.cols = m.across * static_cast<std::int64_t>(rng.below(6));
    for (std::int64_t line = 0; line < m.rows / m.down; ++line) {
      std::set<std::int64_t> places;
      for (std::int64_t i = 0; i < m.cols / m.across; ++i) {
        if (rng.chance(40)) places.insert(i);
      }
      std::vector<std::int64_t> order(places.begin(), places.end());
      if (rng.chance(50)) std::reverse(order.begin(), order.end());
      m.indices.insert(m.indices.end(), order.begin(), order.end());
      m.indptr.push_back(static_cast<std::int64_t>(m.indices.size()));
    }
    const auto cells = m.indices.size() * static_cast<std::size_t>(m.down * m.across);
    for (std::size_t i = 0; i < cells; ++i) m.data.push_back(static_cast<int>(rng.below(5)) - 1);
    return m;
  }
  int value(std::int64_t k, std::int64_t row, std::int64_t col) const {
    return data[static_cast<std::size_t>((k * down + row) * across + col)];
  }
  std::vector<double> cells() const {
    std::vector<double> out(static_cast<std::size_t>(rows * cols));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto line = static_cast<std::size_t>(row / down);
      for (auto k = indptr[line]; k < indptr[line + 1]; ++k) {
        for (std::int64_t c = 0; c < across; ++c) {
          const auto col = indices[static_cast<std::size_t>(k)] * across + c;
          out[static_cast<std::size_t>(row * cols + col)] = value(k, row % down, c);
        }
      }
    }
    return out;
  }
  std::string image(const ArrayForm& form) const {
    const auto count = static_cast<std::int64_t>(indices.size());
    std::vector<int> values = data;
    if (form.fortran) {
      values.clear();
      for (std::int64_t c = 0; c < across; ++c) {
        for (std::int64_t r = 0; r < down; ++r) {
          for (std::int64_t k = 0; k < count; ++k) values.push_back(value(k, r, c));
        }
      }
    }
    const std::string shape =
        std::to_string(count) + ", " + std::to_string(down) + ", " + std::to_string(across);
    return scipy_archive("bsr", form,
                         {{"shape", integers_image({rows, cols}, form)},
                          {"indptr", integers_image(indptr, form)},
                          {"indices", integers_image(indices, form)},
                          {"data", values_image(values, shape, form)}});
  }
};

/// A matrix of diagonals.
struct DiagonalMatrix {
  std::int64_t rows, cols, length;
  std::vector<std::int64_t> offsets{};
  std::vector<int> data{};  // in C order

  static DiagonalMatrix random(Rng& rng) {
    DiagonalMatrix m{static_cast<std::int64_t>(rng.below(9)),
                     static_cast<std::int64_t>(rng.below(9)),
                     static_cast<std::int64_t>(rng.below(11))};
    for (std::int64_t offset = -10; offset <= 10; ++offset) {
      if (rng.chance(40)) {
        m.offsets.insert(
            m.offsets.begin() + static_cast<std::ptrdiff_t>(rng.below(m.offsets.size() + 1)),
            offset);
      }
    }
    const auto cells = m.offsets.size() * static_cast<std::size_t>(m.length);
    for (std::size_t i = 0; i < cells; ++i) m.data.push_back(static_cast<int>(rng.below(5)) - 1);
    return m;
  }
  std::vector<double> cells() const {
    std::vector<double> out(static_cast<std::size_t>(rows * cols));
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      for (std::int64_t col = 0; col < std::min(cols, length); ++col) {
        const std::int64_t row = col - offsets[k];
        if (row < 0 || row >= rows) continue;
        out[static_cast<std::size_t>(row * cols + col)] =
            data[k * static_cast<std::size_t>(length) + static_cast<std::size_t>(col)];
      }
    }
    return out;
  }
  std::string image(const ArrayForm& form) const {
    std::vector<int> values = data;
    const auto count = offsets.size();
    for (std::size_t i = 0; form.fortran && i < values.size(); ++i) {
      values[i] = data[i % count * static_cast<std::size_t>(length) + i / count];
    }
    const std::string shape = std::to_string(count) + ", " + std::to_string(length);
    return scipy_archive("dia", form,
                         {{"shape", integers_image({rows, cols}, form)},
                          {"offsets", integers_image(offsets, form)},
                          {"data", values_image(values, shape, form)}});
  }
};

/// 4 x 6 cells in blocks of 2 x 3, of which three are stored.
inline const BlockMatrix kBlocks{4,
                                 6,
                                 2,
                                 3,
                                 {0, 2, 3},
                                 {1, 0, 1},
                                 {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}};
/// 3 x 4 cells with two diagonals and one outside.
inline const DiagonalMatrix kDiagonals{3, 4, 4, {1, -2, 9}, {9, 1, 2, 3, 4, 9, 9, 9, 5, 6, 7, 8}};

}  // namespace dapple::test
