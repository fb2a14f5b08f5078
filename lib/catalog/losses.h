// What a target does not keep of a source, though it holds all cells.
#pragma once

#include <string_view>

#include "dapple/convert.h"
#include "lib/catalog/formats.h"
#include "lib/compute/source.h"

namespace dapple::detail {

/// What messages call dbdf without auxiliary blocks.
inline constexpr std::string_view kPlainLayout = "the plain layout";

/// True when a dbdf file without auxiliary blocks is to be written.
bool is_plain_layout(const Format& format, const ConvertOptions& options);

/// Tells `options.note` of it. REQUIRES that there is one.
void note_losses(const Source& source, const Format& format, const ConvertOptions& options);

}  // namespace dapple::detail
