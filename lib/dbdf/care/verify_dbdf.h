// Finding everything that is wrong with a dbdf file.
#pragma once

#include <memory>

#include "dapple/verify.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// Implements `dapple::verify`. Throws only io.
VerifyReport verify_dbdf(const std::shared_ptr<ByteSource>& file, Level level,
                         const TakeProgress& progress);

}  // namespace dapple::detail::dbdf
