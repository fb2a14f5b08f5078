#include "lib/foreign/idv/idv_codec.h"

#include <algorithm>
#include <array>
#include <limits>

#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

constexpr std::array kItems = {
    ItemType{"Byte", "Byte", Layout::number, ValueType::u8},
    ItemType{"UInt16", "UInt16", Layout::number, ValueType::u16},
    ItemType{"UInt32", "UInt32", Layout::number, ValueType::u32},
    ItemType{"UInt64", "UInt64", Layout::number, ValueType::u64},
    ItemType{"SByte", "SByte", Layout::number, ValueType::i8},
    ItemType{"Int16", "Int16", Layout::number, ValueType::i16},
    ItemType{"Int32", "Int32", Layout::number, ValueType::i32},
    ItemType{"Int64", "Int64", Layout::number, ValueType::i64},
    ItemType{"Single", "Single", Layout::number, ValueType::f32},
    ItemType{"Double", "Double", Layout::number, ValueType::f64},
    ItemType{"TimeSpan", "TimeSpan", Layout::number, ValueType::i64},
    ItemType{"DvTimeSpan", "TimeSpan", Layout::number, ValueType::i64},
    ItemType{"DateTime", "DateTime", Layout::number, ValueType::i64},
    ItemType{"DvDateTime", "DateTime", Layout::number, ValueType::i64},
    ItemType{"DateTimeOffset", "DateTimeOffset", Layout::zoned},
    ItemType{"DvDateTimeZone", "DateTimeOffset", Layout::zoned},
    ItemType{"Boolean", "Boolean", Layout::bits},
    ItemType{"DvBool", "Boolean", Layout::bits2},
    ItemType{"DataViewRowId", "DataViewRowId", Layout::wide},
    ItemType{"TextSpan", "Text", Layout::text},
};

/// Where a definition is found, which decides what it may be.
enum class Level : std::uint8_t { column, in_vector, in_key };

const ItemType* find_item(std::string_view load_name) noexcept {
  for (const ItemType& item : kItems) {
    if (item.load_name == load_name) return &item;
  }
  return nullptr;
}

ValueCodec read_definition(ByteReader& in, Level level);

std::string bad_count(const std::string& count, std::uint64_t most) {
  return "a key of this type has 1 to " + std::to_string(most) + " values, not " + count;
}

void read_key(ByteReader& in, bool old_form, ValueCodec& codec) {
  const std::uint64_t start = in.offset();
  codec = read_definition(in, Level::in_key);
  if (!codec.known()) return;
  const ItemType& item = *codec.item;
  if (item.layout != Layout::number || is_signed(item.value_type)) {
    in.fail(start,
            "a key is a Byte, UInt16, UInt32 or UInt64, not a " + std::string(item.load_name));
  }
  const std::uint64_t most =
      std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * size_of(item.value_type));
  const std::uint64_t at = in.offset();
  if (old_form) {
    const auto contiguous = in.le<std::uint8_t>("the parameters of codec Key");
    const auto first = in.le<std::uint64_t>("the parameters of codec Key");
    const auto count = in.le<std::int32_t>("the parameters of codec Key");
    if (contiguous != 1 || first != 0 || count < 0 || static_cast<std::uint64_t>(count) > most) {
      in.fail(at, contiguous != 1 ? "the key is not contiguous"
                  : first != 0    ? "the key starts at " + std::to_string(first) + ", not at 0"
                                  : bad_count(std::to_string(count), most));
    }
    codec.key_count = count == 0 ? most : static_cast<std::uint64_t>(count);
    return;
  }
  codec.key_count = in.le<std::uint64_t>("the parameters of codec Key2");
  if (codec.key_count < 1 || codec.key_count > most) {
    in.fail(at, bad_count(std::to_string(codec.key_count), most));
  }
}

void read_vector(ByteReader& in, ValueCodec& codec) {
  codec = read_definition(in, Level::in_vector);
  codec.vector = true;
  if (!codec.known()) return;
  const std::uint64_t at = in.offset();
  const auto count = in.le<std::int32_t>("the number of dimensions");
  if (count < 0 || static_cast<std::uint64_t>(count) > in.remaining() / 4) {
    in.fail(at, std::to_string(count) + " dimensions do not fit the " +
                    counted(in.remaining(), "byte") + " that the definition has left");
  }
  codec.size = count > 0 ? 1 : 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::uint64_t here = in.offset();
    const auto dim = in.le<std::int32_t>("a dimension");
    if (dim < 0) in.fail(here, "a dimension cannot be negative: " + std::to_string(dim));
    codec.dims.push_back(static_cast<std::uint32_t>(dim));
    codec.size *= codec.dims.back();  // both below 2^31
    if (codec.size > kMaxInt) {
      in.fail(at, "the product of the dimensions is above 2147483647");
    }
  }
}

ValueCodec read_definition(ByteReader& in, Level level) {
  const std::uint64_t start = in.offset();
  const std::string load_name = read_string(in, "a codec's load name");
  if (load_name.empty()) in.fail(start, "the codec's load name is empty");
  const std::uint64_t length = read_leb128(in, "the length of a codec's parameters");
  const std::uint64_t params_at = in.offset();
  const auto params = in.take(length, "a codec's parameters");
  ValueCodec codec;
  codec.item = find_item(load_name);
  codec.load_name = load_name;
  const bool old_key = load_name == "Key", key = old_key || load_name == "Key2";
  const bool vector = load_name == "VBuffer";
  if (codec.item == nullptr && !key && !vector) return codec;
  if ((vector && level != Level::column) || (key && level == Level::in_key)) {
    in.fail(start, std::string(level == Level::in_key ? "a key" : "a vector") +
                       " cannot have items of codec " + load_name);
  }
  ByteReader inside(params, params_at, in.file());
  if (key) read_key(inside, old_key, codec);
  if (vector) read_vector(inside, codec);
  // After a codec that is not known, the parameters of the outer one can't be found.
  if (codec.known() && inside.remaining() > 0) {
    in.fail(inside.offset(), surplus(inside.remaining(), "the parameters of codec " + load_name));
  }
  return codec;
}

}  // namespace

const ItemType& text_item() noexcept { return kItems.back(); }

const ItemType& number_item(ValueType type) noexcept {
  return kItems[static_cast<std::size_t>(type) - 1];  // the first ten, in the order of the codes
}

const ItemType& item_titled(std::string_view title) noexcept {
  return *std::find_if(kItems.begin(), kItems.end(), [title](const ItemType& item) {
    return item.title == title && !item.load_name.starts_with("Dv");
  });
}

ValueCodec read_codec(ByteReader& in) { return read_definition(in, Level::column); }

void put_codec(std::vector<std::byte>& out, const ValueCodec& codec) {
  std::vector<std::byte> inner, outer;
  put_string(inner, codec.item->load_name);
  put_leb128(inner, 0);  // no parameters
  const auto wrap = [&](std::string_view load_name) {
    outer.clear();
    put_string(outer, load_name);
    put_leb128(outer, inner.size());
    append_bytes(outer, inner);
    inner = outer;
  };
  if (codec.key_count > 0) {
    append_le(inner, codec.key_count);
    wrap("Key2");
  }
  if (codec.vector) {
    const auto size = static_cast<std::uint32_t>(codec.size);
    const std::span dims = codec.dims.empty() ? std::span(&size, 1) : std::span(codec.dims);
    append_le(inner, static_cast<std::int32_t>(dims.size()));
    for (const std::uint32_t dim : dims) append_le(inner, dim);
    wrap("VBuffer");
  }
  append_bytes(out, inner);
}

std::string type_text(const ValueCodec& codec) {
  if (!codec.known()) return "unknown codec " + codec.load_name;
  std::string text(codec.item->title);
  if (codec.key_count > 0) text = "Key<" + text + ',' + std::to_string(codec.key_count) + '>';
  if (!codec.vector) return text;
  text = "Vector<" + text;
  for (const std::uint32_t dim : codec.dims) {
    if (codec.dims.size() == 1 && dim == 0) continue;
    text += ',';
    text += std::to_string(dim);
  }
  return text + '>';
}

std::optional<std::uint64_t> item_bytes(const ItemType& item, std::uint64_t n) noexcept {
  switch (item.layout) {
    case Layout::number:
      return n * size_of(item.value_type);
    case Layout::bits:
      return (n + 7) / 8;
    case Layout::bits2:
      return (n + 15) / 16 * 4;
    case Layout::zoned:
      return n * 10;
    case Layout::wide:
      return n * 16;
    case Layout::text:
      break;
  }
  return std::nullopt;
}

}  // namespace dapple::detail::idv
