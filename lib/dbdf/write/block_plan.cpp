#include "lib/dbdf/write/block_plan.h"

#include <limits>
#include <string>

#include "lib/base/bytes.h"
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

// The narrowest type that holds the cells; of types of the same size `declared`, then the one with
// the lowest code.
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
      throw Error(Errc::invalid_argument, "a block of " + extents_text(rows, cols) +
                                              " cells with " + counted(survey.nonzero, "value") +
                                              " cannot be stored as " +
                                              std::string(name(plan.kind)));
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

}  // namespace dapple::detail::dbdf
