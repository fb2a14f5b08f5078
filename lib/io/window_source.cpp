#include "lib/io/window_source.h"

#include <new>
#include <utility>
#include <vector>

namespace dapple::detail {

namespace {

Identity identity_of_window(const ByteSource& whole, Range bytes) {
  Identity identity = whole.identity();
  identity.size = bytes.size();
  return identity;
}

class WindowSource final : public ByteSource {
 public:
  WindowSource(std::shared_ptr<ByteSource> whole, Range bytes, std::string name)
      : ByteSource(std::move(name), identity_of_window(*whole, bytes), whole->guarded()),
        whole_(std::move(whole)),
        begin_(bytes.begin) {
    set_outgrows_memory(whole_->outgrows_memory());
    set_version(whole_->version());
    find_base();
  }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    whole_->read_at(begin_ + offset, out);
  }
  void will_need(std::span<const Range> ranges) const noexcept override {
    try {
      std::vector<Range> moved(ranges.begin(), ranges.end());
      for (Range& range : moved) range = {begin_ + range.begin, begin_ + range.end};
      whole_->will_need(moved);
    } catch (const std::bad_alloc&) {  // it is a hint
    }
  }
  bool may_wait() const noexcept override { return whole_->may_wait(); }
  void expect_reads() const override {
    whole_->expect_reads();
    find_base();
  }
  void expect_single_looks(std::uint64_t offset, std::uint64_t n) const noexcept override {
    whole_->expect_single_looks(begin_ + offset, n);
  }
  void expect_random(bool is) const noexcept override { whole_->expect_random(is); }
  void read_nothing_ahead() const noexcept override { whole_->read_nothing_ahead(); }
  bool fetches() const noexcept override { return whole_->fetches(); }
  void prepare_thread() const noexcept override { whole_->prepare_thread(); }
  bool is_intact() const noexcept override { return whole_->is_intact(); }
  Error changed(const std::string& reading) const override { return whole_->changed(reading); }

 private:
  /// A map of the whole serves from here on without a call of the whole's.
  void find_base() const {
    if (whole_->is_mapped()) set_base(whole_->at(begin_, size()));
  }
  const std::byte* keep(std::uint64_t offset, std::uint64_t n) const override {
    const std::byte* const p = whole_->at(begin_ + offset, n);
    find_base();
    return p;
  }
  HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override {
    HeldBytes held = whole_->hold(begin_ + offset, n);
    find_base();
    return held;
  }

  std::shared_ptr<ByteSource> whole_;
  std::uint64_t begin_;
};

}  // namespace

std::shared_ptr<ByteSource> window_source(std::shared_ptr<ByteSource> whole, Range bytes,
                                          std::string name) {
  return std::make_shared<WindowSource>(std::move(whole), bytes, std::move(name));
}

}  // namespace dapple::detail
