#include "lib/catalog/other_formats.h"

#include <algorithm>
#include <cstring>

#include "lib/base/letters.h"

namespace dapple::detail {

std::string_view told_apart(const Probe& probe) {
  struct Kind {
    std::string_view magic, what;
  };
  using namespace std::string_view_literals;
  constexpr Kind kKinds[] = {
      {"\xfd\x37zXZ\0"sv, "compressed with xz; decompress it first"},
      {"BZh91AY&SY", "compressed with bzip2; decompress it first"},
      {"PK\x03\x04",
       "a ZIP archive, but not one of NumPy arrays; unpack it first, or save a spreadsheet as CSV"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office; save it as CSV first"},
      {"ARROW1\0\0"sv,
       "an Arrow file (Feather), which pydapple converts, as does 'dapple convert' where that is "
       "installed"},
      {"SQLite format 3\0"sv, "an SQLite database; export a table of it as CSV first"},
      {"%PDF-", "a PDF document"},
      {"\x89PNG\r\n\x1a\n", "a PNG picture"},
      {"\xff\xd8\xff", "a JPEG picture"},
      {"GIF8", "a GIF picture"},
      {"version https://git-lfs.github.com/spec/",
       "a pointer that Git LFS left in place of the file; 'git lfs pull' gets the file itself"},
      {"/annex/objects/",
       "a pointer that git-annex left in place of the file; 'git annex get' gets the file itself"}};
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  for (const Kind& kind : kKinds) {
    if (head.starts_with(kind.magic)) return kind.what;
  }
  // A label may be PAR1: Parquet files end with it, too.
  constexpr std::string_view kParquet = "PAR1";
  const std::uint64_t size = probe.file.size();
  if (head.starts_with(kParquet) && size > 2 * kParquet.size() &&
      std::memcmp(probe.file.at(size - kParquet.size(), kParquet.size()), kParquet.data(),
                  kParquet.size()) == 0) {
    return "a Parquet file, which pydapple converts, as does 'dapple convert' where that is "
           "installed";
  }
  constexpr std::string_view kPages[] = {"<!doctype html", "<html"};
  const std::string_view text =
      head.substr(std::min(head.find_first_not_of(" \t\r\n\xef\xbb\xbf"), head.size()));
  if (text.starts_with("<?xml")) return "an XML document";
  const bool json = text.starts_with("{\"") || text.starts_with("[{\"");
  if (json && !probe.extension.empty()) return "JSON, perhaps an object a line; make it CSV first";
  for (const std::string_view page : kPages) {
    if (starts_with_word(text, page)) {
      return "a web page, perhaps one that says why the file could not be had";
    }
  }
  return {};
}

}  // namespace dapple::detail
