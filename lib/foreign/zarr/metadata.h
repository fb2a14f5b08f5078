// What the metadata of a Zarr array says: its cells, its grid of chunks, and how a chunk is stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dapple/value_type.h"
#include "lib/base/json.h"
#include "lib/codec/inflate.h"

namespace dapple::detail::zarr {

using Extents = std::vector<std::uint64_t>;

/// What is stored for a cell.
struct CellType {
  ValueType read_as = ValueType::f64;  // of a Boolean u8, of a half float f32
  std::size_t size = 8;                // stored bytes
  bool half = false, boolean = false;
  bool words = false;  // strings of any length, each after its own
};

/// How a chunk becomes bytes.
struct Chain {
  /// Dimensions of the array in the order in which they are stored, slowest first.
  std::vector<std::size_t> order;
  bool big_endian = false;
  /// From bytes to bytes, in the order of writing. Nothing: a CRC-32C is added.
  std::vector<std::optional<Packing>> steps;
};

/// A chunk that consists of chunks, with an index of where they are.
struct Shards {
  Extents chunk;  // of a shard
  bool index_first = false, index_has_crc = false;
};

struct ArrayMetadata {
  Extents shape, chunk;  // as many extents; the chunk's are at least 1
  CellType type;
  std::array<std::byte, 8> fill{};  // as `type.read_as`; of strings
  std::string fill_word;            //   this
  Chain chain;
  std::optional<Shards> shards;
  std::string prefix;  // of the keys of chunks: "c/", or ""
  char separator = '/';
  std::string codecs;  // for people: "zstd, sharding"

  /// Cells of a chunk.
  std::uint64_t items() const noexcept;
};

/// From a zarr.json of version 3, or a .zarray of version 2. `key` is for messages. Throws corrupt;
/// unsupported, naming the codec, type or grid.
ArrayMetadata parse_array(const Json& json, const std::string& key);

/// Stores a number, true, false, "NaN", "Infinity", "-Infinity" or the bits of a float ("0x7fc0")
/// as `type`. False when it is none of these, or does not fit.
bool parse_fill(const Json& fill, const CellType& cells, std::byte* out);

}  // namespace dapple::detail::zarr
