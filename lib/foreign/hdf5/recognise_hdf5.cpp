#include <cstddef>
#include <string_view>

#include "lib/foreign/hdf5/hdf5.h"

namespace dapple::detail::hdf5 {

Match recognise_hdf5(const Probe& probe) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  // A user's own bytes may precede it: 512 of them, or a power of two times as many.
  for (std::size_t at = 0; at < head.size(); at = at == 0 ? 512 : 2 * at) {
    if (head.substr(at).starts_with(signature)) return Match::by_content;
  }
  const std::string_view extension = probe.extension;
  const bool named = extension == ".h5" || extension == ".hdf5" || extension == ".h5ad";
  return named ? Match::by_name : Match::no;
}

}  // namespace dapple::detail::hdf5
