#include "lib/codec/codecs.h"

#include <algorithm>
#include <iterator>

#include "lib/codec/packed/packed_block.h"

namespace dapple::detail {

namespace {

void decode_packed(const PayloadShape& s, const StoredBytes& stored, std::span<std::byte> out) {
  const packed::Source source{stored.bytes, stored.offset, &stored.file};
  packed::BlockReader({s.kind, s.value_type, s.rows, s.cols, s.stored}, source).decode(out.data());
}

constexpr BlockCodec kCodecs[] = {{kPackedCodec, "packed", decode_packed}};

}  // namespace

const BlockCodec* find_codec(std::uint8_t number) noexcept {
  const auto* const found =
      std::find_if(std::begin(kCodecs), std::end(kCodecs),
                   [&](const BlockCodec& codec) { return codec.number == number; });
  return found != std::end(kCodecs) ? found : nullptr;
}

}  // namespace dapple::detail
