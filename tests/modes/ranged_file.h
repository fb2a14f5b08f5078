// A file that is read in ranges only, as one on a server is: with counts, delays and faults.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lib/io/ranged_source.h"

namespace dapple::test {

class RangedFile final : public detail::RangedSource {
 public:
  /// Throws io.
  explicit RangedFile(const std::string& path);
  ~RangedFile() override;

  /// How often bytes were fetched, in how many ranges, and how many bytes.
  std::uint64_t fetches_made() const noexcept { return fetches_; }
  std::uint64_t requests() const noexcept { return requests_; }
  std::uint64_t bytes_fetched() const noexcept { return bytes_; }
  /// Each fetch takes at least so long.
  void set_delay(std::chrono::microseconds delay) noexcept { delay_ = delay; }
  /// Called before each range is fetched, by any thread; may throw what the server would cause.
  using Fault = std::function<void(std::uint64_t offset, std::uint64_t n)>;
  void set_fault(Fault fault) { fault_ = std::move(fault); }

  std::shared_ptr<detail::ByteSource> sibling(std::string_view ending) const override;

 private:
  void fetch(std::span<const Part> parts) const override;

  std::shared_ptr<detail::ByteSource> file_;
  std::chrono::microseconds delay_{0};
  Fault fault_;
  mutable std::atomic<std::uint64_t> fetches_{0}, requests_{0}, bytes_{0};
};

}  // namespace dapple::test
