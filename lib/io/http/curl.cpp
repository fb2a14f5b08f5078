#include "lib/io/http/curl.h"

#include <dlfcn.h>

#include <optional>

#include "dapple/error.h"

namespace dapple::detail::http {

namespace {

/// The library, or why there is none.
struct LoadedCurl {
  CurlApi api;
  std::string failure;
};

LoadedCurl load_curl() {
  LoadedCurl loaded;
  CurlApi& api = loaded.api;
  void* library = nullptr;
  for (const char* const name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (library == nullptr) library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  }
  if (library == nullptr) {
    loaded.failure = "an address, and libcurl.so.4 cannot be loaded; install libcurl4";
    return loaded;
  }
  bool complete = true;
#define DAPPLE_CURL_FIND(name)                                            \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  complete = complete && api.name != nullptr;
  DAPPLE_CURL_FUNCTIONS(DAPPLE_CURL_FIND)
#undef DAPPLE_CURL_FIND
  // The number is that of 7.85, which was the first to take protocols by name.
  if (!complete || api.curl_version_info(CURLVERSION_NOW)->version_num < 0x075500) {
    loaded.failure = "an address, and the libcurl.so.4 of this system is older than 7.85";
  } else if (api.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    loaded.failure = "an address, and libcurl cannot be initialised";
  }
  return loaded;
}

}  // namespace

const CurlApi& curl_for(const std::string& file) {
  // libcurl has state of the process, which is to be initialised once, and before other threads use
  // it. It is never given back, because others in the process may use it.
  static const LoadedCurl loaded = load_curl();
  if (!loaded.failure.empty()) throw Error(Errc::unsupported, file, std::nullopt, loaded.failure);
  return loaded.api;
}

}  // namespace dapple::detail::http
