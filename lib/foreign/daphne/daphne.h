// What the DAPHNE runtime really writes, which is not its published format (lib/dbdf): other value
// type codes, CSR as three arrays, frames without block headers. FORMAT.md gives every byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "dapple/value_type.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::daphne {

inline constexpr std::uint8_t kVersion = 1;

/// Second byte of the file. A dense or CSR matrix also names its block type by this code.
enum class Object : std::uint8_t { dense = 1, csr = 2, frame = 3, scalar = 4 };

/// Byte positions of the fields.
namespace at {
inline constexpr std::size_t version = 0, object = 1, rows = 2, cols = 10;
inline constexpr std::size_t value_type = 18, rx = 19, cx = 27, block_rows = 35, block_cols = 39,
                             block_type = 43, block_value_type = 44;  // of matrices
inline constexpr std::size_t dense_values = 45;
inline constexpr std::size_t csr_nnz = 45, csr_row_offsets = 53;
inline constexpr std::size_t scalar_value = 19;
inline constexpr std::size_t frame_types = 18;
}  // namespace at

/// rx and cx, which a frame has between its labels and its rows.
inline constexpr std::size_t kPosition = 16;
/// One row offset or one column index of a CSR matrix.
inline constexpr std::size_t kIndexBytes = 8;

/// Value types in the order of their codes. Codes 8 and 9 are strings and occur in no file; the
/// runtime has no 16-bit integers.
inline constexpr std::array<ValueType, 8> kTypes = {ValueType::i8,  ValueType::i32, ValueType::i64,
                                                    ValueType::u8,  ValueType::u32, ValueType::u64,
                                                    ValueType::f32, ValueType::f64};

constexpr std::optional<ValueType> type_of_code(std::uint8_t code) noexcept {
  if (code >= kTypes.size()) return std::nullopt;
  return kTypes[code];
}

constexpr std::optional<std::uint8_t> code_of_type(ValueType type) noexcept {
  for (std::size_t code = 0; code < kTypes.size(); ++code) {
    if (kTypes[code] == type) return static_cast<std::uint8_t>(code);
  }
  return std::nullopt;
}

/// Tells a file of the runtime from one of the published format, which starts with the same bytes.
/// Throws not_recognised when it could be either (FORMAT.md, "Telling the two apart").
Match recognise_daphne(const Probe& probe);

/// A dense matrix or scalar is one block, in place; so is each run of equally typed columns of a
/// frame. A CSR matrix is one CSR block. (More where an extent exceeds 32 bits.) The labels of a
/// frame come from FILE.meta; without it columns are called col_0, col_1, ... O(columns).
/// Throws corrupt, unsupported for value types or extents that dapple does not read.
std::shared_ptr<const Store> open_daphne(std::shared_ptr<ByteSource> file, const OpenOptions&);

/// Publishes a frame, a CSR matrix (for KindChoice::csr, or when the source is one) or a dense
/// matrix at `path`, and PATH.meta, which the runtime wants beside it. Throws unsupported for a
/// value type that the runtime lacks, a label that is not UTF-8, and KindChoice::coo; io;
/// invalid_argument when one of the two files exists and may not be replaced.
WriteSummary write_daphne(const Source& source, const std::filesystem::path& path,
                          const ConvertOptions& options);

}  // namespace dapple::detail::daphne
