// Files of formats that are not here, told by how they start.
#pragma once

#include <string_view>

#include "lib/object/probe.h"

namespace dapple::detail {

/// What a file is that no format here is, and what to do with it; or nothing. Also a file whose
/// name says otherwise: a page that a server sent in place of a table, a pointer that Git left.
std::string_view told_apart(const Probe& probe);

}  // namespace dapple::detail
