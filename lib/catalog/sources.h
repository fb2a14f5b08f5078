// Where objects are opened from: the table of sources.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "dapple/open.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Opens what has this name: the path of a file, or an address. Throws io and unsupported.
std::shared_ptr<ByteSource> open_source(const std::string& name, const OpenOptions& options);

/// Opens the latest state of the data set in a folder. Throws not_recognised, io.
std::shared_ptr<ByteSource> open_folder(const std::filesystem::path& folder,
                                        const OpenOptions& options);

}  // namespace dapple::detail
