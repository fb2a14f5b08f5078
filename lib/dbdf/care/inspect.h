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
  EntryTable sound;                  // in file order; with the hashes that the index has
  std::vector<std::uint64_t> order;  // of `sound` by position (order_by_position)
  std::vector<Error> findings;       // in file order
  std::uint64_t blocks = 0;          // blocks that hold cells, sound or not
  std::uint64_t lost = 0;            // blocks known to have been there that are not sound
  bool index_lies = false;           // it names other blocks than a body that is sound without it
  bool had_index = false;            // the file ends in an index, damaged or not

  bool all_sound() const { return blocks == sound.size() && lost == 0; }
  Entry by_position(std::uint64_t i) const { return sound[order.empty() ? i : order[i]]; }
};

/// Walks the body and checks R1 to R4, at Level::payload also R5, R6 and the hashes. A block that
/// an intact index knows is compared with it, unless the body is sound without the index and the
/// index names other blocks. After a damaged header, the walk goes on at the next block of that
/// index, or, without one, where blocks can be believed again (resync.h); then a block that may be
/// damaged itself does not count as sound unless what is left of an index proves it (evidence.h).
/// Throws io. Memory: 64 bytes per block while the index and the body agree; about 200 otherwise.
Inspection inspect(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                   const Schema& schema, Level level, const TakeProgress& progress);

/// Reads every value of one block: R5, R6. Throws corrupt.
void read_all(const Store& store, const Entry& entry);

}  // namespace dapple::detail::dbdf
