// Finding everything that is wrong with a dbdf file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dapple/verify.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Implements `dapple::verify`. Throws only io.
VerifyReport verify_dbdf(const std::shared_ptr<ByteSource>& file, Level level,
                         const TakeProgress& progress);

/// Adds what is wrong with the hints before an index that ends a file of another kind, whose body
/// starts there, at Level::payload.
void verify_hints(const std::shared_ptr<ByteSource>& file, std::uint64_t body, const Schema& schema,
                  std::vector<Error>& findings);

}  // namespace dapple::detail::dbdf
