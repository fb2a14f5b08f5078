#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {

std::string read_string(ByteReader& in, std::string_view what) {
  const std::uint64_t start = in.offset();
  const std::uint64_t length = read_leb128(in, what);
  if (length > kMaxInt) {
    in.fail(start, "expected " + std::string(what) + " of at most 2147483647 bytes, got " +
                       std::to_string(length));
  }
  const std::uint64_t text_start = in.offset();
  const auto bytes = in.take(length, what);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    in.fail(text_start + bad, "expected " + std::string(what) + " in UTF-8, got byte " +
                                  std::to_string(std::to_integer<unsigned>(bytes[bad])));
  }
  return std::string(text);
}

void put_leb128(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void put_string(std::vector<std::byte>& out, std::string_view text) {
  put_leb128(out, text.size());
  put_bytes(out, std::as_bytes(std::span(text.data(), text.size())));
}

void put_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  // The second byte's range excludes over-long forms, surrogates, and numbers above 0x10ffff.
  const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace dapple::detail::idv
