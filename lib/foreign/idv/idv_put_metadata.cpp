#include "lib/foreign/idv/idv_put_metadata.h"

#include <string_view>

#include "lib/foreign/idv/idv_encode.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {

std::vector<std::byte> put_metadata(const OutColumn& column, Deflater* deflater, OutputFile& out) {
  std::vector<std::byte> table;
  const bool keys = column.key_values != nullptr, slots = column.slot_names != nullptr;
  if (!keys && !slots) return table;
  put_leb128(table, (keys ? 1U : 0U) + (slots ? 1U : 0U));
  const auto add = [&](std::string_view kind, const ValueCodec& codec,
                       const std::vector<std::byte>& block) {
    std::vector<std::byte> deflated;
    if (deflater != nullptr) deflater->deflate(block, deflated);
    const auto& bytes = deflater != nullptr ? deflated : block;
    put_string(table, kind);
    put_codec(table, codec);
    put_le(table, static_cast<std::uint8_t>(column.toc.compression));
    put_le(table, out.appended());
    put_leb128(table, bytes.size());
    out.append(bytes);
  };
  const auto add_texts = [&](std::string_view kind, const Dictionary& words) {
    TextEncoder texts;
    for (std::uint64_t i = 0; i < words.size(); ++i) texts.add(words[i]);
    std::vector<std::byte> block;
    put_text_vector(block, words.size(), texts);
    ValueCodec codec;
    codec.item = &text_item();
    codec.vector = true;
    codec.size = words.size();
    add(kind, codec, block);
  };
  if (column.key_block) {
    add("KeyValues", column.key_block->codec, column.key_block->bytes);
  } else if (keys) {
    add_texts("KeyValues", *column.key_values);
  }
  if (slots) add_texts("SlotNames", *column.slot_names);
  return table;
}

}  // namespace dapple::detail::idv
