// Checking the copy by column beside a matrix.
#pragma once

#include <memory>
#include <vector>

#include "dapple/verify.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// Adds to `findings` what is wrong with the copy by column of `matrix`: a stale or damaged one,
/// and what verify_dbdf finds; at Level::payload also whether it holds the cells of the matrix.
void verify_copy(const std::shared_ptr<const Store>& matrix, Level level,
                 const TakeProgress& progress, std::vector<Error>& findings);

}  // namespace dapple::detail::dbdf
