// An object that a server has at an address, fetched in ranges over connections that are kept.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lib/io/http/exchange.h"
#include "lib/io/http/piece_cache.h"
#include "lib/io/ranged_source.h"

namespace dapple::detail::http {

/// Connections that are not in use. Each is used by one thread at a time.
class Connections {
 public:
  explicit Connections(const CurlApi& curl);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Runs the exchanges, many at once, each up to three times. Throws what they throw.
  void run(std::span<const std::unique_ptr<Exchange>> exchanges);

 private:
  class Loan;

  const CurlApi& curl_;
  std::mutex mutex_;  // guards what follows
  std::vector<CURLM*> idle_;
  pid_t process_;
};

class HttpSource final : public RangedSource {
 public:
  HttpSource(const CurlApi& curl, const std::string& address, const Version& version,
             std::unique_ptr<Connections> connections);
  ~HttpSource() override;

  /// Looks for bytes in a cache first. Set before this is shared.
  void set_cache(std::unique_ptr<const PieceCache> cache, CacheFolder folder) noexcept;
  /// Fetches the first and the last bytes, where headers and indexes are, but for those that came
  /// already. Throws io.
  void know_ends(std::span<const std::byte> first) const;

 private:
  /// Pieces in a row that are not in the cache, as far as a part needs them.
  struct Gap;
  void fetch(std::span<const Part> parts) const override;
  void fetch_through_cache(std::span<const Part> parts) const;
  bool take_piece(std::uint64_t piece, const Part& part) const;
  void fetch_from_server(std::span<const Part> parts) const;

  const CurlApi& curl_;
  const std::string address_;
  const Version version_;
  const std::unique_ptr<Connections> connections_;
  std::unique_ptr<const PieceCache> cache_;
  CacheFolder folder_;
};

}  // namespace dapple::detail::http
