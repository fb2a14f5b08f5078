// Collections: dbdf files as members of one, by name. A folder whose name ends in .dds, with a file
// NAME.dbdf for each member; or one ZIP file of it, in which members are stored as they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dapple/open.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// True for a folder whose name ends in .dds.
bool is_collection_folder(const std::string& path);

/// The path of the member that `OpenOptions::array` names. Throws invalid_argument for a name that
/// is none, and for one that is not there, listing those that are.
std::string member_path(const std::string& folder, const std::string& member);

Match recognise_collection(const Probe& probe);

/// A member of a collection in a ZIP file: the one that is named, or the only one. Throws
/// invalid_argument as above; corrupt, unsupported.
std::shared_ptr<const Store> open_collection(std::shared_ptr<ByteSource> file,
                                             const OpenOptions& options);

}  // namespace dapple::detail
