// Writing parts of a data set: what needs more than committing them.
#include "dapple/dataset.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "lib/compute/fit_columns.h"
#include "lib/compute/source.h"
#include "lib/dataset/commit.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/write/retile.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/object/make_object.h"
#include "lib/object/store.h"

namespace dapple {

namespace detail {

namespace {

/// The divisor of `n` that is closest to `wanted`, if one is near: then tiles of neighbouring parts
/// form one regular tiling. Otherwise as many cuts of one size.
std::uint32_t fitting(std::uint64_t n, std::uint32_t wanted) {
  if (n <= wanted) return static_cast<std::uint32_t>(n);
  for (std::uint32_t d = 0; d <= std::min(wanted / 2, 1u << 16); ++d) {
    if (n % (wanted - d) == 0) return wanted - d;
    if (d <= ~wanted && n % (wanted + d) == 0) return wanted + d;
  }
  const std::uint64_t cuts = (n - 1) / wanted + 1;
  return static_cast<std::uint32_t>((n - 1) / cuts + 1);
}

TileShape fitting(std::uint64_t rows, std::uint64_t cols, TileShape tile) {
  if (rows == 0 || cols == 0) return {1, 1};
  return {fitting(rows, tile.rows), fitting(cols, tile.cols)};
}

TileShape tile_of_part(const Source& source) {
  return fitting(source.rows(), source.cols(), dbdf::natural_tile(source));
}

void require_room(const Schema& schema, BlockPos at, const std::string& file) {
  if (schema.rows <= ~at.rx && schema.cols <= ~at.cx) return;
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "the part would end after row or column 2^64 - 1");
}

/// What `commit` compares.
DatasetPart part_at(const std::filesystem::path& path, const dataset::Id& id, BlockPos at) {
  dataset::require_apart_from_members(path.parent_path());
  const auto file = LocalFile::open(path.string());
  DatasetPart part;
  const Schema schema = dbdf::read_header(*file, part.header_bytes);
  part.name = dataset::part_name(id);
  part.bytes = file->size();
  part.header_hash = xxh3(file->bytes(0, part.header_bytes));
  if (part.bytes < dbdf::kLine) {
    throw Error(Errc::invalid_argument, path.string(), std::nullopt,
                "a part needs an index, and the file is too small for one");
  }
  part.trailer_hash = xxh3(file->bytes(part.bytes - dbdf::kLine, dbdf::kLine));
  require_room(schema, at, path.string());
  part.cells = {{at.rx, at.rx + schema.rows}, {at.cx, at.cx + schema.cols}};
  return part;
}

/// Tells of names, which a data set has no place for.
void note_names(const std::variant<Matrix, Frame>& data, const ConvertOptions& options) {
  const BlockedObject& object =
      std::visit([](const BlockedObject& o) -> const BlockedObject& { return o; }, data);
  if (!options.note || (object.row_names() == nullptr && object.col_names() == nullptr)) return;
  options.note("a data set keeps no names of rows and columns");
}

DatasetPart write_selection(const std::filesystem::path& folder,
                            const std::variant<Matrix, Frame>& data, const Selection& selection,
                            BlockPos at, const ConvertOptions& options) {
  const dataset::Id id = dataset::new_id();
  const std::filesystem::path path = folder / dataset::part_name(id);
  ConvertOptions how = options;
  how.to.clear();  // the name of a part tells
  how.write.plain = how.write.overwrite = false;
  note_names(data, options);
  try {
    convert(data, selection, path, how);
    return part_at(path, id, at);
  } catch (...) {
    std::error_code none;
    std::filesystem::remove(path, none);  // it may have its name, which nobody else knows
    throw;
  }
}

/// Parts that were written to become those of the next state. Removed again, unless they did, or it
/// cannot be told whether they did: nobody else knows of them.
struct Written {
  const std::filesystem::path& folder;
  std::vector<DatasetPart> parts{};
  bool kept = false;  // set when a state that has them may be there

  ~Written() {
    std::error_code none;
    for (const DatasetPart& part : parts) {
      if (!kept) std::filesystem::remove(folder / part.name, none);
    }
  }

  template <class Make>
  DatasetState become(const Make& state) {
    try {
      const DatasetState made = state();
      kept = true;
      return made;
    } catch (const Error& e) {
      kept = kept && e.code() != Errc::invalid_argument;  // refused before a state was made
      throw;
    }
  }
};

/// Neighbouring parts that fill a rectangle.
struct Group {
  Region cells{{0, 0}, {0, 0}};
  std::uint64_t bytes = 0;
  std::vector<dataset::Id> parts;
};

/// Puts groups together that follow each other along one axis, and agree in the other.
std::vector<Group> joined(std::vector<Group> groups, Range Region::*along, Range Region::*across,
                          std::uint64_t most) {
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    const Range x = a.cells.*across, y = b.cells.*across;
    return std::tuple(x.begin, x.end, (a.cells.*along).begin) <
           std::tuple(y.begin, y.end, (b.cells.*along).begin);
  });
  std::vector<Group> out;
  for (Group& group : groups) {
    Group* const last = out.empty() ? nullptr : &out.back();
    if (last != nullptr && last->cells.*across == group.cells.*across &&
        (last->cells.*along).end == (group.cells.*along).begin &&
        last->bytes <= most - std::min(most, group.bytes)) {
      (last->cells.*along).end = (group.cells.*along).end;
      last->bytes += group.bytes;
      last->parts.insert(last->parts.end(), group.parts.begin(), group.parts.end());
    } else {
      out.push_back(std::move(group));
    }
  }
  return out;
}

/// The groups of several parts that `compact` writes as one.
std::vector<Group> groups_to_compact(const Store& state, std::uint64_t small) {
  constexpr std::uint64_t kTogether = 16;  // a group has at most this multiple of `small` bytes
  const auto& tables = *state.state<dataset::OpenState>().tables;
  std::vector<Group> groups;
  for (std::uint64_t i = 0; i < tables.head().parts; ++i) {
    const dataset::PartRecord part = tables.part(i);
    if (part.bytes < small && !part.cells.empty()) {
      groups.push_back({part.cells, part.bytes, {part.id}});
    }
  }
  const std::uint64_t most =
      small > ~std::uint64_t{0} / kTogether ? ~std::uint64_t{0} : small * kTogether;
  for (std::size_t before = groups.size() + 1; groups.size() < before;) {
    before = groups.size();
    groups = joined(std::move(groups), &Region::rows, &Region::cols, most);
    groups = joined(std::move(groups), &Region::cols, &Region::rows, most);
  }
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [](const Group& group) { return group.parts.size() < 2; }),
               groups.end());
  return groups;
}

/// The tile that a fresh file of all cells would have, where it is cut at the edges of the group.
TileShape tile_of_group(const Source& whole, const Source& part, const Region& cells) {
  const TileShape fresh = dbdf::natural_tile(whole);
  const auto fits = [](Range range, std::uint32_t tile, std::uint64_t all) {
    return range.begin % tile == 0 && (range.end % tile == 0 || range.end == all);
  };
  if (fits(cells.rows, fresh.rows, whole.rows()) && fits(cells.cols, fresh.cols, whole.cols())) {
    return fresh;
  }
  return tile_of_part(part);
}

/// How many rows are written of those of all groups.
class RowsOfGroups {
 public:
  RowsOfGroups(const std::vector<Group>& groups, const TakeProgress& progress)
      : progress_(progress) {
    for (const Group& group : groups) total_ += group.cells.rows.size();
  }
  /// For the conversion of one group, the next.
  TakeProgress next(const Group& group) {
    if (!progress_) return {};
    const std::uint64_t before = done_;
    done_ += group.cells.rows.size();
    return [this, before](std::uint64_t rows, std::uint64_t) { progress_(before + rows, total_); };
  }

 private:
  const TakeProgress& progress_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

}  // namespace detail

namespace dataset {

namespace impl = detail::dataset;

std::variant<Matrix, Frame> fitted(const std::filesystem::path& folder,
                                   const std::variant<Matrix, Frame>& data) {
  std::error_code none;
  if (std::holds_alternative<Matrix>(data) || !std::filesystem::exists(folder, none)) return data;
  const auto state = impl::find_latest(folder);
  if (state == nullptr) return data;
  return detail::make_object(detail::fit_columns(detail::store_of(data), state->schema()));
}

DatasetPart write_part(const std::filesystem::path& folder,
                       const std::variant<Matrix, Frame>& given, BlockPos at,
                       const ConvertOptions& options) {
  ConvertOptions how = options;
  const auto data = fitted(folder, given);
  detail::require_room(detail::store_of(data)->schema(), at, folder.string());
  if (!how.write.tile) {
    how.write.tile = detail::tile_of_part(detail::Source(detail::store_of(data), {}, how));
  }
  return impl::in_folder(folder,
                         [&] { return detail::write_selection(folder, data, {}, at, how); });
}

DatasetPart find_part(const std::filesystem::path& folder, const std::string& name, BlockPos at) {
  return detail::part_at(folder / name, impl::id_of(name), at);
}

DatasetState append(const std::filesystem::path& folder, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options, std::optional<BlockPos> at) {
  CommitOptions how;
  how.below = !at;
  how.sync = options.write.sync;
  return impl::in_folder(folder, [&] {
    return append(folder, write_part(folder, rows, at.value_or(BlockPos{0, 0}), options), how);
  });
}

DatasetState append(const std::filesystem::path& folder, const DatasetPart& part,
                    const CommitOptions& options) {
  impl::id_of(part.name);  // throws for a name that is none of a part, which is never removed
  detail::Written written{folder, {part}};
  try {
    return written.become(
        [&] { return impl::commit_parts(folder, written.parts, options, &written.kept); });
  } catch (const Error& error) {
    if (error.file() != (folder / part.name).string()) throw;
    // The part is gone, and nobody knows its name.
    throw error.retold(folder.string(), std::nullopt, error.detail());
  }
}

std::filesystem::path latest(const std::filesystem::path& folder) {
  return impl::latest_state(folder);
}

TileShape part_tile(std::uint64_t rows, std::uint64_t cols) {
  return detail::fitting(rows, cols, default_tile(rows, cols));
}

DatasetState compact(const std::filesystem::path& folder, std::uint64_t small,
                     const ConvertOptions& options) {
  const auto state = impl::find_latest(folder);
  if (state == nullptr) impl::latest_state(folder);  // throws
  const auto object = detail::make_object(state);
  const auto groups = detail::groups_to_compact(*state, small);
  if (groups.empty()) return impl::described(*state);
  const detail::Source whole(state, {}, options);
  detail::Written written{folder};
  std::vector<impl::Id> replaced;
  detail::RowsOfGroups progress(groups, options.progress);
  for (const detail::Group& group : groups) {
    const Region& cells = group.cells;
    Selection selection;
    selection.rows = cells.rows;
    if (cells.cols.size() != state->schema().cols) {
      selection.cols.emplace(cells.cols.size());
      std::iota(selection.cols->begin(), selection.cols->end(), cells.cols.begin);
    }
    ConvertOptions how = options;
    how.progress = progress.next(group);
    if (!how.write.tile) {
      const detail::Source part(state, selection, options);
      how.write.tile = detail::tile_of_group(whole, part, cells);
    }
    written.parts.push_back(detail::write_selection(folder, object, selection,
                                                    {cells.rows.begin, cells.cols.begin}, how));
    replaced.insert(replaced.end(), group.parts.begin(), group.parts.end());
  }
  const std::string prefix = impl::prefix_of(folder);
  const auto draft = [&](const detail::Store* latest) {
    if (latest == nullptr) impl::latest_state(folder);  // throws
    auto made = std::make_unique<impl::Draft>(*latest, replaced);
    for (const DatasetPart& part : written.parts) made->add(impl::record_of(part), prefix);
    made->require_apart(prefix);
    return made;
  };
  return written.become([&] {
    return impl::make_state(folder, DatasetAction::compact, options.write.sync, draft,
                            &written.kept);
  });
}

}  // namespace dataset

}  // namespace dapple
