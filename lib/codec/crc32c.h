// CRC-32C (Castagnoli), as iSCSI and Zarr use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dapple::detail {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same without the processor's instruction for it, ten times as slow.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace dapple::detail
