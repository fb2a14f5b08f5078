#include "lib/base/bytes.h"

namespace dapple::detail {

void ByteReader::fail(std::uint64_t offset, std::string detail) const {
  if (!inflated_) throw Error(Errc::corrupt, *file_, offset, std::move(detail));
  throw Error(Errc::corrupt, *file_, *inflated_,
              detail + " (at byte " + std::to_string(offset) + " of the inflated block)");
}

void ByteReader::fail_short(std::uint64_t n, std::string_view what) const {
  fail(offset(), too_short(n, what, remaining()));
}

std::string counted(std::uint64_t n, std::string_view what) {
  return std::to_string(n).append(" ").append(what).append(n == 1 ? "" : "s");
}

std::string extents_text(std::span<const std::uint64_t> extents) {
  std::string text;
  for (const std::uint64_t n : extents) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

std::string extents_text(std::uint64_t rows, std::uint64_t cols) {
  const std::uint64_t both[] = {rows, cols};
  return extents_text(both);
}

std::string too_short(std::uint64_t n, std::string_view what, std::uint64_t left) {
  return counted(n, "byte").append(" of ").append(what) + (n == 1 ? " is" : " are") +
         " needed here, but " +
         (left == 0 ? "nothing is left"
                    : "only " + std::to_string(left) + (left == 1 ? " is" : " are") + " left");
}

std::string surplus(std::uint64_t n, std::string_view what) {
  return counted(n, "byte").append(n == 1 ? " follows " : " follow ").append(what);
}

}  // namespace dapple::detail
