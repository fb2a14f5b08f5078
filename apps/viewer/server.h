// A small HTTP server for one file or collection and one person: on the loopback address only, and
// only for who knows its token.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "resources.h"

namespace dapple::viewer {

/// An object that a server shows.
struct Shown {
  std::string name;  // a member of a collection; empty: the only object
  /// Opens it; called again when its page is loaded after the file was replaced. None for a member
  /// that is only listed.
  std::function<std::unique_ptr<Resources>()> open;
  std::string path;  // watched for being replaced; empty: nothing is
};

class Server {
 public:
  /// One object, or the members of a collection under its title and a table of contents. One object
  /// is opened at once; throws what that throws.
  Server(std::vector<Shown> shown, std::string title);
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
