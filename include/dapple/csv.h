// Labels and cells of frames as the fields of a csv file: in quotes where they would be taken for
// something else without them (lib/foreign/csv/FORMAT.md, "Writing").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dapple/column.h"

namespace dapple {

/// Appends a cell: nothing for a missing one, a word as `append_csv_word` does. `bits` is the
/// stored value, in the low bytes. Throws what `append_text` throws.
void append_csv(const Column& column, std::uint64_t bits, std::string& out);

/// Appends a word, in quotes if it looks like a number, a truth value, a time or a missing cell.
void append_csv_word(std::string_view word, std::string& out);

/// Appends a label, in quotes if it looks like a number or a missing cell.
void append_csv_label(std::string_view label, std::string& out);

}  // namespace dapple
