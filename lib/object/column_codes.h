// Whether the numbers of a column stand for anything: codes for words, 0 and 1 for truth values
// (lib/dbdf/FORMAT.md, "Columns"). Numbers that do not are corrupt wherever they are read as that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "dapple/column.h"

namespace dapple::detail {

/// The greatest number that means something, marks of missing cells included; nothing where
/// all do. Throws what reading the words does.
std::optional<std::uint64_t> greatest_code(const Meaning& meaning);

/// The first of `rows` stored numbers of a column, `step` bytes apart, that means nothing;
/// `rows` when all do. O(1) for columns without codes.
std::uint64_t first_meaningless(const Column& column, const std::byte* cells, std::size_t step,
                                std::uint64_t rows);

/// Says what is wrong with `bits`, which is above the greatest code of the column: "column "a"
/// holds 3, which is neither true nor false".
std::string told_code(const Column& column, std::uint64_t bits,
                      std::optional<std::uint64_t> row = std::nullopt);

/// Throws corrupt.
[[noreturn]] void fail_code(const std::string& file, const Column& column, std::uint64_t bits,
                            std::uint64_t row);

}  // namespace dapple::detail
