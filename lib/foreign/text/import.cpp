#include "lib/foreign/text/import.h"

#include <algorithm>
#include <utility>

#include "dapple/sidecar.h"
#include "lib/dbdf/care/verify_dbdf.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/sidecar.h"
#include "lib/foreign/meta/daphne_meta.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/io/temporary.h"

namespace dapple::detail::texts {

namespace {

constexpr char kTextTag[9] = "DPL-TEXT";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kHead = 64 << 10;      // of the text, which is hashed
constexpr std::uint64_t kInMemory = 64 << 20;  // a larger text goes to a temporary file

/// Everything but the text that decides what is read of it.
std::string ways_of_reading(const ByteSource& text, std::string_view format) {
  std::string all(format);
  const auto add = [&](std::string_view part) { all.append(1, '\0').append(part); };
  add(text.chosen());
  if (const auto meta = text.sibling(kMetaEnding)) {
    const auto bytes = meta->bytes(0, meta->size());
    add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return all;
}

dbdf::Binding binding_of(const ByteSource& text, std::string_view format) {
  const std::string ways = ways_of_reading(text, format);
  dbdf::Binding binding{kTextTag, kVersion, std::min(text.size(), kHead),
                        xxh3(std::as_bytes(std::span(std::string_view(ways))))};
  binding.cover(text);
  return binding;
}

/// What a sidecar is, as far as its binding tells.
struct Kept {
  SidecarState state = SidecarState::none;
  std::shared_ptr<ByteSource> file;  // unless there is none
  std::string note{};                // if fresh
  std::uint64_t fault = 0;           // if stale or damaged
  bool other_way = false;            // if stale: of this state, but read in another way
};

Kept find_kept(const ByteSource& text, const dbdf::Binding& binding) {
  Kept kept;
  kept.file = text.sibling(kSidecarEnding);
  if (kept.file == nullptr) return kept;
  kept.state = SidecarState::damaged;
  try {
    std::uint64_t body = 0;
    dbdf::read_header(*kept.file, body);
    const auto trailer =
        dbdf::find_trailer(*kept.file, body + dbdf::kPosition + dbdf::kDenseHeader);
    kept.fault = kept.file->size();
    if (!trailer) return kept;
    const auto hint = dbdf::find_hint(*kept.file, body, *trailer, kTextTag);
    if (!hint || hint->bytes < dbdf::kLine || !dbdf::is_whole(*kept.file, *hint)) return kept;
    const auto bytes = kept.file->bytes(hint->offset, hint->bytes);
    const auto match = binding.match(text, bytes.first(dbdf::kLine));
    kept.state = match.state;
    kept.fault = hint->offset + match.fault;
    kept.other_way = match.only_head;
    kept.note.assign(reinterpret_cast<const char*>(bytes.data()) + dbdf::kLine,
                     bytes.size() - dbdf::kLine);
  } catch (const Error& error) {
    if (error.code() == Errc::io) throw;
    kept.fault = error.offset().value_or(0);
  }
  return kept;
}

[[noreturn]] void fail_unread(const Store& store, const Entry&, const Part&, const Target&) {
  throw Error(Errc::unsupported, store.file().name(), std::nullopt,
              "the text was opened for its shape alone, so its cells are not there");
}

/// Of what went nowhere.
constexpr Driver kShapeDriver = {.format = "shape", .read = fail_unread};

std::string join_notes(std::string note, const std::string& next) {
  return note.empty() || next.empty() ? note + next : note + "; " + next;
}

std::string temporary_note(std::uint64_t bytes) {
  return "its cells take " + std::to_string(bytes >> 20) + " MiB of an unnamed temporary file in " +
         temporary_folder();
}

}  // namespace

Import::Import(std::shared_ptr<ByteSource> text, std::string_view format,
               const OpenOptions& options, std::optional<std::filesystem::path> sidecar_of)
    : text_(std::move(text)),
      format_(format),
      options_(options),
      sidecar_of_(std::move(sidecar_of)) {}

OutputFile Import::create() const {
  if (sidecar_of_) return OutputFile(sidecar_path(*sidecar_of_), true);
  using enum OutputFile::Unnamed;
  if (options_.cells && !options_.temporary.empty()) return {text_->name(), options_.temporary};
  return {text_->name(), !options_.cells             ? nowhere
                         : text_->size() > kInMemory ? temporary
                                                     : memory};
}

BlockWriter& Import::start(Schema schema, TileShape tile) {
  WriteOptions write;
  write.tile = tile;
  write.sync = sidecar_of_.has_value();
  writer_ = nullptr;
  ++starts_;
  writer_ = std::make_unique<BlockWriter>(create(), std::move(schema), write);
  return *writer_;
}

void Import::finish(Schema schema, std::string note) {
  if (sidecar_of_) {
    const auto line = binding_of(*text_, format_).line(*text_);
    std::vector<std::byte> hint(line.begin(), line.end());
    const auto bytes = std::as_bytes(std::span(note));
    hint.insert(hint.end(), bytes.begin(), bytes.end());
    writer_->add_hint(std::move(hint));
    dbdf::require_unchanged(*text_, *sidecar_of_);
  }
  BlockIndex index = writer_->finish_as(schema);
  if (sidecar_of_) return;
  std::shared_ptr<Store> store;
  if (!options_.cells) {
    store = std::make_shared<Store>(text_, std::move(schema), std::move(index), kShapeDriver);
  } else {
    const bool placed = !options_.temporary.empty();
    auto file = LocalFile::adopt_unnamed(writer_->take_unnamed(), text_->name(),
                                         placed ? LocalFile::Name::later : LocalFile::Name::never);
    if (text_->size() > kInMemory && !placed) {
      note = join_notes(std::move(note), temporary_note(file->size()));
    }
    file->set_version(text_->version());
    store = dbdf::open_import(std::move(file), IndexOrigin::scanned);
  }
  store->set_format(format_);
  store->set_note(join_notes(unused_, note));
  store->set_contents(std::move(contents_));
  store_ = std::move(store);
}

std::shared_ptr<const Store> open_text(const std::shared_ptr<ByteSource>& text,
                                       std::string_view format, Parse parse,
                                       const OpenOptions& options) {
  Kept kept = find_kept(*text, binding_of(*text, format));
  if (kept.state == SidecarState::fresh && !options.first_rows) {
    kept.file->set_check(std::max(options.check, Check::first_touch));
    try {
      kept.file->set_known_as(text->name());
      kept.file->set_version(text->version());
      auto store = dbdf::open_import(kept.file, IndexOrigin::sidecar);
      store->set_format(format);
      store->set_note(std::move(kept.note));
      return store;
    } catch (const Error& error) {
      if (error.code() != Errc::corrupt) throw;
    }
  }
  Import import(text, format, options);
  const bool unused = kept.state != SidecarState::none && !kept.other_way && !options.first_rows;
  if (unused) import.set_unused(dbdf::unused_sidecar(*text));
  parse(text, options, import);
  return import.store();
}

namespace {

/// True when the sidecar has these blocks, with these hashes.
bool holds(const Store& kept, const BlockIndex& parsed) {
  const BlockIndex& index = kept.index();
  if (index.size() != parsed.size()) return false;
  for (std::uint64_t i = 0; i < parsed.size(); ++i) {
    const Entry a = index.entry(i), b = parsed.entry(i);
    if (a.pos != b.pos || a.bytes != b.bytes || a.hash != b.hash) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const Store> verify_text(const std::shared_ptr<ByteSource>& text,
                                         std::string_view format, Parse parse,
                                         const OpenOptions& options, bool payload,
                                         std::vector<Error>& findings) {
  OpenOptions shape = options;
  shape.cells = false;
  Import import(text, format, shape);
  parse(text, shape, import);
  const Kept kept = find_kept(*text, binding_of(*text, format));
  const auto add = [&](Errc code, std::uint64_t byte, const char* what) {
    findings.emplace_back(code, kept.file->name(), byte,
                          std::string(what) + "; index " + text->name() + " again to renew it");
  };
  switch (kept.state) {
    case SidecarState::none:
      break;
    case SidecarState::stale:
      add(Errc::stale_index, kept.fault,
          "the sidecar belongs to another state of the file, or to another way of reading it");
      break;
    case SidecarState::damaged:
      add(Errc::corrupt, kept.fault, "the sidecar is damaged");
      break;
    case SidecarState::fresh: {
      const Level level = payload ? Level::payload : Level::structure;
      const auto found = dbdf::verify_dbdf(kept.file, level, {}).findings;
      findings.insert(findings.end(), found.begin(), found.end());
      if (found.empty() &&
          !holds(*dbdf::open_import(kept.file, IndexOrigin::sidecar), import.index())) {
        add(Errc::corrupt, 0, "the sidecar does not hold what is in the file");
      }
    }
  }
  return import.store();
}

}  // namespace dapple::detail::texts
