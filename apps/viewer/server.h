// A small HTTP server for one file and one person: on the loopback address only, and only for who
// knows its token.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "resources.h"

namespace dapple::viewer {

class Server {
 public:
  /// Opens the file anew; called again when a page is loaded after the file was replaced.
  using Open = std::function<std::unique_ptr<Resources>()>;
  /// `path` is watched for being replaced; empty: nothing is. Throws what `open` throws.
  Server(Open open, std::string path);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Takes the port, any free one for 0, and gives the page's address. Throws io.
  std::string listen(std::uint16_t port);
  /// Serves for as long as the system lets it, which is until the process ends.
  void run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dapple::viewer
