// Everything that is wrong with a DAPHNE binary file.
#pragma once

#include <memory>

#include "dapple/verify.h"
#include "lib/io/file.h"

namespace dapple::detail::dbdf {

/// All findings, as `dapple::verify` reports them. Throws io only.
VerifyReport verify_dbdf(const std::shared_ptr<MappedFile>& file, Level level,
                         const TakeProgress& progress);

}  // namespace dapple::detail::dbdf
