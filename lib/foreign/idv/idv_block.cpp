#include "lib/foreign/idv/idv_block.h"

#include <memory>

#include "dapple/array.h"
#include "lib/codec/inflate.h"

#include "lib/foreign/idv/idv_primitives.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {
namespace {

/// Bytes of a block of `rows` values: all that it can have, or the fewest.
struct BlockSize {
  std::uint64_t least = 0;
  bool exact = false;
};

BlockSize block_size(const ValueCodec& codec, std::uint64_t rows) {
  if (codec.vector) return {vector_head_bytes(rows), false};
  if (const auto bytes = item_bytes(*codec.item, rows)) return {*bytes, true};
  return {4 + rows * 4 + 1, false};  // number of texts, end positions, length of the string
}

}  // namespace

BlockPlace find_place(const ByteSource& file, const Header& header, const TocColumn& column,
                      std::uint64_t number) {
  const std::uint64_t at = column.lookup_offset + number * kLookupBytes;
  ByteReader in(file.bytes(at, kLookupBytes), at, file.name());
  const auto offset = in.le<std::int64_t>("a block's offset");
  const auto bytes = in.le<std::int32_t>("a block's length");
  const auto inflated = in.le<std::int32_t>("a block's inflated length");
  const auto fail = [&](std::uint64_t byte, const std::string& wrong) {
    in.fail(byte,
            "block " + std::to_string(number) + " of column \"" + column.name + "\" " + wrong);
  };
  const std::uint64_t tail = header.tail_offset;
  if (bytes < 0 || offset < static_cast<std::int64_t>(kHeaderBytes) ||
      static_cast<std::uint64_t>(offset) > tail ||
      static_cast<std::uint64_t>(bytes) > tail - static_cast<std::uint64_t>(offset)) {
    fail(at, "is said to be " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                 "; blocks are between byte 256 and the tail at " + std::to_string(tail));
  }
  const BlockPlace place{static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes),
                         static_cast<std::uint64_t>(inflated)};
  const BlockSize size = block_size(column.codec, rows_of_block(header, column, number));
  if (inflated < 0 || place.inflated < size.least || (size.exact && place.inflated > size.least)) {
    fail(at + 12, "is said to inflate to " + std::to_string(inflated) + " bytes; its rows take " +
                      (size.exact ? "" : "at least ") + std::to_string(size.least));
  }
  const std::uint64_t most =
      column.compression == Compression::none ? place.bytes : place.bytes * kMostInflation;
  if (place.inflated > most) {
    fail(at + 12, "is said to inflate to " + std::to_string(inflated) + " bytes; its " +
                      std::to_string(bytes) + " bytes can give at most " + std::to_string(most));
  }
  return place;
}

void put_place(std::vector<std::byte>& out, const BlockPlace& place) {
  append_le(out, static_cast<std::int64_t>(place.offset));
  append_le(out, static_cast<std::int32_t>(place.bytes));
  append_le(out, static_cast<std::int32_t>(place.inflated));
}

BlockBytes read_block(const ByteSource& file, Compression compression, const BlockPlace& place) {
  if (compression == Compression::none) {
    return {{file.bytes(place.offset, place.inflated), nullptr}, place.offset, &file.name()};
  }
  auto inflated = std::make_shared<Array<std::byte>>(static_cast<std::size_t>(place.inflated));
  const std::string wrong = inflate(wrapper_of(compression), file.bytes(place.offset, place.bytes),
                                    std::span(inflated->data(), inflated->size()));
  if (!wrong.empty()) throw Error(Errc::corrupt, file.name(), place.offset, wrong);
  return {{{inflated->data(), inflated->size()}, inflated}, place.offset, &file.name(), true};
}

}  // namespace dapple::detail::idv
