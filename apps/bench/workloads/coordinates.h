// Coordinate Matrix Market files of W14: text with one entry a line.
#pragma once

#include "harness/session.h"

namespace dapple::bench {

/// Imports files of 10^7 entries, sorted by column, by row and not at all.
void measure_coordinates(Session& session);

}  // namespace dapple::bench
