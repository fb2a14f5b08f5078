// What is drawn of an object unless somebody chooses.
#pragma once

#include "scan.h"

namespace dapple::picture {

/// The density of what is mostly zeros, and the mean of anything else. O(blocks) at worst.
What default_what(const BlockedObject& object);

/// Whether all numbers of an object count something, as far as its type tells.
bool holds_counts(const Object& object);

/// Whether what draw_counts() has drawn are counts of stored values only: the file has no
/// statistics of its blocks, or they are of words, times and marks as well.
bool is_counted(const Object& object, const Raster& raster);

}  // namespace dapple::picture
