// Every block of a DAPHNE file that can be trusted, and everything that is wrong with the rest:
// what verify reports, and what repair keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "dapple/error.h"
#include "dapple/verify.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

struct Inspection {
  EntryTable sound;             // in file order; with the hashes that the file's index gives
  std::vector<Error> findings;  // in file order
  std::uint64_t blocks = 0;     // blocks that hold cells, sound or not
};

/// Walks the body and checks R1 to R4, at Level::payload also R5, R6 and the hashes. Behind a
/// damaged header the walk goes on at the next place that the file's index, or the tiling of the
/// blocks so far, shows to be a block. Throws io.
Inspection inspect(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                   const Schema& schema, Level level);

/// Reads every value of one block: R5, R6, and that dense values are there. Throws corrupt.
void read_all(const Store& store, const Entry& entry);

}  // namespace dapple::detail::dbdf
