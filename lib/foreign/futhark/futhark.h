// Futhark's value streams, text and binary. FORMAT.md says what is read as what.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::futhark {

/// By content: a binary value, or text that starts with an array. By name: .in, .out.
Match recognise_futhark(const Probe& probe);

/// Opens one value as a matrix, or several vectors as a frame, as `options.format_options` say.
/// Passes over the text of all values; binary ones are used in place. The store lists the types of
/// all values. Throws corrupt, type_mismatch, unsupported; invalid_argument, which lists the
/// values, when one of several has to be chosen; out_of_range for a value that there is not.
std::shared_ptr<const Store> open_futhark(std::shared_ptr<ByteSource> file,
                                          const OpenOptions& options);

/// Write a matrix as an array of rank 2, a frame as one vector per column; a newline after each
/// value, as compiled programs write it. Labels have no place in the format.
void write_futhark(const Source& source, ByteSink& sink, const ConvertOptions& options);
void write_futhark_text(const Source& source, ByteSink& sink, const ConvertOptions& options);

}  // namespace dapple::detail::futhark
