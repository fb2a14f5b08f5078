// Finding every block of a dbdf file that can be trusted, and everything that is wrong with the
// rest: what verify reports, and what repair keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "dapple/verify.h"
#include "lib/dbdf/object_hints.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

struct Inspection {
  EntryTable sound;                  // in file order, with the hashes from the index
  std::vector<std::uint64_t> order;  // of `sound` by position (order_by_position)
  std::vector<Error> findings;       // in file order
  std::uint64_t blocks = 0;          // blocks that hold cells, sound or not
  std::uint64_t lost = 0;            // blocks that are known to have existed and are not sound
  FoundHints hints;                  // that of columns may be cut off
  bool cut = false;                  // damage, after which nothing is known
  bool index_lies = false;           // see WholeIndex
  bool had_index = false;            // the file ends in an index, which may be damaged
  bool hashes_lost = false;          // it is damaged

  bool all_sound() const { return blocks == sound.size() && lost == 0; }
  Entry by_position(std::uint64_t i) const { return sound[order.empty() ? i : order[i]]; }
};

/// Walks over the body and checks R1 to R4; at Level::payload also R5, R6 and the hashes.
///
/// Blocks are compared with an intact index (whole_index.h), which also tells where they go on
/// after damage, unless the body is sound by itself and the index names other blocks. Without an
/// intact index, what precedes the first damage is kept.
///
/// Throws io. Memory: 64 bytes per block while index and body agree, otherwise about 200.
Inspection inspect(const std::shared_ptr<ByteSource>& file, std::uint64_t body,
                   const Schema& schema, Level level, const TakeProgress& progress);

/// Says how many cells are in none of the sound blocks (R7), if any.
std::optional<Error> absent_cells(const Inspection& found, const Schema& schema,
                                  const std::string& file);

}  // namespace dapple::detail::dbdf
