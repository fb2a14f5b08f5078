// Cells as text, according to the meaning of their column.
#include <bit>
#include <string>

#include "dapple/column.h"
#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"

namespace dapple {

namespace {

void append_word(const Column& column, std::uint64_t code, std::string& out) {
  const Dictionary& words = *column.meaning.words;
  if (code == kMissingCode || code > words.size()) {
    throw Error(Errc::corrupt, "column \"" + column.label + "\" holds code " +
                                   std::to_string(code) + ", but its dictionary has " +
                                   std::to_string(words.size()) + " words");
  }
  out += words[code - 1];
}

}  // namespace

void append_text(const Column& column, std::uint64_t bits, std::string& out) {
  const Meaning& meaning = column.meaning;
  if (is_missing(meaning, bits)) return;
  char text[std::max(detail::kTimeRoom, detail::kNumberRoom)];
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
      if (bits <= 1) {
        out += bits == 1 ? "true" : "false";
        return;
      }
      [[fallthrough]];  // neither true nor false: show the stored number
    case MeaningKind::number: {
      std::byte cell[8];
      detail::store_le(cell, bits);
      end = detail::write_number(text, column.value_type, cell);
      break;
    }
  }
  out.append(text, end);
}

}  // namespace dapple
