#include "lib/codec/codecs.h"

#include <algorithm>
#include <iterator>

#include "lib/codec/packed/packed_block.h"

namespace dapple::detail {

namespace {

packed::BlockReader packed_reader(const PayloadShape& s, const StoredBytes& stored) {
  const packed::Source source{stored.bytes, stored.offset, &stored.file};
  return {{s.kind, s.value_type, s.rows, s.cols, s.stored}, source};
}

void decode_packed(const PayloadShape& s, const StoredBytes& stored, std::span<std::byte> out) {
  packed_reader(s, stored).decode(out.data());
}

void decode_packed_rows(const PayloadShape& s, const StoredBytes& stored, Range rows,
                        std::byte* out) {
  const std::size_t row_bytes = s.cols * size_of(s.value_type);
  packed_reader(s, stored).cells(rows, {0, s.cols}, out, row_bytes);
}

constexpr BlockCodec kCodecs[] = {{kPackedCodec, "packed", decode_packed, decode_packed_rows}};

}  // namespace

const BlockCodec* find_codec(std::uint8_t number) noexcept {
  const auto* const found =
      std::find_if(std::begin(kCodecs), std::end(kCodecs),
                   [&](const BlockCodec& codec) { return codec.number == number; });
  return found != std::end(kCodecs) ? found : nullptr;
}

}  // namespace dapple::detail
