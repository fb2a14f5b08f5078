// Regions as compressed sparse rows, from formats that decode their blocks row by row.
#pragma once

#include "lib/compute/csr.h"

namespace dapple::detail {

/// As `collect_csr`, with `Codec::csr_arrays`. False, and nothing useful is in `out`, when the
/// format or one of the blocks has no rows to give, or something is wrong with them: whoever looks
/// at the region's cells alone finds what, or that it lies outside the region. Throws io, absent.
template <class Col>
bool decode_csr(const Store& store, const Region& region, const ReadOptions& options,
                const CsrOut<Col>& out);

}  // namespace dapple::detail
