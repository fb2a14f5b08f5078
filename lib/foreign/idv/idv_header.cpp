#include "lib/foreign/idv/idv_header.h"

#include <string>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

namespace header_at {
constexpr std::uint64_t signature = 0, version = 8, compatible = 16, toc = 24, tail = 32, rows = 40,
                        columns = 48;
}

void check_versions(const ByteSource& file, const Header& header) {
  const auto refuse = [&](Errc code, std::uint64_t offset, std::string wrong) {
    throw Error(code, file.name(), offset, std::move(wrong));
  };
  const std::string compatible = version_text(header.compatible);
  if (header.version < kFirstVersion) {
    refuse(Errc::unsupported, header_at::version,
           "version " + version_text(header.version) + " is too old: files from " +
               version_text(kFirstVersion) + " on can be read");
  }
  if (header.compatible > header.version) {
    refuse(Errc::corrupt, header_at::compatible,
           "compatible version " + compatible + " is later than the file's own, " +
               version_text(header.version));
  }
  if (header.compatible < kFirstVersion || header.compatible > kLastVersion) {
    refuse(Errc::unsupported, header_at::compatible,
           "the file asks for a reader of version " + compatible + "; this one reads " +
               version_text(kFirstVersion) + " to " + version_text(kLastVersion));
  }
}

}  // namespace

std::string misplaced(std::string_view what, std::uint64_t offset, const Header& header) {
  return std::string(what) + " cannot be at byte " +
         std::to_string(static_cast<std::int64_t>(offset)) +
         ": everything is between byte 256 and the tail at " + std::to_string(header.tail_offset);
}

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

Header read_header(const ByteSource& file) {
  const std::uint64_t size = file.size();
  ByteReader in(file.bytes(0, std::min(size, kHeaderBytes)), 0, file.name());
  if (in.le<std::uint64_t>("the signature") != kSignature) {
    in.fail(header_at::signature, "the file does not start with the signature CML 0 DVB 0");
  }
  if (size < kHeaderBytes) {
    in.fail(size, "the file ends inside its header of 256 bytes");
  }
  Header header;
  header.version = in.le<std::uint64_t>("the version");
  header.compatible = in.le<std::uint64_t>("the compatible version");
  check_versions(file, header);
  header.toc_offset = read_natural<std::int64_t>(in, "the offset of the table of contents");
  header.tail_offset = read_natural<std::int64_t>(in, "the offset of the tail");
  header.rows = read_natural<std::int64_t>(in, "the number of rows");
  header.columns = read_natural<std::int32_t>(in, "the number of columns");
  if (header.tail_offset < kHeaderBytes || size < kTailBytes ||
      header.tail_offset > size - kTailBytes) {
    in.fail(header_at::tail, "the tail cannot be at byte " + std::to_string(header.tail_offset) +
                                 " of a file of " + counted(size, "byte"));
  }
  if (load_le<std::uint64_t>(file.at(header.tail_offset, kTailBytes)) != kTailSignature) {
    in.fail(header.tail_offset, "the tail does not have the signature 0 BVD 0 LMC");
  }
  if (header.columns > 0 &&
      (header.toc_offset < kHeaderBytes || header.toc_offset > header.tail_offset)) {
    in.fail(header_at::toc, misplaced("the table of contents", header.toc_offset, header));
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
