// Words must be UTF-8: nothing else can be stored, and no other encoding is guessed.
#pragma once

#include <cstdint>

#include "lib/foreign/csv/csv_scan.h"

namespace dapple::detail::csv {

/// Throws unsupported, naming line and column, for the first field with a word that is not UTF-8.
/// `rows` is what a scan found from `p` on, which is line `line`. O(bytes of different words); once
/// more through the text when there is such a word.
void require_utf8(const ScanInput& input, const Rows& rows, const char* p, std::uint64_t line);

}  // namespace dapple::detail::csv
