#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lib/foreign/csv/csv.h"
#include "lib/foreign/csv/csv_dialect.h"
#include "lib/foreign/csv/csv_utf8.h"

namespace dapple::detail::csv {

namespace {

/// True when the first line of a file has one of these delimiters, and nothing that text has not.
/// Also for text that is no UTF-8 as its byte order mark says: opening tells so.
bool starts_with_line(std::span<const std::byte> head, std::string_view delimiters) noexcept {
  if (!other_encoding({reinterpret_cast<const char*>(head.data()), head.size()}).empty())
    return true;
  bool found = false;
  for (const std::byte b : head) {
    const char c = static_cast<char>(b);
    if (c == '\n' || c == '\r') break;
    found = found || delimiters.find(c) != std::string_view::npos;
    if (b < std::byte{' '} && c != '\t') return false;
  }
  return found;
}

std::uint64_t fields_of_first(std::string_view text, char delimiter) noexcept {
  return look_at_rows(text.data(), text.data() + text.size(), {.delimiter = delimiter}).fields;
}

/// True when the first two lines have as many fields, more than one.
bool starts_with_rows(std::span<const std::byte> head) noexcept {
  if (!starts_with_line(head, ",;\t")) return false;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::string_view rest =
      text.substr(std::min(text.find_first_of("\r\n"), text.size() - 1) + 1);
  const char delimiter = guess_delimiter(text, {});
  const std::uint64_t fields = fields_of_first(text, delimiter);
  return fields > 1 && fields == fields_of_first(rest, delimiter);
}

/// What comes out of a pipe, and a file that is open already, have no name that could tell.
bool has_name(const ByteSource& file) {
  return file.has_path() && !file.name().starts_with("/dev/") && !file.name().starts_with("/proc/");
}

}  // namespace

Match recognise_csv(const Probe& probe) {
  const bool by_name =
      probe.extension == ".csv" || probe.extension == ".tsv" ||
      (probe.extension == ".txt" && starts_with_line(probe.head, "\t")) ||
      (probe.extension.empty() && !has_name(probe.file) && starts_with_rows(probe.head));
  return by_name ? Match::by_name : Match::no;
}

bool may_be_csv(std::span<const std::byte> head) noexcept {
  return starts_with_line(head, ",;\t|");
}

}  // namespace dapple::detail::csv
