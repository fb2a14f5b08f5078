// libcurl, loaded when the first address is opened: linked, it would bring some thirty libraries
// into every process that uses dapple. The only user of its headers.
#pragma once

#include <curl/curl.h>
// Macros that look like calls of functions, which nothing is linked with.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#include <string>

namespace dapple::detail::http {

#define DAPPLE_CURL_FUNCTIONS(F) \
  F(curl_global_init)            \
  F(curl_version_info)           \
  F(curl_slist_append)           \
  F(curl_slist_free_all)         \
  F(curl_easy_init)              \
  F(curl_easy_setopt)            \
  F(curl_easy_getinfo)           \
  F(curl_easy_strerror)          \
  F(curl_easy_cleanup)           \
  F(curl_multi_init)             \
  F(curl_multi_setopt)           \
  F(curl_multi_add_handle)       \
  F(curl_multi_remove_handle)    \
  F(curl_multi_perform)          \
  F(curl_multi_poll)             \
  F(curl_multi_info_read)        \
  F(curl_multi_strerror)         \
  F(curl_multi_cleanup)

struct CurlApi {
#define DAPPLE_CURL_DECLARE(name) decltype(&::name) name = nullptr;
  DAPPLE_CURL_FUNCTIONS(DAPPLE_CURL_DECLARE)
#undef DAPPLE_CURL_DECLARE
};

/// The library. Throws unsupported, in the name of `file`, when there is none. Any thread.
const CurlApi& curl_for(const std::string& file);

}  // namespace dapple::detail::http
