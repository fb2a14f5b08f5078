// What a delimited text does not say of itself: its delimiter, and whether its first line holds
// labels. Both are guessed from the first lines unless the caller knows.
#pragma once

#include <string_view>
#include <vector>

#include "lib/foreign/csv/csv_text.h"

namespace dapple::detail::csv {

/// Tab, semicolon or comma: the first of them that stands in every one of the first lines equally
/// often, else the one that stands most often in the second line. Quoted fields are passed over.
char guess_delimiter(std::string_view text) noexcept;

/// The fields of the line at `p`; `next` is the start of the line behind it. Throws corrupt for
/// broken quotes, naming `file`, `line` and the byte counted from `base`.
std::vector<Field> split_line(const char*& next, const char* p, const char* end, char delimiter,
                              const std::string& file, const char* base, std::uint64_t line);

/// True when the first line must be labels: a field that is neither a number nor missing, or one
/// that is quoted while the second line's is not (`second` is empty where there is none).
bool guess_header(const std::vector<Field>& first, const std::vector<Field>& second) noexcept;

}  // namespace dapple::detail::csv
