// The records of a ZIP archive, as readers and writers know them.
#pragma once

#include <cstdint>

namespace dapple::detail::zip {

inline constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50,
                               kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
inline constexpr std::uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                               kLocatorBytes = 20;
inline constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kZip64 = 1;
/// In place of a value that is in a ZIP64 field.
inline constexpr std::uint32_t kIn64 = 0xFFFFFFFF;

/// The content of each member starts at a multiple of this, where dapple decides.
inline constexpr std::uint64_t kUnpackedAlign = 64;

}  // namespace dapple::detail::zip
