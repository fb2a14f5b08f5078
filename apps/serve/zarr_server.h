// A ZarrTree over HTTP: for who knows the token in its address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http.h"
#include "zarr_tree.h"

namespace dapple::serve {

/// Bytes [begin, end) of a value.
struct ByteRange {
  std::uint64_t begin, end;
};

/// What a Range header asks for of a value of `size` bytes: nothing where it should be ignored, as
/// one of several ranges; an empty one where it begins after the end.
std::optional<ByteRange> parse_range(std::string_view header, std::uint64_t size) noexcept;

class ZarrServer {
 public:
  ZarrServer(ZarrTree tree, bool any_address);

  /// Takes the port, any free one for 0, and gives the hierarchy's address. Throws io.
  std::string listen(std::uint16_t port);
  /// Serves for as long as the system lets it.
  void run() { http_->run(); }

 private:
  viewer::HttpAnswer answer(const viewer::HttpRequest& request) const;
  viewer::HttpAnswer answer_to(const viewer::HttpRequest& request) const;

  const ZarrTree tree_;
  const bool any_address_;
  const std::string token_;
  const std::unique_ptr<viewer::Http> http_;
};

}  // namespace dapple::serve
