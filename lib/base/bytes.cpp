#include "lib/base/bytes.h"

namespace dapple::detail {

void ByteReader::fail(std::uint64_t offset, std::string detail) const {
  throw Error(Errc::corrupt, *file_, offset, std::move(detail));
}

void ByteReader::fail_short(std::uint64_t n, std::string_view what) const {
  fail(offset(), "expected " + std::to_string(n) + (n == 1 ? " byte of " : " bytes of ") +
                     std::string(what) + ", got " + std::to_string(remaining()));
}

}  // namespace dapple::detail
