#include "lib/dbdf/open_dbdf.h"

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/sidecar.h"
#include "lib/dbdf/walk.h"

namespace dapple::detail::dbdf {

namespace {

// The grid that a trailer names, if it fits the object and the number of blocks; an index whose
// tile shape does not fit is damaged.
bool complete_grid(std::optional<Grid>& grid, std::uint64_t count, const Schema& schema) {
  if (!grid) return true;
  if (schema.rows == 0 || schema.cols == 0) return false;
  grid->rows = (schema.rows - 1) / grid->tile.rows + 1;
  grid->cols = (schema.cols - 1) / grid->tile.cols + 1;
  std::uint64_t tiles;
  return multiply(grid->rows, grid->cols, tiles) && tiles == count;
}

}  // namespace

Match recognise_dbdf(const Probe& probe) {
  if (probe.head.size() >= 2 && probe.head[0] == std::byte{kVersion} &&
      probe.head[1] >= std::byte{1} && probe.head[1] <= std::byte{3}) {
    return Match::by_content;
  }
  return probe.extension == ".dbdf" ? Match::by_name : Match::no;
}

BlockIndex scan(const MappedFile& file, std::uint64_t body, const Schema& schema,
                const TakeProgress& progress) {
  constexpr std::uint64_t kSample = 1024;
  std::uint64_t items = 0;
  EntryTable entries;
  Walk walk(file, body, schema.rows, schema.cols);
  while (const auto item = walk.next()) {
    if (item->holds_cells()) entries.push_back(item->entry);
    if (++items % kSample == 0 && progress) progress(walk.offset(), file.size());
    if (entries.size() == kSample) {
      // Growing a table of millions by copying costs more than the walk: judged by its start, the
      // body holds so many blocks (unused room is never touched).
      const std::uint64_t mean = (walk.offset() - body) / kSample;
      entries.reserve((file.size() - body) / mean + (file.size() - body) / mean / 8 + kSample);
    }
  }
  return BlockIndex::from_entries(std::move(entries), schema.rows, schema.cols, file.name());
}

std::shared_ptr<const Store> open_dbdf(std::shared_ptr<MappedFile> file,
                                       const OpenOptions& options) {
  std::uint64_t body = 0;
  Schema schema = read_header(*file, body);
  std::optional<BlockIndex> index;
  std::string note;
  auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (trailer && options.check != Check::never && !knows_header(*file, body, *trailer)) {
    throw header_error(*file);
  }
  if (trailer && complete_grid(trailer->place.grid, trailer->place.count, schema)) {
    index = index_at(file, *trailer, IndexOrigin::embedded);
  } else {
    Sidecar sidecar = find_sidecar(*file, body);
    if (sidecar.state == SidecarState::fresh &&
        complete_grid(sidecar.trailer.place.grid, sidecar.trailer.place.count, schema)) {
      index = index_at(std::move(sidecar.file), sidecar.trailer, IndexOrigin::sidecar);
    } else if (sidecar.state != SidecarState::none) {
      note = "the sidecar index " + sidecar_path(file->name()).string() +
             " belongs to another state of the file and was not used; 'dapple index' renews it";
    }
  }
  if (!index) index = scan(*file, body, schema);
  auto store =
      std::make_shared<Store>(std::move(file), std::move(schema), std::move(*index), kCodec);
  store->set_note(std::move(note));
  store->set_check(options.check);
  return store;
}

}  // namespace dapple::detail::dbdf
