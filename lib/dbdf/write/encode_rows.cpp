#include "lib/dbdf/write/encode_rows.h"

#include <algorithm>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::dbdf {

void RowEncoder::put(std::uint32_t begin, std::uint32_t end) {
  const auto each = [&](const auto& put_row) {
    for (std::uint32_t i = begin; i < end; ++i) {
      if (cells_.row(i) != next_row_) put_empty_rows(cells_.row(i));
      put_row(i);
      ++next_row_;
    }
  };
  visit_bits(plan_.type, [&](auto bits) {
    constexpr std::size_t size = sizeof bits;
    if (plan_.kind == BlockKind::csr) {
      each([&](std::uint32_t i) { put_csr<size>(i); });
    } else if (plan_.kind == BlockKind::dense) {
      each([&](std::uint32_t i) { put_dense<size>(i); });
    } else if (plan_.kind == BlockKind::coo && cells_.cols == 1) {
      each([&](std::uint32_t i) { put_coo<size, false>(i); });
    } else if (plan_.kind == BlockKind::coo) {
      each([&](std::uint32_t i) { put_coo<size, true>(i); });
    }
  });
}

void RowEncoder::finish() { put_empty_rows(cells_.rows); }

void RowEncoder::put_empty_rows(std::uint32_t row) {
  const std::uint64_t rows = row - next_row_;
  if (plan_.kind == BlockKind::csr) out_.put_zeros(rows * sizeof(std::uint32_t));
  if (plan_.kind == BlockKind::dense) out_.put_zeros(rows * cells_.cols * size_of(plan_.type));
  next_row_ = row;
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

template <std::size_t kSize>
void RowEncoder::put_csr(std::uint32_t i) {
  constexpr std::size_t stride = 4 + kSize;
  std::uint64_t k = cells_.row_ptr[i];
  const std::uint64_t end = cells_.row_ptr[i + 1];
  store_le(out_.claim(4), static_cast<std::uint32_t>(end - k));
  while (k < end) {
    std::uint64_t count = std::min<std::uint64_t>(end - k, (out_.left() + stride - 1) / stride);
    const std::byte* const value = values_at<kSize>(k, count);
    std::byte* entry = out_.claim(count * stride);
    for (std::uint64_t j = 0; j < count; ++j, entry += stride) {
      std::memcpy(entry, cells_.col_idx + k + j, 4);
      std::memcpy(entry + 4, value + j * kSize, kSize);
    }
    k += count;
  }
}

template <std::size_t kSize, bool kWithCol>
void RowEncoder::put_coo(std::uint32_t i) {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
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

template <std::size_t kSize>
void RowEncoder::put_dense(std::uint32_t i) {
  std::uint64_t k = cells_.row_ptr[i];
  const std::uint64_t end = cells_.row_ptr[i + 1];
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

EncodedStats::EncodedStats(const CsrCells& cells, const Plan& plan, bool wanted)
    : cells_(cells), plan_(plan), wanted_(wanted) {
  if (wanted_) stats_ = of({0, 0});
}

void EncodedStats::reach(std::uint32_t end) {
  constexpr std::uint64_t kAtOnce = 4096;  // stays in the cache, and is worth a call
  const std::uint64_t entries = cells_.row_ptr[end];
  if (!wanted_ || (entries - done_ < kAtOnce && end < cells_.row_count())) return;
  stats_.merge(of({done_, entries}));
  done_ = entries;
}

const BlockStats& EncodedStats::finish() {
  const std::uint64_t zeros = std::uint64_t{cells_.rows} * cells_.cols - cells_.stored();
  if (wanted_ && plan_.kind == BlockKind::dense && zeros > 0) {  // which a dense block stores
    visit_type(plan_.type, [&](auto zero) {
      using T = decltype(zero);
      TallyOf<T> tally;
      tally.add(T{0});
      if constexpr (std::is_floating_point_v<T>) tally.pending = zeros;
      stats_.merge(BlockStats::of<T>(tally));
    });
  }
  return stats_;
}

BlockStats EncodedStats::of(Range entries) const {
  const std::size_t size = size_of(cells_.type);
  return stats_of_values(plan_.type, cells_.type, cells_.values + entries.begin * size, 1,
                         entries.size(), entries.size() * size);
}

}  // namespace dapple::detail::dbdf
