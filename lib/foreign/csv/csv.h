// Delimited text (CSV, TSV) as a matrix or a frame; FORMAT.md in this folder says what is
// accepted, what is written and which types come out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::csv {

/// By name only: `.csv`, `.tsv`, and `.txt` if its first line has tabs.
Match recognise_csv(const Probe& probe);

/// True when a file that starts with these bytes might be delimited text, whatever its name.
bool may_be_csv(std::span<const std::byte> head) noexcept;

/// One pass over the text (or a fresh sidecar) finds the rows, and the type of each column; cells
/// are parsed when they are read. Memory: 64 bytes for every 64 to 512 KiB of text; for each column
/// its label and 48 bytes, 4 in a matrix; every different word. Throws corrupt, unsupported and
/// type_mismatch naming line, column and byte; invalid_argument for options that fit no column.
std::shared_ptr<const Store> open_csv(std::shared_ptr<ByteSource> file, const OpenOptions& options);

/// As `open_csv`, but does not use the sidecar. Adds a finding if that is damaged, stale, or does
/// not say what is in the file.
std::shared_ptr<const Store> open_csv_to_verify(std::shared_ptr<ByteSource> file,
                                                const OpenOptions& options,
                                                std::vector<Error>& findings);

/// Scans `file`, which is at `path`, and publishes what it found as its sidecar, which `open_csv`
/// then uses in place of the scan. Throws as `open_csv`; stale_index if the file changes meanwhile.
void write_csv_sidecar(std::shared_ptr<ByteSource> file, const std::filesystem::path& path,
                       const OpenOptions& options);

/// Writes rows as text; a header line for a frame only. Throws unsupported for an object without
/// columns, and what reading throws.
void write_csv(const Source& source, ByteSink& sink, const ConvertOptions& options);

}  // namespace dapple::detail::csv
