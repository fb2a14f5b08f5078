// What is noted about a data set or group: its attributes and, in files of anndata, the names of
// its rows and columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/foreign/hdf5/data_set.h"
#include "lib/object/schema.h"

namespace dapple::detail::hdf5 {

/// An attribute; nothing when there is none, or JSON has not what it is.
std::optional<Json> find_attribute(const Session& session, hid_t object, const char* name);
/// One that is a string; nothing when there is none, or it is something else.
std::optional<std::string> text_attribute(const Session& session, hid_t object, const char* name);

/// The strings of a data set of one dimension; none when there are others than `count`, or none.
std::vector<std::string> read_words(const OpenFile& opened, const std::string& path,
                                    std::uint64_t count);

/// Attributes and names are read when they are asked for. REQUIRES a schema with its extents.
void describe(const std::shared_ptr<const OpenFile>& opened, const std::string& path,
              Schema& schema);

}  // namespace dapple::detail::hdf5
