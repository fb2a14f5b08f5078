// NumPy's .npy files: arrays as matrices, arrays of records as frames. FORMAT.md says how.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "dapple/region.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::npy {

Match recognise_npy(const Probe& probe);

/// Reads the header alone; cells are used in place. Throws corrupt, unsupported.
std::shared_ptr<const Store> open_npy(std::shared_ptr<ByteSource> file, const OpenOptions& options);

/// The same for a member of an npz archive: the array in bytes `within` of a file.
std::shared_ptr<Store> open_member(std::shared_ptr<ByteSource> file, Range within);

/// Writes an array in C order, or one of packed records, as numpy.save does. Throws unsupported
/// when NumPy cannot hold a label.
void write_npy(const Source& source, ByteSink& sink, const ConvertOptions& options);

}  // namespace dapple::detail::npy
