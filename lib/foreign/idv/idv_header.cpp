#include "lib/foreign/idv/idv_header.h"

#include <string>

#include "lib/base/bytes.h"

namespace dapple::detail::idv {
namespace {

namespace header_at {
constexpr std::uint64_t signature = 0, version = 8, compatible = 16, toc = 24, tail = 32, rows = 40,
                        columns = 48;
}

void check_versions(const MappedFile& file, const Header& header) {
  const auto refuse = [&](Errc code, std::uint64_t offset, const std::string& wanted,
                          std::uint64_t got) {
    throw Error(code, file.name(), offset, "expected " + wanted + ", got " + version_text(got));
  };
  if (header.version < kFirstVersion) {
    refuse(Errc::unsupported, header_at::version,
           "version " + version_text(kFirstVersion) + " or later", header.version);
  }
  if (header.compatible > header.version) {
    refuse(Errc::corrupt, header_at::compatible,
           "a compatible version of at most " + version_text(header.version), header.compatible);
  }
  if (header.compatible < kFirstVersion || header.compatible > kLastVersion) {
    refuse(Errc::unsupported, header_at::compatible,
           "a compatible version of " + version_text(kFirstVersion) + " to " +
               version_text(kLastVersion),
           header.compatible);
  }
}

}  // namespace

std::string version_text(std::uint64_t v) {
  std::string text;
  for (int shift = 48; shift >= 0; shift -= 16) {
    if (!text.empty()) text += '.';
    text += std::to_string((v >> shift) & 0xffff);
  }
  return text;
}

bool is_idv(std::span<const std::byte> head) noexcept {
  return head.size() >= 8 && load_le<std::uint64_t>(head.data()) == kSignature;
}

Header read_header(const MappedFile& file) {
  const std::uint64_t size = file.size();
  ByteReader in(file.bytes(0, std::min(size, kHeaderBytes)), 0, file.name());
  const auto fail = [&](std::uint64_t offset, const std::string& wanted, const std::string& got) {
    in.fail(offset, "expected " + wanted + ", got " + got);
  };
  // An offset or count is a signed number that may not be negative.
  const auto natural = [&](std::string_view what) {
    const std::uint64_t offset = in.offset();
    const auto value = in.le<std::int64_t>(what);
    if (value < 0) fail(offset, std::string(what) + " of at least 0", std::to_string(value));
    return static_cast<std::uint64_t>(value);
  };

  if (in.le<std::uint64_t>("the signature") != kSignature) {
    fail(header_at::signature, "the signature CML 0 DVB 0", "other bytes");
  }
  if (size < kHeaderBytes) {
    fail(size, "a header of 256 bytes", std::to_string(size) + " bytes");
  }
  Header header;
  header.version = in.le<std::uint64_t>("the version");
  header.compatible = in.le<std::uint64_t>("the compatible version");
  check_versions(file, header);
  header.toc_offset = natural("the offset of the table of contents");
  header.tail_offset = natural("the offset of the tail");
  header.rows = natural("a number of rows");
  const auto columns = in.le<std::int32_t>("the number of columns");
  if (columns < 0) {
    fail(header_at::columns, "a number of columns of at least 0", std::to_string(columns));
  }
  header.columns = static_cast<std::uint32_t>(columns);

  const std::string range = " of 256 to ";
  if (header.tail_offset < kHeaderBytes || size < kTailBytes ||
      header.tail_offset > size - kTailBytes) {
    fail(header_at::tail,
         "a tail offset" + range + std::to_string(std::max(size, kTailBytes) - kTailBytes),
         std::to_string(header.tail_offset));
  }
  if (load_le<std::uint64_t>(file.at(header.tail_offset, kTailBytes)) != kTailSignature) {
    fail(header.tail_offset, "the tail signature 0 BVD 0 LMC", "other bytes");
  }
  if (header.columns > 0 &&
      (header.toc_offset < kHeaderBytes || header.toc_offset > header.tail_offset)) {
    fail(header_at::toc,
         "an offset of the table of contents" + range + std::to_string(header.tail_offset),
         std::to_string(header.toc_offset));
  }
  return header;
}

std::array<std::byte, kHeaderBytes> header_bytes(const Header& header) noexcept {
  std::array<std::byte, kHeaderBytes> bytes{};
  std::byte* const p = bytes.data();
  store_le(p + header_at::signature, kSignature);
  store_le(p + header_at::version, header.version);
  store_le(p + header_at::compatible, header.compatible);
  store_le(p + header_at::toc, header.toc_offset);
  store_le(p + header_at::tail, header.tail_offset);
  store_le(p + header_at::rows, header.rows);
  store_le(p + header_at::columns, header.columns);
  return bytes;
}

std::array<std::byte, kTailBytes> tail_bytes() noexcept {
  std::array<std::byte, kTailBytes> bytes{};
  store_le(bytes.data(), kTailSignature);
  return bytes;
}

}  // namespace dapple::detail::idv
