#include "lib/foreign/csv/csv_utf8.h"

#include <algorithm>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

namespace {

bool is_bad(const std::optional<Meaning>& meaning) {
  return meaning && meaning->words != nullptr && find_not_utf8(*meaning->words);
}

}  // namespace

std::string_view other_encoding(std::string_view text) noexcept {
  using namespace std::string_view_literals;
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv)) return "UTF-16";
  return {};
}

void require_text(std::string_view text, const char* base, const std::string& file) {
  constexpr std::size_t kHead = 4096;
  const std::string encoding(other_encoding(text));
  if (encoding.empty()) {
    // A word may have one.
    const std::size_t zero = text.substr(0, std::min(kHead, text.find_first_of("\r\n"))).find('\0');
    if (zero == text.npos) return;
    throw Error(Errc::not_recognised, file, static_cast<std::uint64_t>(text.data() - base) + zero,
                "the file is no text: its first line has a zero byte");
  }
  throw Error(Errc::unsupported, file, 0,
              "the text is " + encoding + "; convert it to UTF-8 first: 'iconv -f " + encoding +
                  " -t UTF-8' does that");
}

void require_utf8(const ScanInput& input, const Rows& rows, const char* p) {
  if (std::none_of(rows.meanings.begin(), rows.meanings.end(), is_bad)) return;
  for (const char* const end = input.base + rows.end; p < end;) {
    if (input.dialect.is_comment(p, end)) {
      p = Dialect::past_comment(p, end);
      continue;
    }
    for (std::size_t col = 0; col < rows.meanings.size(); ++col) {
      const auto field = find_field(p, end, input.dialect.delimiter);
      if (!field) return;
      if (rows.meanings[col] && !is_utf8(field->text)) {
        const auto offset = static_cast<std::uint64_t>(p - input.base);
        fail_at(Errc::unsupported,
                {input.file, offset, input.line_at(offset), col, input.columns[col].label},
                shown(field->text) + " is not UTF-8; convert the text to UTF-8 first", "utf-8");
      }
      p = field->end;
      if (p != end && *p == input.dialect.delimiter) ++p;
    }
    p = past_line_end(p, end);
  }
}

}  // namespace dapple::detail::csv
