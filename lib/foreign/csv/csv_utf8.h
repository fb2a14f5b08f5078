// Words must be UTF-8: nothing else can be stored, and no other encoding is guessed. Only UTF-16
// and UTF-32 are told, by their byte order marks: every second byte of theirs is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/foreign/csv/csv_scan.h"

namespace dapple::detail::csv {

/// The encoding whose byte order mark, other than that of UTF-8, the text starts with; or "".
std::string_view other_encoding(std::string_view text) noexcept;

/// Throws unsupported, saying how to convert it, for a text that starts with the mark of one;
/// not_recognised for what is no text at all. `base` is where the file starts.
void require_text(std::string_view text, const char* base, const std::string& file);

/// Throws unsupported, naming line and column, for the first field with a word that is not UTF-8.
/// `rows` is what a scan found from `p` on. O(bytes of different words); once more through the text
/// when there is one.
void require_utf8(const ScanInput& input, const Rows& rows, const char* p);

}  // namespace dapple::detail::csv
