// A frame with columns as another one holds them.
#pragma once

#include <memory>

#include "lib/object/store.h"

namespace dapple::detail {

/// The frame with its columns as those of `like`, wherever that loses nothing: times of a coarser
/// unit, numbers of another type, other marks of missing cells, and columns that are all missing.
/// Other columns stay what they are, and so does a frame whose columns are others. O(1) where there
/// is nothing to do; O(cells) of the columns that change. Throws invalid_argument for other than
/// words in a column of CSV, which can be read as some, where `like`, a data set, has words.
std::shared_ptr<const Store> fit_columns(std::shared_ptr<const Store> frame, const Schema& like);

}  // namespace dapple::detail
