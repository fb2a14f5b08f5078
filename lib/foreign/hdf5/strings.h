// Strings of an attribute or a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/foreign/hdf5/h5_api.h"

namespace dapple::detail::hdf5 {

/// Has the library put cells into memory as `type`.
using ReadCells = std::function<herr_t(hid_t type, void* out)>;

/// `count` strings of one length or of any; nothing when `type` is another one, they are longer
/// than 64 KiB, or cannot be read. REQUIRES a count that the file was compared with.
std::optional<std::vector<std::string>> read_strings(const Session& session, hid_t type,
                                                     std::uint64_t count, const ReadCells& read);

}  // namespace dapple::detail::hdf5
