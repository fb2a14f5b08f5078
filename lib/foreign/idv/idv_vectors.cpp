#include "lib/foreign/idv/idv_vectors.h"

#include <string>

#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {

VectorRun::VectorRun(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n)
    : in_(block), n_(n) {
  const auto natural = [&](std::string_view what) {
    const std::uint64_t at = in_.offset();
    const auto value = in_.le<std::int32_t>(what);
    if (value < 0) {
      in_.fail(at, std::string(what) + " cannot be negative: " + std::to_string(value));
    }
    return static_cast<std::uint64_t>(value);
  };
  if (const std::uint64_t vectors = natural("a number of vectors"); vectors != n) {
    in_.fail(0, counted(vectors, "vector") + " in a block of " + counted(n, "row"));
  }
  const std::uint64_t length_at = in_.offset();
  common_length_ = natural("a common length");
  if (codec.size > 0 && common_length_ != codec.size) {
    in_.fail(length_at, "the block has vectors of length " + std::to_string(common_length_) +
                            ", but the column's type says " + std::to_string(codec.size));
  }
  const std::uint64_t lengths_at = in_.offset();
  if (common_length_ == 0) lengths_ = in_.take(n * 4, "vector lengths");
  const std::uint64_t counts_at = in_.offset();
  counts_ = in_.take(n * 4, "counts of stored items");
  count_items(lengths_at, counts_at);

  const std::uint64_t index_count_at = in_.offset();
  const std::uint64_t stated = natural("a number of indices");
  if (stated != index_count_) {
    in_.fail(index_count_at, "the block says that it has " + std::to_string(stated) +
                                 " indices, but the counts of its vectors sum to " +
                                 std::to_string(index_count_));
  }
  indices_at_ = in_.offset();
  indices_ = in_.take(index_count_ * 4, "indices");
}

void VectorRun::count_items(std::uint64_t lengths_at, std::uint64_t counts_at) {
  for (std::uint64_t row = 0; row < n_; ++row) {
    const std::uint64_t slots = length(row);
    if (slots > kMaxInt) {
      in_.fail(lengths_at + row * 4, "the vector length is negative");
    }
    const std::int32_t stored = count(row);
    if (stored < -1 || (stored >= 0 && static_cast<std::uint64_t>(stored) >= slots)) {
      in_.fail(counts_at + row * 4, "a vector of length " + std::to_string(slots) +
                                        " cannot store " + std::to_string(stored) +
                                        " items with indices");
    }
    item_count_ += stored < 0 ? slots : static_cast<std::uint64_t>(stored);  // below 2^62
    if (stored < 0) continue;
    index_count_ += static_cast<std::uint64_t>(stored);
    ++sparse_rows_;
  }
  // An item has at least one bit; sizes computed from the number can't overflow then.
  if (item_count_ / 8 > in_.remaining()) {
    in_.fail(counts_at, "the counts say " + std::to_string(item_count_) +
                            " items, which do not fit the " + std::to_string(in_.remaining()) +
                            " bytes that are left");
  }
}

VectorRow VectorRun::row_at(std::uint64_t row, std::uint64_t item,
                            std::uint64_t index) const noexcept {
  VectorRow v;
  const std::int32_t stored = count(row);
  v.row = row;
  v.length = length(row);
  v.first_item = item;
  v.dense = stored < 0;
  v.items = v.dense ? v.length : static_cast<std::uint64_t>(stored);
  if (!v.dense) v.indices = indices_.subspan(index * 4, v.items * 4).data();
  return v;
}

void VectorRun::check_indices(const VectorRow& row) const {
  if (row.dense) return;
  std::int64_t last = -1;
  for (std::uint64_t i = 0; i < row.items; ++i) {
    const std::int64_t slot = load_le<std::int32_t>(row.indices + i * 4);
    if (slot <= last || slot >= static_cast<std::int64_t>(row.length)) {
      const auto at = static_cast<std::uint64_t>(row.indices - indices_.data()) + i * 4;
      const bool outside = slot < 0 || slot >= static_cast<std::int64_t>(row.length);
      in_.fail(indices_at_ + at, outside ? "slot " + std::to_string(slot) +
                                               " is outside a vector of length " +
                                               std::to_string(row.length)
                                         : "slot " + std::to_string(slot) + " comes after slot " +
                                               std::to_string(last) + "; slots must ascend");
    }
    last = slot;
  }
}

}  // namespace dapple::detail::idv
