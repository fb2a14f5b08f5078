// Codes of a part whose dictionaries are not the beginning of the data set's.
#pragma once

#include "lib/object/store.h"

namespace dapple::detail::dataset {

/// `Driver::is_recoded`. O(columns of the part that are recoded).
bool is_recoded(const Store& store, const Entry& entry);

/// `Driver::recode`. Throws corrupt for a code without a word.
HeldBytes recode(const Store& store, const Entry& entry);

}  // namespace dapple::detail::dataset
