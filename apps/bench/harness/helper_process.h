// A contender in a process of its own, which takes its turns like the others.
//
// For libraries that keep state per process: HDF5 shares one chunk cache among all openings of a
// file, so that two cache sizes cannot be compared within one process.
#pragma once

#include "harness/series.h"

namespace dapple::bench {

/// Makes `contender` run in a helper process that is forked now; `run` and `holds` happen there,
/// and the helper's own clock counts. What `run` opens at its first call, it opens in the helper.
/// The helper ends with the last copy of the contender.
void move_to_helper(Contender& contender);

}  // namespace dapple::bench
