#include "lib/foreign/idv/idv_text.h"

#include "lib/base/utf8.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

constexpr std::uint32_t kMissingText = 0x80000000;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

TextRun::TextRun(BlockReader& in, std::uint64_t n) {
  const std::uint64_t start = in.offset();
  const auto count = in.le<std::int32_t>("the number of texts");
  if (count < 0 || static_cast<std::uint64_t>(count) != n) {
    in.fail(start, std::to_string(count) + " texts in a block of " + counted(n, "row"));
  }
  const std::uint64_t ends_at = in.offset();
  const auto ends = in.take(n * 4, "text positions");
  ends_.reserve(n);
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto stored = load_le<std::uint32_t>(ends.data() + i * 4);
    End end;
    end.missing = (stored & kMissingText) != 0;
    end.units = stored & ~kMissingText;
    if (end.units < last || (end.missing && end.units != last)) {
      in.fail(ends_at + i * 4, std::string(end.missing ? "a missing text" : "a text") +
                                   " ends at UTF-16 unit " + std::to_string(end.units) +
                                   ", but starts at " + std::to_string(last));
    }
    last = end.units;
    ends_.push_back(end);
  }

  const std::uint64_t length = read_leb128(in, "the length of the texts");
  const std::uint64_t text_at = in.offset();
  const auto bytes = in.take(length, "texts");
  if (in.remaining() > 0) {
    in.fail(in.offset(), surplus(in.remaining(), "the texts"));
  }
  text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  place_ends(in, text_at);
}

void TextRun::place_ends(const BlockReader& in, std::uint64_t text_at) {
  std::size_t next = 0;  // the first end without a place
  std::uint32_t units = 0;
  for (std::uint32_t byte = 0; byte < text_.size();) {
    const auto character = next_utf8(text_.substr(byte));
    if (!character) in.fail(text_at + byte, "the text is not UTF-8");
    const std::uint32_t width = character->value > 0xffff ? 2 : 1;  // a surrogate pair
    for (; next < ends_.size() && ends_[next].units < units + width; ++next) {
      ends_[next].byte = byte;
      ends_[next].split = ends_[next].units > units;
    }
    units += width;
    byte += static_cast<std::uint32_t>(character->size);
  }
  for (; next < ends_.size() && ends_[next].units == units; ++next) {
    ends_[next].byte = static_cast<std::uint32_t>(text_.size());
  }
  const std::uint32_t last = ends_.empty() ? 0 : ends_.back().units;
  if (last != units) {
    in.fail(text_at, "the texts have " + std::to_string(units) +
                         " UTF-16 units, but the last position says " + std::to_string(last));
  }
}

void TextRun::append(std::uint64_t i, std::string& out) const {
  const End begin = i == 0 ? End{} : ends_[i - 1];
  const End& end = ends_[i];
  if (begin.units == end.units) return;
  const std::size_t from = begin.byte + (begin.split ? 4 : 0);
  if (begin.split) out += kReplacement;
  out += text_.substr(from, end.byte - from);
  if (end.split) out += kReplacement;
}

}  // namespace dapple::detail::idv
