#include "lib/io/memory/memory_source.h"

#include <cstring>
#include <utility>

namespace dapple::detail {

namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name, std::shared_ptr<const void> keep)
      : ByteSource(std::move(name), {bytes.size()}), bytes_(bytes), keep_(std::move(keep)) {
    static constexpr std::byte kNothing{};  // nobody asks for a byte of an empty source
    set_base(bytes.empty() ? &kNothing : bytes.data());
  }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  const std::byte* keep(std::uint64_t offset, std::uint64_t) const override {
    return bytes_.data() + offset;
  }
  HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override {
    return {bytes_.subspan(offset, n), nullptr};
  }

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keep_;
};

}  // namespace

std::shared_ptr<ByteSource> memory_source(std::span<const std::byte> bytes, std::string name,
                                          std::shared_ptr<const void> keep) {
  return std::make_shared<MemorySource>(bytes, std::move(name), std::move(keep));
}

}  // namespace dapple::detail
