// FILE.dpc: the transpose of a matrix, so that columns are read as rows. An ordinary file of the
// format with a hint that binds it to one state of FILE (FORMAT.md, "The copy by column").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dapple/sidecar.h"
#include "lib/dbdf/sidecar.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

inline constexpr char kCopyTag[9] = "DPL-COPY";

struct FoundCopy {
  SidecarState state = SidecarState::none;
  std::shared_ptr<const Store> store;  // if fresh
  std::shared_ptr<ByteSource> file;    // unless there is none
  std::uint64_t fault = 0;             // if stale or damaged: a byte that tells
};

/// The copy by column of a matrix. One that cannot be opened counts as none. A few small reads.
FoundCopy find_column_copy(const Store& matrix);

/// The content of the hint that binds a copy to `matrix`.
std::vector<std::byte> copy_hint(const Store& matrix);

}  // namespace dapple::detail::dbdf
