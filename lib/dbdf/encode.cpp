#include "lib/dbdf/encode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "lib/dbdf/header.h"
#include "lib/object/convert_cells.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max();

std::uint64_t bytes_of(BlockKind kind, ValueType type, std::uint64_t nonzero, std::uint32_t rows,
                       std::uint32_t cols) {
  std::uint64_t bytes;
  if (kind == BlockKind::coo && nonzero > std::numeric_limits<std::uint32_t>::max()) {
    return kTooLarge;
  }
  return block_size(kind, rows, cols, type, nonzero, bytes) ? bytes : kTooLarge;
}

// The narrowest type that holds the cells; types of one size in the order `declared`, codes.
ValueType narrowest(const Survey& survey, ValueType declared) {
  ValueType best = declared;
  for (const ValueType type : kValueTypes) {
    if (survey.holds(type) && size_of(type) < size_of(best)) best = type;
  }
  return best;
}

}  // namespace

Plan make_plan(const Survey& survey, std::uint32_t rows, std::uint32_t cols, ValueType declared,
               const WriteOptions& options) {
  Plan plan;
  plan.type = options.narrow ? narrowest(survey, declared) : declared;
  const auto bytes = [&](BlockKind kind) {
    return bytes_of(kind, plan.type, survey.nonzero, rows, cols);
  };
  if (options.kind != KindChoice::automatic) {
    plan.kind = options.kind == KindChoice::dense ? BlockKind::dense
                : options.kind == KindChoice::csr ? BlockKind::csr
                                                  : BlockKind::coo;
    if (bytes(plan.kind) == kTooLarge) {
      throw Error(Errc::invalid_argument,
                  "expected a block that can be stored as " + std::string(name(plan.kind)) +
                      ", got " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " cells with " + std::to_string(survey.nonzero) + " values");
    }
    return plan;
  }
  if (survey.nonzero == 0) return {BlockKind::empty, ValueType::u8};
  plan.kind = BlockKind::dense;
  for (const BlockKind kind : {BlockKind::csr, BlockKind::coo}) {
    if (bytes(kind) < bytes(plan.kind)) plan.kind = kind;
  }
  return plan;
}

namespace {

// Writes the sparse entries of a block as they come, row by row.
class SparseSink {
 public:
  SparseSink(const Plan& plan, std::uint32_t cols, std::byte* out)
      : csr_(plan.kind == BlockKind::csr), with_col_(csr_ || cols != 1), out_(out) {}

  void begin_row(std::uint32_t row) {
    row_ = row;
    count_ = 0;
    if (csr_) {
      count_at_ = out_;
      out_ += 4;
    }
  }
  // Where the value goes.
  std::byte* put(std::uint32_t col, std::size_t value_size) {
    if (!csr_) {
      store_le(out_, row_);
      out_ += 4;
    }
    if (with_col_) {
      store_le(out_, col);
      out_ += 4;
    }
    std::byte* const value = out_;
    out_ += value_size;
    ++count_;
    return value;
  }
  void end_row() {
    if (csr_) store_le(count_at_, count_);
  }

 private:
  bool csr_, with_col_;
  std::byte* out_;
  std::byte* count_at_ = nullptr;
  std::uint32_t row_ = 0;
  std::uint32_t count_ = 0;
};

template <class From, class To>
void encode_sparse(const DenseCells& cells, const Plan& plan, std::byte* out) {
  SparseSink sink(plan, cells.cols, out);
  for (std::uint32_t r = 0; r < cells.rows; ++r) {
    const std::byte* row = cells.row(r);
    sink.begin_row(r);
    for (std::uint32_t c = 0; c < cells.cols; ++c) {
      const std::byte* p = row + c * sizeof(From);
      if (load_bits(value_type_of<From>(), p) == 0) continue;
      std::byte* value = sink.put(c, sizeof(To));
      if constexpr (std::is_same_v<From, To>) {
        std::memcpy(value, p, sizeof(To));
      } else {
        store_le(value, static_cast<To>(load_le<From>(p)));  // exact by the survey
      }
    }
    sink.end_row();
  }
}

}  // namespace

void encode(const DenseCells& cells, const Plan& plan, std::span<std::byte> out) {
  const std::size_t from = size_of(cells.type), to = size_of(plan.type);
  if (plan.kind == BlockKind::dense) {
    for (std::uint32_t r = 0; r < cells.rows; ++r) {
      convert_cells(cells.type, cells.row(r), from, plan.type,
                    out.data() + std::size_t{r} * cells.cols * to, to, cells.cols);
    }
    return;
  }
  if (plan.kind == BlockKind::empty) return;
  visit_type(cells.type, [&](auto from_tag) {
    visit_type(plan.type, [&](auto to_tag) {
      // A plan keeps the type or takes a smaller one.
      if constexpr (std::is_same_v<decltype(from_tag), decltype(to_tag)> ||
                    sizeof(to_tag) < sizeof(from_tag)) {
        encode_sparse<decltype(from_tag), decltype(to_tag)>(cells, plan, out.data());
      }
    });
  });
}

namespace {

// The sparse entries of a block, all of `kSize` bytes a value.
template <std::size_t kSize>
class SparseEncoder {
 public:
  SparseEncoder(const SparseCells& cells, const Plan& plan, std::byte* out)
      : cells_(cells), plan_(plan), out_(out), sink_(plan, cells.cols, out) {}

  void run() {
    const bool csr = plan_.kind == BlockKind::csr;
    std::uint32_t row = 0;  // begun
    if (csr) sink_.begin_row(row);
    for (std::size_t i = 0; i < cells_.cells.size(); i += kBatch) {
      const auto batch = cells_.cells.subspan(i, std::min(kBatch, cells_.cells.size() - i));
      const std::byte* values = values_of(batch);
      for (const SparseCell& cell : batch) {
        if (csr) {
          while (row < cell.row) next_row(row);
        } else {
          sink_.begin_row(cell.row);
        }
        put(cell, values);
        values += value_step_;
      }
    }
    if (!csr) return;
    while (row + 1 < cells_.rows) next_row(row);
    sink_.end_row();
  }

  // The same for a dense block.
  void run_dense() {
    for (std::size_t i = 0; i < cells_.cells.size(); i += kBatch) {
      const auto batch = cells_.cells.subspan(i, std::min(kBatch, cells_.cells.size() - i));
      const std::byte* values = values_of(batch);
      for (const SparseCell& cell : batch) {
        const std::size_t at = std::size_t{cell.row} * cells_.cols + cell.col;
        std::memcpy(out_ + at * kSize, values, kSize);
        values += value_step_;
      }
    }
  }

 private:
  static constexpr std::size_t kBatch = 256;

  // The first value of a batch as the plan's type, exact by the survey; the next is value_step_
  // bytes further on.
  const std::byte* values_of(std::span<const SparseCell> batch) {
    const auto* first = reinterpret_cast<const std::byte*>(&batch.front().bits);
    if (plan_.type == cells_.type) return first;
    value_step_ = kSize;
    convert_cells(cells_.type, first, sizeof(SparseCell), plan_.type, narrowed_.data(), kSize,
                  batch.size());
    return narrowed_.data();
  }
  void next_row(std::uint32_t& row) {
    sink_.end_row();
    sink_.begin_row(++row);
  }
  void put(const SparseCell& cell, const std::byte* value) {
    std::memcpy(sink_.put(cell.col, kSize), value, kSize);
  }

  const SparseCells& cells_;
  const Plan& plan_;
  std::byte* out_;
  SparseSink sink_;
  std::size_t value_step_ = sizeof(SparseCell);
  std::array<std::byte, kBatch * kSize> narrowed_;
};

template <std::size_t kSize>
void encode_cells(const SparseCells& cells, const Plan& plan, std::span<std::byte> out) {
  SparseEncoder<kSize> encoder(cells, plan, out.data());
  if (plan.kind == BlockKind::dense) {
    std::memset(out.data(), 0, out.size());
    encoder.run_dense();
  } else {
    encoder.run();
  }
}

}  // namespace

void encode(const SparseCells& cells, const Plan& plan, std::span<std::byte> out) {
  if (plan.kind == BlockKind::empty) return;
  switch (size_of(plan.type)) {
    case 1:
      return encode_cells<1>(cells, plan, out);
    case 2:
      return encode_cells<2>(cells, plan, out);
    case 4:
      return encode_cells<4>(cells, plan, out);
    default:
      return encode_cells<8>(cells, plan, out);
  }
}

}  // namespace dapple::detail::dbdf
