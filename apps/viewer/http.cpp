#include "http.h"

#include <dlfcn.h>

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

}  // namespace dapple::viewer
