// What is noted about a data set or group, and data sets of strings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/json.h"
#include "lib/foreign/arrays/annotated.h"
#include "lib/foreign/hdf5/data_set.h"

namespace dapple::detail::hdf5 {

/// An attribute; nothing when there is none, or JSON has not what it is.
std::optional<Json> read_attribute(const OpenFile& opened, const std::string& path,
                                   const char* name);

/// Reads the user's attributes, as a schema has them.
std::function<std::string()> attributes_of(std::shared_ptr<const OpenFile> opened,
                                           std::string path);

/// The data set of one dimension at this path; nothing when it has no strings. Throws corrupt;
/// unsupported where its values are in other files.
std::optional<arrays::Vector> find_strings(const std::shared_ptr<const OpenFile>& opened,
                                           const std::string& path);

}  // namespace dapple::detail::hdf5
