#include "lib/foreign/idv/idv_encode.h"

#include <libdeflate.h>

#include <algorithm>
#include <new>

#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {

namespace {

// The level whose ratio and speed are those of zlib's default, only faster.
constexpr int kLevel = 6;

}  // namespace

bool VectorHead::start(std::uint64_t stored, std::size_t item_bytes) {
  const bool sparse = stored < size_ && stored * (4 + item_bytes) < size_ * item_bytes;
  counts_.push_back(sparse ? static_cast<std::int32_t>(stored) : -1);
  return sparse;
}

void VectorHead::finish(std::vector<std::byte>& out) {
  append_le(out, static_cast<std::int32_t>(counts_.size()));
  append_le(out, static_cast<std::int32_t>(size_));
  append_bytes(out, std::as_bytes(std::span(counts_)));
  append_le(out, static_cast<std::int32_t>(indices_.size()));
  append_bytes(out, std::as_bytes(std::span(indices_)));
  counts_.clear();
  indices_.clear();
}

void VectorEncoder::put_value(std::uint64_t bits) {
  const std::size_t at = values_.size();
  values_.resize(at + size_of(type_));
  store_bits(type_, values_.data() + at, bits);
}

void VectorEncoder::add(const std::byte* values) {
  const std::size_t step = size_of(type_);
  std::uint64_t stored = 0;
  for (std::uint64_t i = 0; i < head_.size(); ++i) {
    stored += load_bits(type_, values + i * step) != 0 ? 1 : 0;
  }
  if (!head_.start(stored, step)) {
    put_bytes(values_, {values, static_cast<std::size_t>(head_.size() * step)});
    return;
  }
  for (std::uint64_t i = 0; i < head_.size(); ++i) {
    const std::uint64_t bits = load_bits(type_, values + i * step);
    if (bits == 0) continue;
    head_.add_index(i);
    put_value(bits);
  }
}

void VectorEncoder::add(std::span<const StoredCell> cells) {
  if (head_.start(cells.size(), size_of(type_))) {
    for (const StoredCell& cell : cells) {
      head_.add_index(cell.col);
      put_value(cell.bits);
    }
    return;
  }
  const std::size_t at = values_.size();
  values_.resize(at + head_.size() * size_of(type_));
  for (const StoredCell& cell : cells) {
    store_bits(type_, values_.data() + at + cell.col * size_of(type_), cell.bits);
  }
}

void VectorEncoder::finish(std::vector<std::byte>& out) {
  head_.finish(out);
  if (bits_) {
    put_bits(out, values_);
  } else {
    put_bytes(out, values_);
  }
  values_.clear();
}

void put_pairs(std::vector<std::byte>& out, Layout layout, std::span<const Pair> items) {
  if (layout == Layout::zoned) {  // all minutes are in front of all ticks
    for (const Pair& item : items) put_le(out, static_cast<std::int16_t>(item.second));
    for (const Pair& item : items) put_le(out, item.first);
    return;
  }
  for (const Pair& item : items) {
    put_le(out, item.first);
    put_le(out, item.second);
  }
}

void PairEncoder::add(std::span<const Pair> items) {
  const auto is_stored = [](const Pair& item) { return item.first != 0 || item.second != 0; };
  const auto stored =
      static_cast<std::uint64_t>(std::count_if(items.begin(), items.end(), is_stored));
  if (!head_.start(stored, layout_ == Layout::zoned ? 10 : 16)) {
    items_.insert(items_.end(), items.begin(), items.end());
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_stored(items[i])) continue;
    head_.add_index(i);
    items_.push_back(items[i]);
  }
}

void PairEncoder::finish(std::vector<std::byte>& out) {
  head_.finish(out);
  put_pairs(out, layout_, items_);
  items_.clear();
}

void put_bits(std::vector<std::byte>& out, std::span<const std::byte> values) {
  for (std::size_t i = 0; i < values.size(); i += 8) {
    unsigned bits = 0;
    for (std::size_t k = i; k < std::min(i + 8, values.size()); ++k) {
      const auto truth = std::to_integer<unsigned>(values[k]);
      if (truth > 1) {
        throw Error(Errc::invalid_argument,
                    "a cell is neither true nor false, which ML.NET's Booleans must be");
      }
      bits |= truth << (k - i);
    }
    out.push_back(static_cast<std::byte>(bits));
  }
}

void TextEncoder::add(std::string_view text) {
  text_ += text;
  while (!text.empty()) {
    const auto character = next_utf8(text);
    if (!character) throw Error(Errc::invalid_argument, "the text is not UTF-8");
    units_ += character->value > 0xffff ? 2 : 1;  // a surrogate pair
    text.remove_prefix(character->size);
  }
  if (units_ > kMaxInt) {
    throw Error(Errc::invalid_argument,
                "the texts of a block have more than 2147483647 UTF-16 units");
  }
  ends_.push_back(static_cast<std::uint32_t>(units_));
}

void TextEncoder::add_missing() {
  constexpr std::uint32_t kMissingBit = 0x80000000;
  ends_.push_back(static_cast<std::uint32_t>(units_) | kMissingBit);
}

void TextEncoder::finish(std::vector<std::byte>& out) {
  append_le(out, static_cast<std::int32_t>(ends_.size()));
  append_bytes(out, std::as_bytes(std::span(ends_)));
  put_string(out, text_);
  ends_.clear();
  units_ = 0;
  text_.clear();
}

void put_text_vector(std::vector<std::byte>& out, std::uint64_t n, TextEncoder& texts) {
  VectorHead head(n);
  head.start(n, 0);  // all of them
  head.finish(out);
  texts.finish(out);
}

Deflater::Deflater() : compressor_(libdeflate_alloc_compressor(kLevel)) {
  if (compressor_ == nullptr) throw std::bad_alloc();
}

void Deflater::Free::operator()(libdeflate_compressor* c) const noexcept {
  libdeflate_free_compressor(c);
}

void Deflater::deflate(std::span<const std::byte> in, std::vector<std::byte>& out) {
  out.resize(libdeflate_deflate_compress_bound(compressor_.get(), in.size()));
  out.resize(
      libdeflate_deflate_compress(compressor_.get(), in.data(), in.size(), out.data(), out.size()));
}

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
    append_le(table, static_cast<std::uint8_t>(column.toc.compression));
    append_le(table, out.appended());
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
