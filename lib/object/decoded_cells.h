// The cells of a part of a block, decoded a piece at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/object/store.h"

namespace dapple::detail {

/// Memory for cells that cannot be looked at where they are; kept from block to block.
class Band {
 public:
  std::byte* room(std::size_t bytes) {
    if (bytes > size_) {
      bytes_ = std::make_unique<std::byte[]>(bytes);
      size_ = bytes;
    }
    return bytes_.get();
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

/// Calls f(piece, type, cells, row step) for pieces of columns of one declared type, decoded as
/// that: one run of columns after the other, row by row in each. REQUIRES an entry that was
/// confirmed. Throws corrupt.
template <class F>
void for_each_decoded(const Store& store, const Entry& e, const Part& part, Band& band,
                      const F& f) {
  const Schema& schema = store.schema();
  for (Range run{part.cols.begin, 0}; run.begin < part.cols.end; run.begin = run.end) {
    run.end = schema.end_of_type({e.pos.cx + run.begin, e.pos.cx + part.cols.end}) - e.pos.cx;
    const ValueType type = schema.type_of(e.pos.cx + run.begin);
    const std::size_t size = size_of(type);
    // Of an encoded block so few rows that others are not decoded.
    const std::uint64_t some = (std::uint64_t{256} << 10) / size;
    const std::uint64_t most = e.codec == 0 ? some : std::min(some, e.rows / 8 * run.size());
    const std::uint64_t cols = std::min(run.size(), some);
    const std::uint64_t rows = std::min(part.rows.size(), std::max<std::uint64_t>(1, most / cols));
    for (std::uint64_t r = part.rows.begin; r < part.rows.end; r += rows) {
      for (std::uint64_t c = run.begin; c < run.end; c += cols) {
        const Part piece{{r, std::min(r + rows, part.rows.end)}, {c, std::min(c + cols, run.end)}};
        const std::size_t step = piece.cols.size() * size;
        std::byte* const cells = band.room(piece.rows.size() * step);
        store.read_block(e, piece, {cells, type, step, size});
        f(piece, type, static_cast<const std::byte*>(cells), step);
      }
    }
  }
}

}  // namespace dapple::detail
