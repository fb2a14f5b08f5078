// Codec definitions: what the values of a column are and how a block of them is laid out.
//
// A definition is a load name and parameters; those of keys and vectors hold the definition of
// their items. Vectors hold no vectors, and keys no keys, so a definition is flat: at most a
// vector of keys of a number. FORMAT.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/value_type.h"
#include "lib/base/bytes.h"

namespace dapple::detail::idv {

/// How the items of a block are laid out.
enum class Layout : std::uint8_t {
  number,  // packed values of one value type; also ticks (i64)
  bits,    // one bit each, lowest first
  bits2,   // two bits each in 32-bit words, lowest first; 2 is a missing value
  zoned,   // all offsets in minutes (i16), then all ticks (i64)
  wide,    // 128 bits each: low half, high half
  text,    // end positions, then one string
};

/// A kind of value without vectors and keys.
struct ItemType {
  std::string_view load_name;  // as in the file, for example "Single"
  std::string_view title;      // as people read it, for example "DateTimeOffset"
  Layout layout = Layout::number;
  ValueType value_type = ValueType::u8;  // of the numbers; of layout `number` only
};

/// Texts.
const ItemType& text_item() noexcept;

/// The value codec in which the writer stores numbers of this type.
const ItemType& number_item(ValueType type) noexcept;

/// The item of that title, which is one of the table's, that ML.NET writes today.
const ItemType& item_titled(std::string_view title) noexcept;
inline const ItemType& current_item(const ItemType& item) noexcept {
  return item_titled(item.title);
}

/// What a definition says.
struct ValueCodec {
  const ItemType* item = nullptr;  // null: a codec, here or inside, that nobody knows
  std::string load_name;           // of the items
  std::uint64_t key_count = 0;     // keys are 1 to this, 0 is missing; 0: not a key
  bool vector = false;
  std::vector<std::uint32_t> dims;  // of a vector; may be empty in old files
  std::uint64_t size = 0;           // slots of a vector; 0: varies from row to row

  bool known() const noexcept { return item != nullptr; }
  bool text() const noexcept { return known() && item->layout == Layout::text; }
  /// Numbers, and as many of them in every row.
  bool numeric() const noexcept { return known() && !text() && (!vector || size > 0); }
  /// Cells of a frame: numbers, or one text a row.
  bool cells() const noexcept { return numeric() || (text() && !vector); }
};

/// Reads one definition. A load name that is not known gives a codec that is not known(), and
/// its parameters are stepped over. Throws corrupt for parameters that a known codec cannot have.
ValueCodec read_codec(ByteReader& in);

/// Appends the definition of a codec: of an item, a key of it, or a vector of either, of one
/// dimension where none are given. REQUIRES size < 2^31.
void put_codec(std::vector<std::byte>& out, const ValueCodec& codec);

/// "Single", "Key<UInt32,5>", "Vector<Text>", "Vector<Single,3>", "unknown codec Foo".
std::string type_text(const ValueCodec& codec);

/// Bytes of a block of `n` items; nothing for text, where it varies. REQUIRES n <= 2^36.
std::optional<std::uint64_t> item_bytes(const ItemType& item, std::uint64_t n) noexcept;

}  // namespace dapple::detail::idv
