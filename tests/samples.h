// DAPHNE files to read: random ones of every kind, and a handful of small ones to damage.
#pragma once

#include <string>
#include <vector>

#include "dapple/value_type.h"
#include "tests/partition.h"
#include "tests/support.h"

namespace dapple::test {

/// A matrix of that partition, by no writer of ours: every block of a random kind, value type and
/// order of entries. Values fit the declared type, but in `misfits` percent of the blocks.
Image random_matrix(Rng& rng, const Partition& partition, ValueType declared, unsigned misfits = 0);

/// A frame with columns of random types and labels, its blocks cut anywhere.
Image random_frame(Rng& rng, const Partition& partition, unsigned misfits = 0);

struct Sample {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Small files of every kind of object, block and index, made by our writer and by others; none
/// is longer than about 2000 bytes.
std::vector<Sample> small_samples();

}  // namespace dapple::test
