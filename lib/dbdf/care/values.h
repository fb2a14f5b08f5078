// Reading every value of a block, to find what is wrong with it.
#pragma once

#include <vector>

#include "dapple/error.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// Reads every value of one block: R5, R6. Throws corrupt.
void read_all(const Store& store, const Entry& entry);

/// Reports, of each block, a code without a word or a truth value that is none. REQUIRES sound
/// blocks.
void check_codes(const Store& store, std::vector<Error>& findings);

}  // namespace dapple::detail::dbdf
