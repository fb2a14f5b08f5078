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
  std::uint64_t lost = 0;       // blocks known to have been there that are not sound
  bool index_lies = false;      // it names other blocks than a body that is sound without it
  bool had_index = false;       // the file ends in an index, whatever its bytes are worth
};

/// Walks the body and checks R1 to R4, at Level::payload also R5, R6 and the hashes. A block that
/// an index with a right hash knows is held against it, unless the body is sound without it and the
/// index names other blocks. Behind a damaged header the walk goes on at the next block of that
/// index; without one, where blocks can be believed again (resync.h), and then a block that may be
/// damaged itself is not counted as sound, unless what is left of an index tells (evidence.h).
/// Throws io.
Inspection inspect(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                   const Schema& schema, Level level, const TakeProgress& progress);

/// Reads every value of one block: R5, R6, and that dense values are there. Throws corrupt.
void read_all(const Store& store, const Entry& entry);

}  // namespace dapple::detail::dbdf
