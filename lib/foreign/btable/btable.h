// BTable: sparse tables of f64 with labelled columns, row after row. FORMAT.md gives every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/foreign/text/import.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::btable {

inline constexpr std::int32_t kVersion = 0;
inline constexpr std::uint16_t kSeparator = 0x1F;       // between labels, a UTF-16 code unit
inline constexpr std::size_t kCountBytes = 4;           // a row's number of entries, i32
inline constexpr std::size_t kEntryBytes = 12;          // column i32, value f64
inline constexpr std::uint64_t kLargest = 0x7FFF'FFFF;  // of an i32

/// By content when version, labels and the first rows fit and there is a label; by name for the
/// extension .btable.
Match recognise_btable(const Probe& probe);

/// Parses the table once: a frame of f64 columns, in bands of rows. Throws corrupt for anything but
/// a whole table.
void parse_btable(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
                  texts::Import& import);

/// Writes every cell that is not positive zero. Throws unsupported for a source without columns,
/// a label that UTF-16 or the separator forbids, or a value that f64 does not hold exactly.
void write_btable(const Source& source, ByteSink& sink, const ConvertOptions&);

}  // namespace dapple::detail::btable
