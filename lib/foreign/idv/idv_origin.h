// Where the columns of a source come from: ML.NET files, opened or put together by rows or columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/compute/source.h"
#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_state.h"

namespace dapple::detail::idv {

/// The place of a column of the source in one ML.NET file.
struct Origin {
  const Store* store;
  std::uint64_t col;  // of the file's object
  const Strip* strip;

  const Contents& contents() const noexcept { return store->state<State>().contents(); }
  const TocColumn& column() const noexcept { return contents().toc[strip->column]; }
  std::vector<MetadataEntry> metadata() const;
  /// The values of its keys as words; null where there are none.
  std::shared_ptr<const Dictionary> key_words() const;
};

/// The columns of ML.NET files whose cells a column of the source has.
struct Origins {
  std::vector<Origin> files;
  bool others = false;  // it has cells of files of other formats, too

  bool own() const noexcept { return !files.empty() && !others; }
};
Origins origins_of(const Source& source, std::uint64_t col);

/// How many columns of the source from `col` on are all of one column of an ML.NET file, in its
/// order, and all of one like it in each file that they have cells of; 0 when they are not.
std::uint64_t whole_column(const Source& source, std::uint64_t col);

/// The codec of such columns: the items that ML.NET writes today, keys (if all are some) as wide as
/// the widest and as many as the most, dimensions if all files have the same.
ValueCodec merged_codec(const Origins& origins);

/// The values of such keys where they are no texts, of one type, and all of them those of the first
/// file; `words` are those of the source.
std::optional<MetadataBlock> merged_key_values(const Origins& origins, const Dictionary* words);

}  // namespace dapple::detail::idv
