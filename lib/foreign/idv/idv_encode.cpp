#include "lib/foreign/idv/idv_encode.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
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

VectorEncoder::VectorEncoder(Layout layout, ValueType type, std::uint64_t size) noexcept
    : layout_(layout),
      type_(type),
      head_(size),
      step_(pairs() ? sizeof(Pair) : size_of(type)),
      stored_bytes_(layout == Layout::zoned ? 10 : step_) {}

bool VectorEncoder::is_zero(const std::byte* item) const noexcept {
  if (!pairs()) return load_bits(type_, item) == 0;
  return (load_le<std::uint64_t>(item) | load_le<std::uint64_t>(item + 8)) == 0;
}

void VectorEncoder::add(const std::byte* items) {
  const std::byte* const end = items + head_.size() * step_;
  std::uint64_t stored = 0;
  for (const std::byte* p = items; p != end; p += step_) stored += is_zero(p) ? 0 : 1;
  if (!head_.start(stored, stored_bytes_)) return append_bytes(items_, {items, end});
  for (const std::byte* p = items; p != end; p += step_) {
    if (is_zero(p)) continue;
    head_.add_index(static_cast<std::uint64_t>(p - items) / step_);
    append_bytes(items_, {p, step_});
  }
}

void VectorEncoder::add(std::span<const StoredCell> cells) {
  const bool sparse = head_.start(cells.size(), stored_bytes_);
  const std::size_t at = items_.size();
  items_.resize(at + (sparse ? cells.size() : head_.size()) * step_);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (sparse) head_.add_index(cells[i].col);
    store_bits(type_, items_.data() + at + (sparse ? i : cells[i].col) * step_, cells[i].bits);
  }
}

void VectorEncoder::finish(std::vector<std::byte>& out) {
  head_.finish(out);
  if (layout_ == Layout::bits) {
    put_bits(out, items_);
  } else if (pairs()) {
    std::vector<Pair> all(items_.size() / sizeof(Pair));
    if (!all.empty()) std::memcpy(all.data(), items_.data(), items_.size());
    put_pairs(out, layout_, all);
  } else {
    append_bytes(out, items_);
  }
  items_.clear();
}

void put_pairs(std::vector<std::byte>& out, Layout layout, std::span<const Pair> items) {
  if (layout == Layout::zoned) {  // all minutes are in front of all ticks
    for (const Pair& item : items) append_le(out, static_cast<std::int16_t>(item.second));
    for (const Pair& item : items) append_le(out, item.first);
    return;
  }
  append_bytes(out, std::as_bytes(items));
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
