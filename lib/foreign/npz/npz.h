// NumPy's .npz archives: one array of them, or a sparse matrix of SciPy. FORMAT.md says how.
#pragma once

#include <memory>
#include <vector>

#include "dapple/error.h"
#include "dapple/open.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::npz {

Match recognise_npz(const Probe& probe);

/// Opens the array that `options.array` names, the only one, or the sparse matrix that all of them
/// are. Stored members are used in place; deflated ones are inflated to a temporary file first.
/// Throws corrupt, unsupported; invalid_argument with the names when there are several arrays.
std::shared_ptr<const Store> open_npz(std::shared_ptr<ByteSource> file, const OpenOptions& options);

/// The arrays; none where they are one matrix. Throws as `open_npz` does.
std::vector<arrays::Listed> list_npz(const std::shared_ptr<ByteSource>& file);

/// Adds what the CRCs of stored arrays tell, all of the archive. O(bytes).
void check_sums(const ByteSource& file, std::vector<Error>& findings);

}  // namespace dapple::detail::npz
