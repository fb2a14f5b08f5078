// The 256 bytes that an .idv file starts with, and the signature at its tail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lib/io/byte_source.h"

namespace dapple::detail::idv {

inline constexpr std::uint64_t kHeaderBytes = 256;
inline constexpr std::uint64_t kTailBytes = 8;
inline constexpr std::uint64_t kSignature = 0x00425644004C4D43;      // "CML\0DVB\0"
inline constexpr std::uint64_t kTailSignature = 0x434D4C0044564200;  // "\0BVD\0LMC"

/// Versions are four 16-bit numbers; all that ever were differ in the last one only.
constexpr std::uint64_t version(std::uint16_t last) noexcept { return 0x0001000100010000 | last; }
inline constexpr std::uint64_t kFirstVersion = version(2);      // codecs as they are today
inline constexpr std::uint64_t kSlotNamesVersion = version(3);  // slot names, in this version only
inline constexpr std::uint64_t kMetadataVersion = version(4);   // metadata of columns
inline constexpr std::uint64_t kLastVersion = version(6);       // .NET types; written today

struct Header {
  std::uint64_t version = kLastVersion;
  std::uint64_t compatible = kLastVersion;  // the oldest reader that can read the file
  std::uint64_t toc_offset = 0;
  std::uint64_t tail_offset = 0;
  std::uint64_t rows = 0;
  std::uint32_t columns = 0;
};

/// "1.1.1.6".
std::string version_text(std::uint64_t version);

/// The message for something that is said to be outside the part between header and tail.
std::string misplaced(std::string_view what, std::uint64_t offset, const Header& header);

/// True when the bytes start with the signature.
bool is_idv(std::span<const std::byte> head) noexcept;

/// Reads and checks the header and the tail signature. Throws corrupt; unsupported for a version
/// that this reader, like ML.NET's, cannot read.
Header read_header(const ByteSource& file);

std::array<std::byte, kHeaderBytes> header_bytes(const Header& header) noexcept;
std::array<std::byte, kTailBytes> tail_bytes() noexcept;

}  // namespace dapple::detail::idv
