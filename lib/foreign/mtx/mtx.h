// Matrix Market text as a matrix; FORMAT.md in this folder says what is accepted and written, and
// what opening and reading cost.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/foreign/text/import.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::mtx {

/// By the banner "%%MatrixMarket", or by the name `.mtx`.
Match recognise_mtx(const Probe& probe);

/// Parses the text once. The entries of a coordinate file are dealt out to bands of rows, 4 to 16
/// bytes each, in working space (lib/io/scratch.h), and sorted there; of an array file, some
/// columns at a time are in memory. Throws corrupt, unsupported and type_mismatch naming line and
/// byte.
void parse_mtx(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
               texts::Import& import);

/// Writes a sparse matrix, and any object that stores few of its cells, as coordinate; any other as
/// array, in which case values larger than 256 MiB pass through a temporary file. Throws
/// unsupported for a frame with labels, and what reading throws.
void write_mtx(const Source& source, ByteSink& sink, const ConvertOptions& options);

}  // namespace dapple::detail::mtx
