// HTTP on the loopback address. It is in a module of its own that is loaded when a page is
// served: cpp-httplib brings OpenSSL with it, and loading both takes longer than all else that
// `dapple` loads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/error.h"

namespace dapple::viewer {

struct HttpRequest {
  std::string_view method, host, target, accept_encoding, range;
};

struct HttpAnswer {
  int status = 0;
  const char* type = "";
  std::vector<std::pair<const char*, std::string>> headers;
  std::string body;
};

class Http {
 public:
  /// Called by several threads at once; throws nothing.
  using Handle = std::function<HttpAnswer(const HttpRequest&)>;

  virtual ~Http() = default;
  /// Takes the port, any free one for 0, and returns it; -1 when it cannot be had. On the loopback
  /// address, or on all addresses of this machine.
  virtual int listen(int port, bool any_address) = 0;
  /// Serves for as long as the system lets it.
  virtual void run() = 0;
};

/// Loads the module. Throws io when that fails.
std::unique_ptr<Http> make_http(Http::Handle handle);

/// Part of an address that nobody guesses. Throws io.
std::string random_token();

/// The error for a port that `listen` could not take.
Error cannot_listen(std::uint16_t port);

}  // namespace dapple::viewer
