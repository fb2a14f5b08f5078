// Columns of frames of every type and meaning, some of their cells missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dapple/column.h"
#include "tests/support.h"

namespace dapple::test {

Column column_meaning(MeaningKind kind, ValueType type, const std::string& label);

/// Columns of all numbers, with and without marks of missing cells, and of every meaning.
std::vector<Column> every_column();

/// A number that the column may store, now and then the mark of a missing cell.
std::uint64_t random_stored(const Column& column, Rng& rng);

}  // namespace dapple::test
