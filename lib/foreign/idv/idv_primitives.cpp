#include "lib/foreign/idv/idv_primitives.h"

#include "lib/base/utf8.h"

namespace dapple::detail::idv {

std::uint64_t read_leb128(ByteReader& in, std::string_view what) {
  const std::uint64_t start = in.offset();
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = in.le<std::uint8_t>(what);
    if (shift == 63 && byte > 1) {
      in.fail(start, std::string(what) + " is no LEB128 number of at most 64 bits");
    }
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

std::uint64_t read_string_length(ByteReader& in, std::string_view what) {
  const std::uint64_t start = in.offset();
  const std::uint64_t length = read_leb128(in, what);
  if (length > kMaxInt) {
    in.fail(start, std::string(what) + " of " + std::to_string(length) +
                       " bytes is longer than the 2147483647 bytes that a string can have");
  }
  return length;
}

std::string read_string(ByteReader& in, std::string_view what) {
  const std::uint64_t length = read_string_length(in, what);
  const std::uint64_t text_start = in.offset();
  const auto bytes = in.take(length, what);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!is_utf8(text)) {
    in.fail(text_start, std::string(what) + " is not UTF-8");
  }
  return std::string(text);
}

void put_leb128(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void put_string(std::vector<std::byte>& out, std::string_view text) {
  put_leb128(out, text.size());
  append_bytes(out, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace dapple::detail::idv
