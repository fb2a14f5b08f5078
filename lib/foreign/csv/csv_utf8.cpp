#include "lib/foreign/csv/csv_utf8.h"

#include <algorithm>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

namespace {

bool is_bad(const std::shared_ptr<const FieldReader>& reader) {
  return reader != nullptr && reader->words() != nullptr && find_not_utf8(*reader->words());
}

}  // namespace

void require_utf8(const ScanInput& input, const Rows& rows, const char* p, std::uint64_t line) {
  if (std::none_of(rows.fields.begin(), rows.fields.end(), is_bad)) return;
  for (const char* const end = input.base + rows.end; p < end; ++line) {
    for (std::size_t col = 0; col < rows.fields.size(); ++col) {
      const auto field = find_field(p, end, input.delimiter);
      if (!field) return;
      if (rows.fields[col] != nullptr && !is_utf8(field->text)) {
        const auto offset = static_cast<std::uint64_t>(p - input.base);
        fail_at(Errc::unsupported, {input.file, offset, line, col, input.columns[col].label},
                shown(field->text) + " is not UTF-8; convert the text to UTF-8 first",
                Remedy::not_utf8);
      }
      p = field->end;
      if (p != end && *p == input.delimiter) ++p;
    }
    p = past_line_end(p, end);
  }
}

}  // namespace dapple::detail::csv
