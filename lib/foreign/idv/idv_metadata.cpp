#include "lib/foreign/idv/idv_metadata.h"

#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv_block.h"

#include "lib/foreign/idv/idv_primitives.h"
#include "lib/foreign/idv/idv_render.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {
namespace {

/// Items of a vector that need not take bytes of their own.
constexpr std::uint64_t kMostSparse = std::uint64_t{1} << 16;

using SlotNames = std::map<std::uint64_t, std::string>;

[[noreturn]] void throw_bad_data(const ByteSource& file, const MetadataEntry& entry) {
  throw Error(Errc::corrupt, file.name(), entry.offset, "the compressed data is damaged");
}

/// Nothing when it inflates to more than `most` bytes.
std::optional<BlockBytes> inflated_block(const ByteSource& file, const MetadataEntry& entry,
                                         std::uint64_t most) {
  BlockBytes block{{file.bytes(entry.offset, entry.bytes), nullptr}, entry.offset, &file.name()};
  if (entry.compression == Compression::none) return block;
  const auto inflated = std::make_shared<Array<std::byte>>();
  switch (inflate_some(wrapper_of(entry.compression), block.held.bytes, {entry.bytes * 4, most},
                       *inflated)) {
    case Inflated::whole:
      break;
    case Inflated::too_long:
      return std::nullopt;
    case Inflated::bad:
      throw_bad_data(file, entry);
  }
  block.held = {{inflated->data(), inflated->size()}, inflated};
  block.inflated = true;
  return block;
}

/// Nothing when there is no room to inflate it.
std::optional<BlockBytes> read_entry(const ByteSource& file, const MetadataEntry& entry,
                                     MetadataRoom& room) {
  room.take(file, entry.offset, entry.bytes);
  auto block = inflated_block(file, entry, room.inflated());
  if (block && block->inflated) room.take_inflated(block->held.size());
  return block;
}

SlotNames names_of_vector(const BlockBytes& block, const ValueCodec& codec) {
  SlotNames names;
  render_vector(block, codec, [&](std::uint64_t slot, std::string&& name) {
    if (!name.empty()) names.emplace(slot, std::move(name));
  });
  return names;
}

/// The table of version 1.1.1.3: pairs of slot and name.
SlotNames names_of_table(const ByteSource& file, const TocColumn& column, MetadataRoom& room) {
  SlotNames names;
  const std::uint64_t start = column.slot_names_offset;
  room.take(file, start, column.slot_names_bytes);
  ByteReader in(file.bytes(start, column.slot_names_bytes), start, file.name());
  for (std::uint32_t i = 0; i < column.slot_names_count; ++i) {
    const std::uint64_t at = in.offset();
    const auto slot = in.le<std::uint32_t>("a slot");
    if (slot >= column.codec.size) {
      in.fail(at, "slot " + std::to_string(static_cast<std::int32_t>(slot)) +
                      " is outside a vector of length " + std::to_string(column.codec.size));
    }
    std::string name = read_string(in, "a slot name");
    if (name.empty()) continue;
    if (!names.emplace(slot, std::move(name)).second) {
      in.fail(at, "slot " + std::to_string(slot) + " is named twice");
    }
  }
  return names;
}

}  // namespace

std::string compression_text(Compression compression) {
  constexpr std::string_view names[] = {"none", "deflate", "zlib"};
  const auto code = static_cast<unsigned>(compression);
  return is_known(compression) ? std::string(names[code])
                               : "unknown (" + std::to_string(code) + ')';
}

std::optional<std::string> metadata_text(const ByteSource& file, const MetadataEntry& entry,
                                         MetadataRoom& room) {
  const auto block = read_entry(file, entry, room);
  if (!block) return std::nullopt;
  std::string result;
  render_block(*block, entry.codec, 1, {0, 1}, Shown::meant,
               [&](std::uint64_t, std::string_view text) { result = text; });
  return result;
}

std::vector<std::string> metadata_items(const ByteSource& file, const MetadataEntry& entry) {
  const auto block = inflated_block(file, entry, entry.bytes * kMostInflation);
  if (!block) throw_bad_data(file, entry);
  // A sparse vector of a few bytes can have any number of slots.
  if (entry.codec.size > std::max<std::uint64_t>(kMostSparse, block->held.size() / 4)) {
    throw Error(Errc::corrupt, file.name(), entry.offset,
                "a block of " + counted(block->held.size(), "byte") + " does not hold " +
                    counted(entry.codec.size, "value"));
  }
  std::vector<std::string> items(entry.codec.size);
  render_vector(*block, entry.codec,
                [&](std::uint64_t slot, std::string&& text) { items[slot] = std::move(text); });
  return items;
}

std::optional<MetadataBlock> copy_metadata(const ByteSource& file, const MetadataEntry& entry) {
  const ItemType& item = current_item(*entry.codec.item);
  if (!entry.codec.vector || item.layout != entry.codec.item->layout) return std::nullopt;
  metadata_items(file, entry);  // throws when they are damaged
  const auto block = inflated_block(file, entry, entry.bytes * kMostInflation);
  MetadataBlock copy{entry.codec, {block->held.bytes.begin(), block->held.bytes.end()}};
  copy.codec.item = &item;
  return copy;
}

std::map<std::uint64_t, std::string> read_slot_names(const ByteSource& file,
                                                     const TocColumn& column,
                                                     const std::vector<MetadataEntry>& metadata,
                                                     MetadataRoom& room) {
  if (!column.codec.vector || column.codec.size == 0) return {};
  if (column.slot_names_offset != 0) return names_of_table(file, column, room);
  for (const MetadataEntry& entry : metadata) {
    if (entry.kind != "SlotNames" || !entry.alive()) continue;
    // A name for each slot, or it names something else.
    if (!entry.codec.vector || !entry.codec.text() || entry.codec.size != column.codec.size) break;
    const auto block = read_entry(file, entry, room);
    return block ? names_of_vector(*block, entry.codec) : SlotNames();
  }
  return {};
}

}  // namespace dapple::detail::idv
