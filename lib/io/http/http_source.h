// An object that a server has at an address, fetched in ranges over connections that are kept.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lib/io/http/exchange.h"
#include "lib/io/ranged_source.h"

namespace dapple::detail::http {

/// Connections that are not in use. Each is used by one thread at a time.
class Connections {
 public:
  Connections();
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Runs the exchanges, `in_flight` at once, each up to three times. Throws what they throw. Any
  /// thread.
  void run(std::span<const std::unique_ptr<Exchange>> exchanges, std::size_t in_flight);

 private:
  class Loan;

  std::mutex mutex_;  // guards what follows
  std::vector<CURLM*> idle_;
  pid_t process_;
};

class HttpSource final : public RangedSource {
 public:
  HttpSource(const std::string& address, const Version& version,
             std::shared_ptr<Connections> connections);
  ~HttpSource() override;

  bool has_folder() const noexcept override { return true; }
  std::shared_ptr<ByteSource> fetch_sibling(std::string_view ending) const override;
  std::shared_ptr<ByteSource> beside(const std::string& name, std::uint64_t front) const override;

  /// Keeps bytes in a cache of `folder`, which without a path is none. Set before this is shared.
  void keep_in(const CacheFolder& folder);
  /// Takes over bytes that came with the answer that told the size.
  using RangedSource::know;
  /// Fetches the last bytes, where indexes are. Throws io.
  void know_end() const;

 private:
  void fetch(std::span<const Part> parts) const override;

  const std::string address_;
  const Version version_;
  const std::shared_ptr<Connections> connections_;
  CacheFolder folder_;
};

}  // namespace dapple::detail::http
