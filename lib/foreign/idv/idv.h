// ML.NET's binary data view (.idv): columns of compressed blocks that lookup tables point to.
// FORMAT.md gives every byte, and says which columns of an object a column of the file makes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/own_columns.h"
#include "lib/object/probe.h"

namespace dapple::detail::idv {

Match recognise_idv(const Probe& probe);

/// A matrix when the file, or what `options.format_options` choose of it, is one vector column of
/// numbers; a frame otherwise. Reads header, table of contents and, for a frame, the names of
/// vector slots, and the blocks of dates and time spans, to find their unit. Throws corrupt;
/// unsupported for versions that ML.NET can't read either; absent for a chosen column that there is
/// not.
std::shared_ptr<const Store> open_idv(std::shared_ptr<ByteSource> file, const OpenOptions& options);

/// Writes version 1.1.1.6: a matrix as one vector column "Features", a frame as a column each
/// (idv_plan.h says when several are one). Throws unsupported for what the format has no place for:
/// a label that is not UTF-8, a matrix without columns or with more than 2^31 - 1, missing Booleans
/// and times.
WriteSummary write_idv(const Source& source, const std::filesystem::path& path,
                       const ConvertOptions& options);

/// Throws corrupt for values of a block that can be read, but that ML.NET refuses: dates out of
/// range. REQUIRES an opened .idv file.
void check_values(const Store& store, const Entry& entry);

/// What no other format keeps of columns of such files, alone or put together. `back`: what
/// `write_idv` does not keep.
std::vector<OwnLoss> own_losses(const Source& source, bool back);

}  // namespace dapple::detail::idv
