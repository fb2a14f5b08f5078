// Dictionaries of a part of a frame: words of rows that are left out are not told.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The object with dictionaries that hold only words of the chosen rows, in their old order.
/// Ordered categories keep theirs, which is their scale; so do all columns when all rows are
/// chosen. Cells of other rows must not be read. Throws what reading throws. O(chosen rows +
/// words). REQUIRES a selection inside the object.
std::shared_ptr<const Store> with_used_words(std::shared_ptr<const Store> store,
                                             const Selection& part, unsigned threads);

}  // namespace dapple::detail
