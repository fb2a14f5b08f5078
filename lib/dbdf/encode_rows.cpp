#include "lib/dbdf/encode_rows.h"

#include <algorithm>
#include <cstring>

#include "lib/bytes.h"
#include "lib/dbdf/split_entries.h"
#include "lib/object/convert_cells.h"

namespace dapple::detail::dbdf {

void RowEncoder::run() {
  visit_bits(plan_.type, [&](auto bits) { encode<sizeof bits>(); });
}

template <std::size_t kSize>
void RowEncoder::encode() {
  switch (plan_.kind) {
    case BlockKind::csr:
      encode_csr<kSize>();
      break;
    case BlockKind::coo:
      cells_.cols == 1 ? encode_coo<kSize, false>() : encode_coo<kSize, true>();
      break;
    case BlockKind::dense:
      encode_dense<kSize>();
      break;
    case BlockKind::empty:
      break;
  }
}

template <std::size_t kSize>
const std::byte* RowEncoder::values_at(std::uint64_t k, std::uint64_t& count) {
  if (plan_.type == cells_.type) return cells_.value(k);
  if (k >= converted_end_) {
    const std::uint64_t batch = std::min(kBatch, cells_.stored() - k);
    convert_cells(cells_.type, cells_.value(k), size_of(cells_.type), plan_.type, converted_.data(),
                  kSize, batch);
    converted_begin_ = k;
    converted_end_ = k + batch;
  }
  count = std::min(count, converted_end_ - k);
  return converted_.data() + (k - converted_begin_) * kSize;
}

void RowEncoder::encode_empty_rows(std::uint32_t count) {
  for (; count > 0; --count) store_le(out_.claim(4), std::uint32_t{0});
}

template <std::size_t kSize>
void RowEncoder::encode_csr() {
  constexpr std::size_t stride = 4 + kSize;
  std::uint32_t next = 0;  // row to write
  for (std::uint32_t i = 0; i < cells_.row_count(); ++i, ++next) {
    encode_empty_rows(cells_.row(i) - next);
    next = cells_.row(i);
    std::uint64_t k = cells_.row_ptr[i];
    const std::uint64_t end = cells_.row_ptr[i + 1];
    store_le(out_.claim(4), static_cast<std::uint32_t>(end - k));
    while (k < end) {
      std::uint64_t count = std::min<std::uint64_t>(end - k, (out_.left() + stride - 1) / stride);
      const std::byte* value = values_at<kSize>(k, count);
      const std::uint32_t* const cols = cells_.col_idx + k;
      std::byte* const out = out_.claim(count * stride);
      join_csr_entries<kSize>(cols, value, static_cast<std::uint32_t>(count), out);
      k += count;
    }
  }
  encode_empty_rows(cells_.rows - next);
}

template <std::size_t kSize, bool kWithCol>
void RowEncoder::encode_coo() {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  for (std::uint32_t i = 0; i < cells_.row_count(); ++i) {
    const std::uint32_t row = cells_.row(i);
    for (std::uint64_t k = cells_.row_ptr[i]; k < cells_.row_ptr[i + 1];) {
      std::uint64_t count = cells_.row_ptr[i + 1] - k;
      const std::byte* value = values_at<kSize>(k, count);
      for (std::uint64_t n = 0; n < count; ++n, value += kSize) {
        std::byte* const out = out_.claim(stride);
        store_le(out, row);
        if constexpr (kWithCol) store_le(out + 4, cells_.col_idx[k + n]);
        std::memcpy(out + stride - kSize, value, kSize);
      }
      k += count;
    }
  }
}

template <std::size_t kSize>
void RowEncoder::encode_dense() {
  std::uint32_t i = 0;  // of the rows that are here
  for (std::uint32_t row = 0; row < cells_.rows; ++row) {
    const bool here = i < cells_.row_count() && cells_.row(i) == row;
    std::uint64_t k = here ? cells_.row_ptr[i] : 0;
    const std::uint64_t end = here ? cells_.row_ptr[i + 1] : 0;
    i += here ? 1U : 0U;
    for (std::uint64_t col = 0; col < cells_.cols;) {
      const std::uint64_t width =
          std::min<std::uint64_t>(cells_.cols - col, (out_.left() + kSize - 1) / kSize);
      std::byte* const out = out_.claim(width * kSize);
      std::memset(out, 0, width * kSize);
      while (k < end && cells_.col_idx[k] < col + width) {
        std::uint64_t count = 1;
        std::memcpy(out + (cells_.col_idx[k] - col) * kSize, values_at<kSize>(k, count), kSize);
        ++k;
      }
      col += width;
    }
  }
}

}  // namespace dapple::detail::dbdf
