// UTF-8 from and to big-endian UTF-16, strictly: malformed text is refused, never replaced.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dapple::detail {

/// Appends UTF-16 code units, given as bytes, as UTF-8. Returns the offset of the first unpaired
/// surrogate (`out` then holds what precedes it), or nothing. A last odd byte is ignored.
std::optional<std::size_t> append_utf16be_as_utf8(std::span<const std::byte> units,
                                                  std::string& out);

/// Appends `text` as UTF-16. Returns the offset of the first byte that is not UTF-8 (`out` then
/// holds what precedes it), or nothing.
std::optional<std::size_t> append_utf8_as_utf16be(std::string_view text,
                                                  std::vector<std::byte>& out);

}  // namespace dapple::detail
