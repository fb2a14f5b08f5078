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

class PackedRows final : public EncodedRows {
 public:
  explicit PackedRows(const packed::BlockReader& reader) : reader_(reader) {}

  void starts(std::uint32_t begin, std::uint32_t end, std::uint32_t* out) const override {
    packed::BlockReader::Kept kept;
    reader_.row_starts(begin, end, out, kept);
  }
  std::uint32_t entries(std::span<const std::uint32_t> starts, std::uint32_t* cols, ValueType type,
                        std::byte* values) const override {
    packed::BlockReader::Kept kept;
    reader_.columns(starts, cols, kept);
    return reader_.values_as(starts.front(), starts.back(), type, values, kept);
  }
  void decode(Range rows, std::byte* out) const override { reader_.decode_rows(rows, out); }
  std::array<std::span<const std::byte>, 2> bytes_of(std::uint32_t begin,
                                                     std::uint32_t end) const noexcept override {
    return reader_.bytes_of(begin, end);
  }

 private:
  const packed::BlockReader reader_;
};

std::unique_ptr<const EncodedRows> packed_rows(const PayloadShape& s, const StoredBytes& stored) {
  const packed::BlockReader reader = packed_reader(s, stored);
  return reader.ascends() ? std::make_unique<PackedRows>(reader) : nullptr;
}

constexpr BlockCodec kCodecs[] = {
    {kPackedCodec, "packed", decode_packed, decode_packed_rows, packed_rows}};

}  // namespace

const BlockCodec* find_codec(std::uint8_t number) noexcept {
  const auto* const found =
      std::find_if(std::begin(kCodecs), std::end(kCodecs),
                   [&](const BlockCodec& codec) { return codec.number == number; });
  return found != std::end(kCodecs) ? found : nullptr;
}

}  // namespace dapple::detail
