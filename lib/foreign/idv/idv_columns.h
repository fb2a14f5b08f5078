// Which columns of the object the columns of the file make.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/open.h"
#include "lib/foreign/idv/idv_meaning.h"
#include "lib/foreign/idv/idv_options.h"
#include "lib/foreign/idv/idv_toc.h"
#include "lib/object/schema.h"

namespace dapple::detail::idv {

/// Neighbouring columns of the object that are one part of the items in neighbouring slots of one
/// column of the file (idv_values.h). A column that is no vector has one slot.
struct Strip {
  std::uint32_t column = 0;  // of the file
  std::uint32_t part = 0;    // of its items
  std::uint64_t first_slot = 0;
  std::uint64_t begin = 0;  // first column of the object
  std::uint32_t width = 0;
  TickScale scale{};                         // of times
  std::shared_ptr<const LazyWords> texts{};  // of a column of texts
};

/// Vector slots that a frame may list, and bytes that their labels may take. Vectors that exceed it
/// are text columns there, and can be opened as a matrix: a file of a few bytes must not make a
/// schema of gigabytes.
inline constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 18;
inline constexpr std::uint64_t kMostLabelBytes = std::uint64_t{1} << 25;

struct Columns {
  Schema schema;
  std::vector<Strip> strips;               // by `begin`, without a gap
  std::vector<TextColumn> texts;           // that only can be shown
  std::vector<std::uint32_t> text_column;  // of the file, for each of `texts`
  std::vector<TextColumn> dropped;         // left out because they only can be shown
  std::vector<std::uint32_t> hidden;       // of the file: left out because later ones hide them
  std::optional<std::string> lost_names;   // of the slots of a matrix: why they cannot be read
};

/// The columns of the file that a later one of the same name hides, in order. Columns that cannot
/// be read hide none.
std::vector<std::uint32_t> hidden_columns(const std::vector<TocColumn>& toc);

/// Throws absent, unsupported for chosen columns that can't be had; corrupt.
Columns choose_columns(const std::shared_ptr<ByteSource>& file, const Header& header,
                       const std::vector<TocColumn>& toc, const Options& options);

}  // namespace dapple::detail::idv
