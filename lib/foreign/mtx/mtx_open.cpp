#include "lib/foreign/mtx/mtx.h"
#include "lib/foreign/mtx/mtx_array.h"
#include "lib/foreign/mtx/mtx_coordinate.h"

namespace dapple::detail::mtx {

Match recognise_mtx(const Probe& probe) {
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  if (has_banner(head)) return Match::by_content;
  return probe.extension == ".mtx" ? Match::by_name : Match::no;
}

void parse_mtx(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
               texts::Import& import) {
  const Text text(*file);
  const Header header = read_header(text);
  if (header.coordinate) {
    parse_coordinate(text, header, options.threads, import);
  } else {
    parse_array(text, header, import);
  }
}

}  // namespace dapple::detail::mtx
