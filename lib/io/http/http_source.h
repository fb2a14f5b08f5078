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
             std::shared_ptr<Connections> connections);
  ~HttpSource() override;

  bool has_folder() const noexcept override { return true; }
  std::shared_ptr<ByteSource> beside(const std::string& name, std::uint64_t front) const override;

  /// Looks for bytes in a cache of `folder` first, which without a path is none. Notes when that
  /// cannot be used. Set before this is shared.
  void use_cache(const CacheFolder& folder);
  /// What tells this version of the object from others.
  std::string version_line() const;
  /// Takes over bytes that came with the answer that told the size.
  void take(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Fetches the last bytes, where indexes are. Throws io.
  void know_end() const;

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
  const std::shared_ptr<Connections> connections_;
  std::unique_ptr<const PieceCache> cache_;
  CacheFolder folder_;
};

}  // namespace dapple::detail::http
