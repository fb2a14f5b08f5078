#include <utility>

#include "lib/foreign/mtx/mtx.h"
#include "lib/foreign/mtx/mtx_array.h"
#include "lib/foreign/mtx/mtx_coordinate.h"

namespace dapple::detail::mtx {

Match recognise_mtx(const Probe& probe) {
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  if (has_banner(head)) return Match::by_content;
  return probe.extension == ".mtx" ? Match::by_name : Match::no;
}

std::shared_ptr<const Store> open_mtx(std::shared_ptr<ByteSource> file,
                                      const OpenOptions& options) {
  const Header header = read_header(Text(*file));
  return header.coordinate ? open_coordinate(std::move(file), header, options.threads)
                           : open_array(std::move(file), header);
}

}  // namespace dapple::detail::mtx
