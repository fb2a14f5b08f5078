// A file that is read in ranges only, as one on a server is: with counts, delays and faults.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/ranged_source.h"

namespace dapple::test {

class RangedFile final : public detail::RangedSource {
 public:
  explicit RangedFile(std::shared_ptr<detail::ByteSource> file);
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

  std::shared_ptr<detail::ByteSource> sibling(std::string_view ending) const override {
    return ranged(file_->sibling(ending));
  }
  bool has_folder() const noexcept override { return file_->has_folder(); }
  std::shared_ptr<detail::ByteSource> beside(const std::string& name,
                                             std::uint64_t front) const override {
    return ranged(file_->beside(name, front));
  }
  void keep_folder() const override { file_->keep_folder(); }
  std::vector<std::string> folders_beside(const std::string& folder) const override {
    return file_->folders_beside(folder);
  }

 private:
  std::shared_ptr<detail::ByteSource> ranged(std::shared_ptr<detail::ByteSource> file) const;
  void fetch(std::span<const Part> parts) const override;

  std::shared_ptr<detail::ByteSource> file_;
  std::chrono::microseconds delay_{0};
  Fault fault_;
  mutable std::atomic<std::uint64_t> fetches_{0}, requests_{0}, bytes_{0};
};

}  // namespace dapple::test
