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

  /// Keeps the bytes that came first, and fetches the last ones, where indexes are. Throws io.
  void know_ends(std::span<const std::byte> first) const;

 private:
  void fetch(std::span<const Part> parts) const override;

  const CurlApi& curl_;
  const std::string address_;
  const Version version_;
  const std::unique_ptr<Connections> connections_;
};

}  // namespace dapple::detail::http
