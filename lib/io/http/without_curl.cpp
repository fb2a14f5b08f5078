#include <optional>

#include "lib/io/http/http.h"

namespace dapple::detail::http {

std::shared_ptr<ByteSource> find_address(const std::string& address, const CacheFolder&,
                                         std::uint64_t) {
  throw Error(Errc::unsupported, shown(address), std::nullopt,
              "an address, and dapple was built without libcurl; install its headers "
              "(libcurl4-openssl-dev) and build with -Dcurl=enabled");
}

}  // namespace dapple::detail::http
