#include "lib/dbdf/read/open_dbdf.h"

#include "lib/dbdf/columns.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/sidecar.h"
#include "lib/dbdf/walk.h"
#include "lib/index/entry_summary.h"

namespace dapple::detail::dbdf {

bool starts_like_dbdf(std::span<const std::byte> head) noexcept {
  return head.size() >= 2 && head[0] == std::byte{kVersion} && head[1] >= std::byte{1} &&
         head[1] <= std::byte{3};
}

void presume_header(ByteSource& file) {
  if (!file.fetches()) return;
  const auto trailer = find_trailer(file, kMatrixHeader);
  if (const auto copy = trailer ? find_head_copy(file, *trailer) : std::nullopt) {
    for (const auto& [offset, bytes] : copy->pieces) {
      if (offset == 0) {
        file.presume(bytes);
      } else {
        file.take_copy(offset, bytes);
      }
    }
    return;
  }
  if (const auto header = header_from_index(file)) file.presume(*header);
}

bool has_own_index(const ByteSource& file) {
  return starts_like_dbdf(first_look(file)) && ends_in_tag(file);
}

Match recognise_dbdf(const Probe& probe) {
  if (starts_like_dbdf(probe.head)) return Match::by_content;
  return probe.extension == ".dbdf" ? Match::by_name : Match::no;
}

/// Makes room for about `n` entries: growing a table of millions costs more than finding them.
/// Unused room is never touched, and without enough memory the table grows.
void make_room(EntryTable& table, std::uint64_t n) noexcept {
  try {
    table.reserve(n);
  } catch (const std::bad_alloc&) {
  }
}

Scan scan(const ByteSource& file, std::uint64_t body, const Schema& schema,
          const TakeProgress& progress) {
  constexpr std::uint64_t kSample = 64, kTell = 1024;
  std::uint64_t items = 0;
  FoundHints hints;
  EntrySummary summary(schema.rows, schema.cols);
  EntryTable found;
  Walk walk(file, body, schema.rows, schema.cols);
  for (Item item; walk.next(item);) {
    if (item.holds_cells()) {
      summary.see(item.entry);
      found.push_back(item.entry);
    } else {
      hints.see(file, item);
    }
    if (++items % kTell == 0 && progress) progress(walk.offset(), file.size());
    if (items == kSample) {  // extrapolate the number of blocks
      const std::uint64_t mean = (walk.offset() - body) / kSample;
      const std::uint64_t all = (file.size() - body) / mean;
      make_room(found, all + all / 8 + kSample);
    }
  }
  return {BlockIndex::from_entries(std::move(found), summary, file.name()), hints};
}

void read_meanings(const std::shared_ptr<const ByteSource>& file, std::uint64_t first,
                   const Trailer& trailer, Schema& schema) {
  const auto find = [file, first, trailer](const char* tag) {
    return find_hint(*file, first, trailer, tag);
  };
  give_hints(file, find, schema);
  if (schema.kind == ObjectKind::matrix && !trailer.names) return;
  if (const auto columns = find_hint(*file, first, trailer, kColumnsTag)) {
    dbdf::read_columns(file, columns->offset, columns->bytes, schema);
  }
}

namespace {

/// The sidecar's index, or the one that a walk finds; the meanings of columns from the same place.
/// Sets `note` if a sidecar could not be used.
BlockIndex index_from_outside(const std::shared_ptr<const ByteSource>& file, std::uint64_t body,
                              Schema& schema, std::string& note) {
  Sidecar sidecar = find_sidecar(*file, body);
  if (sidecar.state == SidecarState::fresh &&
      complete(sidecar.trailer.place, schema.rows, schema.cols)) {
    read_meanings(sidecar.file, kLine, sidecar.trailer, schema);
    return index_at(std::move(sidecar.file), sidecar.trailer, IndexOrigin::sidecar);
  }
  if (sidecar.state != SidecarState::none) note = unused_sidecar(*file);
  Scan found = [&] {
    try {
      return scan(*file, body, schema);
    } catch (const Error& e) {
      if (e.code() != Errc::corrupt) throw;
      throw Error(e.code(), e.file(), e.offset(), e.detail(), "repair");
    }
  }();
  if (found.hints.columns) {
    const Hint hint = hint_in(*file, *found.hints.columns);
    dbdf::read_columns(file, hint.offset, hint.bytes, schema);
  }
  found.hints.give(file, schema);
  return std::move(found.index);
}

/// True when an index block follows byte `end` of a file, or a trailer ends it.
bool has_traces_of_index(const ByteSource& file, std::uint64_t end, const Schema& schema) {
  if (file.size() - end >= kLine && ends_in_tag(file)) return true;
  Walk walk(file, end, schema.rows, schema.cols);
  for (Item item; walk.next(item);) {
    if (item.auxiliary && has_tag(file, item.entry, kIndexTag)) return true;
  }
  return false;
}

/// Throws corrupt when the file has a damaged index: the hashes that should be checked are in it.
void require_no_damaged_index(const ByteSource& file, std::uint64_t body, const Schema& schema,
                              const BlockIndex& index) {
  std::uint64_t end = body;
  if (index.size() > 0) {
    const Entry last = index.entry(index.in_file_order(index.size() - 1));
    if (last.offset > file.size() || last.bytes > file.size() - last.offset) return;
    end = last.offset + last.bytes;
  }
  if (!has_traces_of_index(file, end, schema)) return;
  throw Error(Errc::corrupt, file.name(), file.size() - kLine,
              "the index is damaged, so the hashes that were to be checked are lost; repair the "
              "file to rebuild it");
}

std::shared_ptr<const Store> open_without_index(std::shared_ptr<ByteSource>&& file,
                                                std::uint64_t body, Schema&& schema,
                                                const OpenOptions& options) {
  std::string note;
  BlockIndex index = index_from_outside(file, body, schema, note);
  if (options.check != Check::never) require_no_damaged_index(*file, body, schema, index);
  auto store =
      std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver);
  store->set_note(std::move(note));
  return store;
}

}  // namespace

std::shared_ptr<const Store> open_dbdf(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options) {
  file->set_check(options.check);
  std::uint64_t body = 0;
  Schema schema = read_header(*file, body);
  auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  // Always of a frame: another type of a column would make values of its missing cells.
  const bool checked = schema.kind == ObjectKind::frame || options.check != Check::never;
  if (trailer && checked && !knows_header(*file, body, *trailer)) throw header_error(*file);
  if (!trailer || !complete(trailer->place, schema.rows, schema.cols)) {
    return open_without_index(std::move(file), body, std::move(schema), options);
  }
  read_meanings(file, body, *trailer, schema);
  BlockIndex index = index_at(file, *trailer, IndexOrigin::embedded);
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver);
}

std::shared_ptr<Store> open_import(std::shared_ptr<ByteSource> file, IndexOrigin origin) {
  std::uint64_t body = 0;
  Schema schema = read_header(*file, body);
  auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (!trailer || !knows_header(*file, body, *trailer) ||
      !complete(trailer->place, schema.rows, schema.cols)) {
    throw Error(Errc::corrupt, file->name(), file->size(), "there is no whole index");
  }
  read_meanings(file, body, *trailer, schema);
  BlockIndex index = index_at(file, *trailer, origin);
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver);
}

}  // namespace dapple::detail::dbdf
