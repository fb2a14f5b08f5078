// What a file says about a column beside its values: metadata, and the names of vector slots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/foreign/idv/idv_toc.h"

namespace dapple::detail::idv {

/// How blocks are compressed, as people call it: "none", "deflate", "zlib", "unknown (9)".
std::string compression_text(Compression compression);

/// The value of a metadata entry as text (idv_render.h); nothing when there is no room to inflate
/// it. Throws corrupt. REQUIRES alive().
std::optional<std::string> metadata_text(const ByteSource& file, const MetadataEntry& entry,
                                         MetadataRoom& room);

/// Names of the slots of a vector column, by slot; only those that have one that is not empty.
/// Read from `metadata`, the column's, or in version 1.1.1.3 from the file's own table. None when
/// there is no room to inflate them. Throws corrupt.
std::map<std::uint64_t, std::string> read_slot_names(const ByteSource& file,
                                                     const TocColumn& column,
                                                     const std::vector<MetadataEntry>& metadata,
                                                     MetadataRoom& room);

/// What a metadata entry holds, to be written again.
struct MetadataBlock {
  ValueCodec codec;
  std::vector<std::byte> bytes;  // not compressed
};

/// A copy of an entry that holds one vector of items as they are written today; nothing for others.
/// Throws corrupt. REQUIRES alive().
std::optional<MetadataBlock> copy_metadata(const ByteSource& file, const MetadataEntry& entry);

/// The items of the one vector that a metadata entry holds, as text. Throws corrupt. REQUIRES
/// alive(), a vector of a fixed size.
std::vector<std::string> metadata_items(const ByteSource& file, const MetadataEntry& entry);

}  // namespace dapple::detail::idv
