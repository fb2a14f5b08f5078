#include "http.h"

#include <dlfcn.h>
#include <sys/random.h>

#include "dapple/error.h"

namespace dapple::viewer {

// Found by the RUNPATH of the program.
std::unique_ptr<Http> make_http(Http::Handle handle) {
  using Make = Http*(Http::Handle &&);
  void* const module = dlopen("libdapple_http.so", RTLD_NOW | RTLD_LOCAL);
  void* const make = module != nullptr ? dlsym(module, "dapple_make_http") : nullptr;
  if (make == nullptr) {
    const char* const why = dlerror();
    throw Error(Errc::io, std::string("cannot load the part that serves pages: ") +
                              (why != nullptr ? why : "it is of another version"));
  }
  return std::unique_ptr<Http>(reinterpret_cast<Make*>(make)(std::move(handle)));
}

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    throw Error(Errc::io, "the system gave no random numbers for the page's address");
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

Error cannot_listen(std::uint16_t port) {
  return {Errc::io, port == 0 ? "cannot listen on the loopback address"
                              : "cannot listen on port " + std::to_string(port) +
                                    ": another program may be using it"};
}

}  // namespace dapple::viewer
