#include "lib/foreign/idv/idv_state.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_render.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {
namespace {

/// What a block stores. A vector block is as long as one without indices would be, or some of its
/// vectors are sparse. How many items they have together follows from the length, if all are; if
/// not, it is more, since the others need no indices.
struct Stored {
  BlockKind kind = BlockKind::dense;
  std::uint64_t items = 0;
};

constexpr std::uint64_t quotient_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return n / unit + (n % unit != 0 ? 1 : 0);
}

Stored stored_in(const ValueCodec& codec, std::uint64_t rows, std::uint64_t inflated) {
  if (!codec.vector) return {BlockKind::dense, rows};
  const std::uint64_t cells = rows * codec.size;  // both below 2^31
  const std::uint64_t head = vector_head_bytes(rows);
  if (cells <= inflated * 8 && inflated - head == item_bytes(*codec.item, cells)) {
    return {BlockKind::dense, cells};
  }
  // An item takes its own bits and an index of 32. Too few bytes for one, or for the head, are no
  // zeros either.
  const std::uint64_t item_bits = *item_bytes(*codec.item, 16) / 2 + 32;
  const std::uint64_t bits = inflated < head ? 1 : (inflated - head) * 8;
  return {BlockKind::csr, std::min(cells, quotient_up(bits, item_bits))};
}

/// The beginning of a text that is too long to be read by people, in whole characters of UTF-8.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 400;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "... (" + std::to_string(text.size()) + " bytes)";
}

/// The block of a column that an entry is of. Text columns, which have none in the index, count
/// from the object's last column on.
struct BlockOf {
  const Store& store;
  const TocColumn& column;
  std::uint64_t number;

  BlockOf(const Store& of, const Entry& entry)
      : store(of), column(column_at(of, entry.pos.cx)), number(entry.pos.rx / column.block_rows) {}

  BlockPlace place() const {
    return find_place(store.file(), store.state<State>().contents().header, column, number);
  }

 private:
  static const TocColumn& column_at(const Store& store, std::uint64_t col) {
    const State& state = store.state<State>();
    const std::uint64_t cols = store.schema().cols;
    if (col >= cols) return state.text_column(col - cols);
    return state.contents().toc[strip_of(state.contents(), col).column];
  }
};

/// The most minutes of a time zone's offset from UTC.
constexpr std::int64_t kMostMinutes = 14 * 60;

/// What part `part` of a date of this item may be.
struct DateRange {
  std::int64_t least, most;
  bool may_be_missing;  // as the smallest number of its type

  bool holds(std::int64_t value, ValueType type) const noexcept {
    const std::int64_t missing = type == ValueType::i64 ? std::numeric_limits<std::int64_t>::min()
                                                        : std::numeric_limits<std::int16_t>::min();
    return (value >= least && value <= most) || (may_be_missing && value == missing);
  }
};

std::optional<DateRange> date_range(const ItemType& item, std::uint32_t part) noexcept {
  const bool zoned = item.title == "DateTimeOffset";
  if (!zoned && item.title != "DateTime") return std::nullopt;
  const bool old = item.load_name.starts_with("Dv");
  const bool minutes = zoned && parts_of(item)[part].value_type == ValueType::i16;
  return minutes ? DateRange{-kMostMinutes, kMostMinutes, old} : DateRange{0, kMostTicks, old};
}

}  // namespace

const Strip& strip_of(const Contents& contents, std::uint64_t col) noexcept {
  const auto behind =
      std::upper_bound(contents.strips.begin(), contents.strips.end(), col,
                       [](std::uint64_t c, const Strip& strip) { return c < strip.begin; });
  return *std::prev(behind);
}

Entry entry_of(const ByteSource& file, const Contents& contents, const Strip& strip,
               std::uint64_t row) {
  const TocColumn& column = contents.toc[strip.column];
  const std::uint64_t number = row / column.block_rows;
  const std::uint64_t rows = rows_of_block(contents.header, column, number);
  const BlockPlace place = find_place(file, contents.header, column, number);
  const Stored stored = stored_in(column.codec, rows, place.inflated);
  const std::uint64_t slots = column.codec.vector ? column.codec.size : 1;
  Entry entry;
  entry.pos = {row, strip.begin};
  entry.rows = static_cast<std::uint32_t>(rows);
  entry.cols = strip.width;
  entry.offset = place.offset;
  entry.bytes = place.bytes;
  entry.kind = stored.kind;
  entry.stored =
      strip.width == slots ? stored.items : quotient_up(stored.items * strip.width, slots);
  entry.value_type = parts_of(*column.codec.item)[strip.part].value_type;
  return entry;
}

bool is_compressed(const Store& store, const Entry& entry) {
  return BlockOf(store, entry).column.compression != Compression::none;
}

HeldBytes inflate_entry(const Store& store, const Entry& entry) {
  const BlockOf block(store, entry);
  return read_block(store.file(), block.column.compression, block.place()).held;
}

BlockBytes block_of(const Store& store, const Entry& entry, bool whole) {
  const BlockOf block(store, entry);
  const Compression compression = block.column.compression;
  const BlockPlace place = block.place();
  if (!whole && compression != Compression::none) {
    BlockBytes kept{store.payload(entry), place.offset, &store.file().name(), true};
    // Two lookup tables may disagree about one place; each gets what it asked for.
    if (kept.held.size() == place.inflated) return kept;
  }
  return read_block(store.file(), compression, place);
}

void State::read_text(const Store& store, std::size_t k, Range rows, const TakeText& take) const {
  const TocColumn& column = contents_->toc[text_column_[k]];
  for (std::uint64_t row = rows.begin; row < rows.end;) {
    const std::uint64_t number = row / column.block_rows;
    const std::uint64_t first = number * column.block_rows;
    const std::uint64_t n = rows_of_block(contents_->header, column, number);
    const Range part{row - first, std::min(n, rows.end - first)};
    const BlockPlace place = find_place(store.file(), contents_->header, column, number);
    Entry entry;
    entry.pos = {first, store.schema().cols + k};
    entry.offset = place.offset;
    entry.bytes = place.bytes;
    render_block(block_of(store, entry, part.size() == n), column.codec, n, part, Shown::stored,
                 [&](std::uint64_t r, std::string_view text) { take(first + r, text); });
    row = first + part.end;
  }
}

std::vector<Detail> State::details(const Store& store) const {
  const Header& header = contents_->header;
  std::vector<Detail> details;
  details.push_back({"version", version_text(header.version) + ", for readers of " +
                                    version_text(header.compatible)});
  const auto& toc = contents_->toc;
  for (const TocColumn& column : toc) {
    const bool same =
        column.compression == toc[0].compression && column.block_rows == toc[0].block_rows;
    if (&column != &toc[0] && same) continue;
    details.push_back({"storage", '"' + column.name + "\": compression " +
                                      compression_text(column.compression) + ", " +
                                      counted(column.block_rows, "row") + " per block"});
  }
  for (const std::uint32_t i : hidden_columns(toc)) {
    details.push_back({"hidden", '"' + toc[i].name + "\", column " + std::to_string(i) +
                                     " of the file: a later one has its name"});
  }
  std::optional<std::uint32_t> last;
  for (const Strip& strip : contents_->strips) {
    const TocColumn& column = toc[strip.column];
    if (strip.part > 0 || strip.column == last) continue;
    last = strip.column;
    if (!is_ticks(store.schema(), strip.begin, *column.codec.item)) continue;
    details.push_back({"ticks", '"' + column.name + "\": " + std::string(column.codec.item->title) +
                                    " as plain numbers, ticks of 100 ns, because " +
                                    (column.codec.vector ? "it is a vector"
                                                         : "no unit of time was found to hold "
                                                           "every value")});
  }
  MetadataRoom room(header);
  for (const TocColumn& column : toc) {
    for (const MetadataEntry& entry : read_metadata_table(store.file(), header, column, room)) {
      std::string text = '"' + column.name + "\": " + entry.kind + ", " + type_text(entry.codec);
      if (entry.alive()) {
        const auto value = metadata_text(store.file(), entry, room);
        text += value ? " = " + shortened(*value) : ", too large to be shown";
      }
      details.push_back({"metadata", std::move(text)});
    }
  }
  return details;
}

void check_values(const Store& store, const Entry& entry) {
  const Contents& contents = store.state<State>().contents();
  const Strip& strip = strip_of(contents, entry.pos.cx);
  const TocColumn& column = contents.toc[strip.column];
  const auto range = date_range(*column.codec.item, strip.part);
  if (!range) return;
  constexpr std::uint64_t kAtOnce = std::uint64_t{64} << 10;
  const std::uint64_t band = std::max<std::uint64_t>(1, kAtOnce / entry.cols);
  std::vector<std::int64_t> values;
  for (std::uint64_t row = 0; row < entry.rows; row += band) {
    const Range rows{row, std::min<std::uint64_t>(entry.rows, row + band)};
    values.resize(rows.size() * entry.cols);
    store.read_block(entry, {rows, {0, entry.cols}},
                     {reinterpret_cast<std::byte*>(values.data()), ValueType::i64,
                      entry.cols * sizeof values[0], sizeof values[0]});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (range->holds(strip.scale.to_file(values[i]).value_or(-1), entry.value_type)) continue;
      store.fail(Errc::corrupt, entry.offset,
                 "column \"" + column.name + "\", row " +
                     std::to_string(entry.pos.rx + row + i / entry.cols) + ": " +
                     std::to_string(values[i]) + " is not a " +
                     std::string(column.codec.item->title));
    }
  }
}

bool is_ticks(const Schema& schema, std::uint64_t col, const ItemType& item) noexcept {
  return is_time(item) && (schema.kind == ObjectKind::matrix ||
                           schema.columns[col].meaning.kind == MeaningKind::number);
}

}  // namespace dapple::detail::idv
