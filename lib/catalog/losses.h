// What a target has no place for, though it holds all numbers of a source.
#pragma once

#include "dapple/convert.h"
#include "lib/catalog/formats.h"
#include "lib/compute/source.h"

namespace dapple::detail {

/// Throws unsupported for words, meanings and labels that the target cannot hold, unless the
/// options leave them out. Tells `options.note`, if there is one, of what else is lost.
void judge_losses(const Source& source, const Format& format, const ConvertOptions& options);

}  // namespace dapple::detail
