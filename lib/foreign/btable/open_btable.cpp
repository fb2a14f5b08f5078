#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/utf16.h"
#include "lib/foreign/btable/btable.h"
#include "lib/foreign/btable/btable_rows.h"

namespace dapple::detail::btable {

namespace {

constexpr std::uint64_t kVersionAt = 0;
constexpr std::uint64_t kLengthAt = 4;
constexpr std::uint64_t kLabelsAt = 8;

/// A block is closed once it has this many bytes: some ten thousand entries, so that a block is
/// decoded in far more time than it takes to find, and a row in it is reached in microseconds.
constexpr std::uint64_t kBlockBytes = std::uint64_t{256} << 10;

/// How far ahead rows are prefetched. Each row is found from the one before it, at the cost of a
/// cache miss that the hardware prefetcher does not foresee.
constexpr std::size_t kPrefetchBytes = 2048;
constexpr std::size_t kCacheLine = 64;

bool is_separator(const std::byte* unit) noexcept {
  return load_be<std::uint16_t>(unit) == kSeparator;
}

/// The labels, one column each; `units` starts at byte kLabelsAt.
std::vector<Column> split_labels(std::span<const std::byte> units, const std::string& file) {
  std::size_t separators = 0;
  for (std::size_t at = 0; at < units.size(); at += 2) separators += is_separator(&units[at]);
  std::vector<Column> columns;
  columns.reserve(separators + 1);
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= units.size(); at += 2) {
    if (at < units.size() && !is_separator(&units[at])) continue;
    Column column{{}, ValueType::f64};
    if (const auto bad = append_utf16be_as_utf8(units.subspan(begin, at - begin), column.label)) {
      throw Error(Errc::corrupt, file, kLabelsAt + begin + *bad,
                  "the labels are not UTF-16: a surrogate without its partner");
    }
    columns.push_back(std::move(column));
    begin = at + 2;
  }
  return columns;
}

/// What a user should know before giving the file to other readers.
std::string note_on_labels(const std::vector<Column>& columns) {
  if (columns.size() == 1) return {};
  const auto last = std::find_if(columns.rbegin(), columns.rend(),
                                 [](const Column& column) { return !column.label.empty(); });
  const auto empty = last - columns.rbegin();
  if (empty == 0) return {};
  const std::string which = empty == 1 ? "label is" : std::to_string(empty) + " labels are";
  return "the last " + which +
         " empty: Java and Clojure readers of BTables do not see columns without one";
}

/// One pass over the rows.
BlockIndex scan_rows(const ByteSource& file, std::uint64_t begin, std::uint64_t cols,
                     std::uint64_t& row_count) {
  EntryTable entries;
  Entry block;
  block.kind = BlockKind::csr;
  block.value_type = ValueType::f64;
  block.cols = static_cast<std::uint32_t>(cols);
  block.offset = begin;
  const auto close = [&](std::uint64_t end) {
    block.bytes = end - block.offset;
    entries.push_back(block);
    block.pos.rx += block.rows;
    block.offset = end;
    block.rows = 0;
    block.stored = 0;
  };

  RowWalk rows(file, begin, file.size());
  const std::byte* const end = rows.position() + (file.size() - begin);
  const std::byte* fetched = rows.position();
  while (!rows.done()) {
    const std::byte* const here = rows.position();
    fetched = std::max(fetched, here);
    const std::byte* const ahead =
        static_cast<std::size_t>(end - here) > kPrefetchBytes ? here + kPrefetchBytes : end;
    for (; fetched < ahead; fetched += kCacheLine) __builtin_prefetch(fetched);
    block.stored += rows.next().size;
    ++block.rows;
    if (rows.offset() - block.offset >= kBlockBytes) close(rows.offset());
  }
  if (block.rows > 0) close(rows.offset());
  row_count = block.pos.rx;
  return BlockIndex::from_entries(std::move(entries), row_count, cols, file.name());
}

}  // namespace

Match recognise_btable(const Probe& probe) {
  const Match otherwise = probe.extension == ".btable" ? Match::by_name : Match::no;
  if (probe.head.size() < kLabelsAt ||
      load_be<std::int32_t>(probe.head.data() + kVersionAt) != kVersion) {
    return otherwise;
  }
  // A file of zeros would pass for a table with one empty label, so a label is asked for.
  const auto units = load_be<std::int32_t>(probe.head.data() + kLengthAt);
  if (units <= 0) return otherwise;
  std::uint64_t at = kLabelsAt + 2 * static_cast<std::uint64_t>(units);
  if (at > probe.file.size()) return otherwise;
  const std::uint64_t seen = std::min<std::uint64_t>(at, probe.head.size()) & ~std::uint64_t{1};
  std::string label;
  const auto bad = append_utf16be_as_utf8(probe.head.subspan(kLabelsAt, seen - kLabelsAt), label);
  if (bad && kLabelsAt + *bad + 4 <= seen) return otherwise;  // not a pair cut by the probe's end
  while (at <= probe.head.size() && probe.head.size() - at >= kCountBytes) {
    const auto count = load_be<std::int32_t>(probe.head.data() + at);
    if (count < 0) return otherwise;
    at += kCountBytes + static_cast<std::uint64_t>(count) * kEntryBytes;
    if (at > probe.file.size()) return otherwise;
  }
  return Match::by_content;
}

std::shared_ptr<const Store> open_btable(std::shared_ptr<ByteSource> file, const OpenOptions&) {
  const std::uint64_t head = std::min(file->size(), kLabelsAt);
  ByteReader reader(file->bytes(0, head), 0, file->name());
  const auto version = reader.be<std::int32_t>("the version");
  if (version != kVersion) {
    throw Error(Errc::unsupported, file->name(), kVersionAt,
                "BTables of version " + std::to_string(version) +
                    " cannot be read, only those of version 0");
  }
  const auto units = reader.be<std::int32_t>("the length of the labels");
  const std::uint64_t left = file->size() - kLabelsAt;
  if (units < 0 || 2 * static_cast<std::uint64_t>(units) > left) {
    throw Error(Errc::corrupt, file->name(), kLengthAt,
                units < 0 ? "the length of the labels cannot be negative: " + std::to_string(units)
                          : "labels of " + std::to_string(units) + " UTF-16 units do not fit the " +
                                counted(left, "byte") + " that are left");
  }
  const std::uint64_t label_bytes = 2 * static_cast<std::uint64_t>(units);

  Schema schema;
  schema.kind = ObjectKind::frame;
  schema.columns = split_labels(file->bytes(kLabelsAt, label_bytes), file->name());
  schema.cols = schema.columns.size();
  std::string note = note_on_labels(schema.columns);
  BlockIndex index = scan_rows(*file, kLabelsAt + label_bytes, schema.cols, schema.rows);
  auto store =
      std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver);
  store->set_note(std::move(note));
  return store;
}

void RowWalk::fail_end(std::uint64_t left) const {
  throw Error(Errc::corrupt, file_.name(), offset(),
              too_short(kCountBytes, "a row's length", left));
}

void RowWalk::fail_count(std::int32_t count) const {
  throw Error(Errc::corrupt, file_.name(), offset(),
              "a row cannot have " + std::to_string(count) + " entries");
}

void RowWalk::fail_entries(std::uint64_t wanted, std::uint64_t left) const {
  throw Error(Errc::corrupt, file_.name(), offset() + kCountBytes,
              too_short(wanted, "entries", left));
}

}  // namespace dapple::detail::btable
