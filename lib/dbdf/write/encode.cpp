#include "lib/dbdf/write/encode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "lib/cells/convert_cells.h"
#include "lib/dbdf/header.h"

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

}  // namespace dapple::detail::dbdf
