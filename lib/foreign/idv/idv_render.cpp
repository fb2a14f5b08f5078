#include "lib/foreign/idv/idv_render.h"

#include <optional>

#include "dapple/column.h"
#include "lib/foreign/idv/idv_items.h"
#include "lib/foreign/idv/idv_text.h"
#include "lib/foreign/idv/idv_vectors.h"

namespace dapple::detail::idv {
namespace {

/// A text inside a vector: in double quotes, which it holds doubled.
void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

/// The items of one block, fixed or text, as text.
class Items {
 public:
  Items(const BlockBytes& block, BlockReader& in, const ItemType& item, std::uint64_t n)
      : item_(&item) {
    if (item.layout == Layout::text) {
      texts_.emplace(in, n);
    } else {
      const std::uint64_t at = in.offset();
      numbers_.emplace(block, at, in.rest(), item, n);
    }
  }

  void append(std::uint64_t i, std::string& out) const {
    if (texts_) {
      texts_->append(i, out);
      return;
    }
    const auto parts = parts_of(*item_);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (part > 0) out += item_->layout == Layout::zoned ? '@' : ':';
      append_number(parts[part].value_type, numbers_->bits(part, i), out);
    }
  }

  void append_in_vector(std::uint64_t i, std::string& out) const {
    if (!texts_) {
      append(i, out);
      return;
    }
    std::string text;
    texts_->append(i, text);
    append_quoted(text, out);
  }

 private:
  const ItemType* item_;
  std::optional<ItemRun> numbers_;
  std::optional<TextRun> texts_;
};

/// "[1, 2]", or "5: {0: 1, 3: 2}" for a sparse vector of 5 slots.
void append_vector(const VectorRow& row, const Items& items, std::string& out) {
  if (!row.dense) out += std::to_string(row.length) + ": ";
  out += row.dense ? '[' : '{';
  for (std::uint64_t i = 0; i < row.items; ++i) {
    if (i > 0) out += ", ";
    if (!row.dense) out += std::to_string(row.slot(i)) + ": ";
    items.append_in_vector(row.first_item + i, out);
  }
  out += row.dense ? ']' : '}';
}

}  // namespace

void render_block(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n, Range rows,
                  const std::function<void(std::uint64_t row, std::string_view text)>& take) {
  std::string text;
  if (!codec.vector) {
    BlockReader in(block);
    const Items items(block, in, *codec.item, n);
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      text.clear();
      items.append(row, text);
      take(row, text);
    }
    return;
  }
  VectorRun vectors(block, codec, n);
  const Items items(block, vectors.items(), *codec.item, vectors.item_count());
  vectors.each(rows, [&](const VectorRow& row) {
    text.clear();
    append_vector(row, items, text);
    take(row.row, text);
  });
}

void render_vector(const BlockBytes& block, const ValueCodec& codec,
                   const std::function<void(std::uint64_t slot, std::string&& text)>& take) {
  VectorRun vectors(block, codec, 1);
  const Items items(block, vectors.items(), *codec.item, vectors.item_count());
  vectors.each({0, 1}, [&](const VectorRow& row) {
    for (std::uint64_t i = 0; i < row.items; ++i) {
      std::string text;
      items.append(row.first_item + i, text);
      take(row.slot(i), std::move(text));
    }
  });
}

}  // namespace dapple::detail::idv
