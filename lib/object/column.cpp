#include "dapple/column.h"

#include <bit>
#include <cstring>
#include <string>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/object/column_codes.h"
#include "lib/object/groups.h"

namespace dapple {

std::string_view name(MeaningKind kind) noexcept {
  constexpr std::string_view names[] = {"number",   "boolean",  "timestamp",
                                        "duration", "category", "text"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(TimeUnit unit) noexcept {
  constexpr std::string_view names[] = {"D", "s", "ms", "us", "ns"};
  return names[static_cast<std::size_t>(unit)];
}

std::uint64_t usual_mark(ValueType type) noexcept {
  if (type == ValueType::f32) return kMissingF32;
  if (type == ValueType::f64) return kMissingF64;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(type));
  return is_signed(type) ? all / 2 + 1 : all;
}

std::string ColumnGroup::label(std::uint64_t slot) const {
  const std::string_view own = slot_name(slot);
  return own.empty() ? name + '.' + std::to_string(slot) : std::string(own);
}

bool operator==(const Column& a, const Column& b) {
  const Meaning &m = a.meaning, &n = b.meaning;
  if (!detail::same_slot(a, b)) return false;
  if (a.label != b.label || a.value_type != b.value_type) return false;
  if (m.kind != n.kind || m.missing != n.missing) return false;
  if (m.has_time() && (m.unit != n.unit || m.zone != n.zone)) return false;
  return !m.has_words() ||
         (m.ordered == n.ordered && detail::same_words(m.words.get(), n.words.get()));
}

namespace {

void append_word(const Column& column, std::uint64_t code, std::string& out) {
  const Dictionary& words = *column.meaning.words;
  if (code > words.size()) {
    throw Error(Errc::corrupt, std::string(words.file()), std::nullopt,
                detail::told_code(column, code));
  }
  out += words[code - 1];
}

}  // namespace

void append_number(ValueType type, std::uint64_t bits, std::string& out) {
  std::byte cell[8];
  detail::store_le(cell, bits);
  char text[detail::kNumberRoom];
  out.append(text, visit_type(type, [&](auto value) {
               std::memcpy(&value, cell, sizeof value);
               return detail::write_cell(text, value);
             }));
}

void append_text(const Column& column, std::uint64_t bits, std::string& out) {
  const Meaning& meaning = column.meaning;
  if (is_missing(meaning, bits)) return;
  char text[detail::kTimeRoom];
  char* end = text;
  switch (meaning.kind) {
    case MeaningKind::category:
    case MeaningKind::text:
      return append_word(column, bits, out);
    case MeaningKind::timestamp:
      end = detail::write_time(text, std::bit_cast<std::int64_t>(bits), meaning.unit,
                               !meaning.zone.empty());
      break;
    case MeaningKind::duration:
      end = detail::write_duration(text, std::bit_cast<std::int64_t>(bits), meaning.unit);
      break;
    case MeaningKind::boolean:
      if (bits > 1) throw Error(Errc::corrupt, detail::told_code(column, bits));
      out += bits == 1 ? "true" : "false";
      return;
    case MeaningKind::number:
      return append_number(column.value_type, bits, out);
  }
  out.append(text, end);
}

}  // namespace dapple
