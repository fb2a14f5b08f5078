// Matrix Market text as a matrix; FORMAT.md in this folder says what is accepted and written, and
// what opening and reading cost.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::mtx {

/// By the banner "%%MatrixMarket", or by the name `.mtx`.
Match recognise_mtx(const Probe& probe);

/// One pass over the text. An array file is cut into blocks of columns, or of parts of one column,
/// that are parsed when they are read; memory: 8 bytes for every 256 values. A coordinate file
/// becomes strips of rows, each a sparse block; its entries are parsed and sorted, 4 to 16 bytes
/// each, into working space (lib/io/scratch.h): at once if they take no more than 256 MiB,
/// otherwise when the first of them is read. Memory: the entries, as much again while they are
/// sorted. Throws corrupt, unsupported and type_mismatch naming line and byte.
std::shared_ptr<const Store> open_mtx(std::shared_ptr<ByteSource> file, const OpenOptions& options);

/// Writes a sparse matrix, and any object that stores few of its cells, as coordinate; any other as
/// array, in which case values larger than 256 MiB pass through a temporary file. Throws
/// unsupported for a frame with labels, and what reading throws.
void write_mtx(const Source& source, ByteSink& sink, const ConvertOptions& options);

}  // namespace dapple::detail::mtx
