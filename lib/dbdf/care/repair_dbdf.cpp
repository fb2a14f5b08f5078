#include "lib/dbdf/care/repair_dbdf.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lib/dbdf/care/inspect.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/io/hash.h"
#include "lib/io/memory/memory_source.h"

namespace dapple::detail::dbdf {

namespace {

/// The header at the start of these bytes, or one of the same length that differs in one byte, if
/// it has this hash; otherwise empty.
std::vector<std::byte> header_of_hash(std::span<const std::byte> start, std::uint64_t wanted,
                                      const std::string& file) {
  std::vector<std::byte> typed(start.begin(), start.end());  // with types of which each is known
  const auto cols =
      std::min<std::uint64_t>(load_le<std::uint64_t>(typed.data() + 10), start.size());
  const bool frame = typed[1] == static_cast<std::byte>(DataType::frame);
  const std::uint64_t types = std::min(frame ? cols : 1, typed.size() - kHeaderStart);
  std::fill_n(typed.begin() + kHeaderStart, types, std::byte{1});
  std::uint64_t body = 0;
  try {
    read_header(*memory_source(typed, file), body);
  } catch (const Error&) {
    return {};  // too long, or it does not tell how long it is
  }
  std::vector<std::byte> header(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(body));
  if (xxh3(header) == wanted) return header;
  for (std::byte& byte : header) {
    const std::byte damaged = byte;
    for (unsigned value = 0; value < 256; ++value) {
      byte = static_cast<std::byte>(value);
      if (xxh3(header) == wanted) return header;
    }
    byte = damaged;
  }
  return {};
}

/// The header that the index has the hash of: the file's own, or that of the copy of the head, or
/// the file's with one byte changed, also where rows, columns and kind are those that the blocks
/// tell. Empty when none has that hash.
std::vector<std::byte> header_of_index(const ByteSource& file) {
  constexpr std::uint64_t kMostTried = 4096;
  const auto trailer = find_trailer(file, kMatrixHeader + kPosition + kDenseHeader);
  if (!trailer) return {};
  const std::uint64_t wanted = header_hash(file, *trailer);
  if (wanted == 0) return {};
  std::vector<std::byte> header;
  if (const auto copy = find_head_copy(file, *trailer)) {
    header.assign(copy->pieces[0].bytes.begin(), copy->pieces[0].bytes.end());
    if (xxh3(header) == wanted) return header;
  }
  const auto own = file.bytes(0, std::min(file.size(), kMostTried));
  std::vector<std::byte> start(own.begin(), own.end());
  header = header_of_hash(start, wanted, file.name());
  if (!header.empty()) return header;
  std::uint64_t rows = 0, cols = 0;
  for (std::uint64_t i = 0; i < trailer->place.count; ++i) {
    const Entry e = load_entry(file.at(trailer->place.entries + i * Entry::kBytes, Entry::kBytes));
    rows = std::max(rows, e.pos.rx + e.rows);
    cols = std::max(cols, e.pos.cx + e.cols);
  }
  start[0] = std::byte{kVersion};
  store_le(start.data() + 2, rows);
  store_le(start.data() + 10, cols);
  for (const DataType kind : {DataType::dense_matrix, DataType::csr_matrix, DataType::frame}) {
    start[1] = static_cast<std::byte>(kind);
    header = header_of_hash(start, wanted, file.name());
    if (!header.empty()) return header;
  }
  return {};
}

Schema sound_header(const ByteSource& file, std::uint64_t& body) {
  const std::vector<std::byte> header = header_of_index(file);
  return header.empty() ? read_header(file, body)
                        : read_header(*memory_source(header, file.name()), body);
}

}  // namespace

void require_repairable(const ByteSource& file) {
  try {
    std::uint64_t body = 0;
    sound_header(file, body);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    throw Error(Errc::not_recognised, file.name(), e.offset(),
                "this is not a dbdf file, or its header cannot be repaired: " + e.detail());
  }
}

namespace {

/// The content of the hint with the meanings of columns, whose trailer may be damaged: according to
/// the index, or else where the walk found it.
std::optional<Hint> find_columns(const ByteSource& file, std::uint64_t body,
                                 const Inspection& found) {
  try {
    if (const auto trailer = find_trailer(file, body + kPosition + kDenseHeader)) {
      if (const auto hint = find_hint(file, body, *trailer, kColumnsTag)) return hint;
    }
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
  }
  if (!found.hints.columns) return std::nullopt;
  const Entry& block = *found.hints.columns;
  return Hint{block.offset + kDenseHeader, block.bytes - kDenseHeader};
}

/// Gives the schema the attributes and names that the walk found. What is damaged it does not get,
/// and `lost` says so.
void save_hints(const std::shared_ptr<ByteSource>& file, const Inspection& found, Schema& schema,
                std::vector<Error>& lost) {
  found.hints.give(file, schema);
  const auto keep_sound = [&](auto& what, const auto& check) {
    if (!what) return;
    try {
      check(what());
    } catch (const Error& e) {
      if (e.code() == Errc::io) throw;
      lost.push_back(e);
      what = nullptr;
    }
  };
  const auto check_names = [](const std::shared_ptr<const Names>& names) {
    const auto& table = dynamic_cast<const NameTable&>(*names);
    table.require_whole();
    table.verify();
  };
  keep_sound(schema.attributes, [](const std::string&) {});
  keep_sound(schema.row_names, check_names);
  keep_sound(schema.col_names, check_names);
}

/// The block that starts at this byte, as its header says.
Entry block_at(const ByteSource& file, std::uint64_t start, const Schema& schema) {
  const std::uint64_t left = file.size() - start;
  Item item;
  read_item_header(file.bytes(start, std::min<std::uint64_t>(left, kLongestItemHeader)), start,
                   schema.rows, schema.cols, left, file.name(), item);
  return item.entry;
}

}  // namespace

RepairReport repair_dbdf(const std::shared_ptr<ByteSource>& file, const std::filesystem::path& out,
                         const WriteOptions& options, const TakeProgress& progress) {
  std::uint64_t body = 0;
  Schema schema = sound_header(*file, body);
  Inspection found = inspect(file, body, schema, Level::payload, progress);
  RepairReport report;
  report.lost = std::move(found.findings);
  report.blocks_lost = found.lost;
  if (found.hashes_lost) {
    report.lost.emplace_back(Errc::corrupt, file->name(), file->size() - kLine,
                             "the index is damaged, and with it the hashes that would show damage "
                             "inside of blocks");
  }
  report.blocks_kept = found.sound.size();
  bool ends_early = found.cut;
  if (!found.had_index && report.lost.empty()) {  // a cut between two blocks leaves no other trace
    if (const auto absent = absent_cells(found, schema, file->name())) {
      report.lost.push_back(*absent);
      ends_early = true;
    }
  }
  if (const auto hint = find_columns(*file, body, found)) {
    const std::size_t before = report.lost.size();
    save_columns(file, hint->offset, hint->bytes, schema, report.lost);
    report.meanings_lost = report.lost.size() - before;
  } else if (schema.kind == ObjectKind::frame && ends_early && !found.had_index) {
    report.lost.emplace_back(
        Errc::corrupt, file->name(), file->size(),
        "what the columns mean stood after the blocks, if it was there: words, "
        "times, truth values and missing cells are numbers now");
    report.meanings_lost = 1;
  }
  save_hints(file, found, schema, report.lost);
  // Of each block only its start is kept: the writer needs the memory.
  std::vector<std::uint64_t> starts;
  starts.reserve(found.sound.size());
  for (std::uint64_t i = 0; i < found.sound.size(); ++i) {
    starts.push_back(found.sound[i].offset - kPosition);
  }
  found = Inspection();
  BlockWriter writer(out, schema, options, Gaps::leave);
  writer.expect(starts.size());
  for (const std::uint64_t start : starts) {
    const Entry e = block_at(*file, start, schema);
    writer.put_bytes(e, file->bytes(start, kPosition + e.bytes));
  }
  if (!file->is_intact()) file->fail_changed("it");  // before the result is published
  starts = {};
  report.written = writer.finish();
  return report;
}

}  // namespace dapple::detail::dbdf
