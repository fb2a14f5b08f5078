// UTF-8 from and to big-endian UTF-16, strictly: what one form cannot say in the other is refused,
// never replaced.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dapple::detail {

/// Appends `units`, pairs of bytes, most significant first, as UTF-8. Returns the byte of the
/// first surrogate that has no partner (`out` then holds what stands before it), or nothing. A
/// last odd byte is not looked at.
std::optional<std::size_t> append_utf16be_as_utf8(std::span<const std::byte> units,
                                                  std::string& out);

/// Appends `text` as pairs of bytes, most significant first. Returns the byte of the first
/// character that is not UTF-8 (`out` then holds what stands before it), or nothing.
std::optional<std::size_t> append_utf8_as_utf16be(std::string_view text,
                                                  std::vector<std::byte>& out);

}  // namespace dapple::detail
