#include "lib/io/reader/reader_source.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lib/io/ranged_source.h"

namespace dapple::detail {

namespace {

constexpr std::uint64_t kEnd = 64 << 10;  // what is read of each end at once

std::uint64_t size_of_reader(const RangeReader* reader, const std::string& name) {
  if (reader == nullptr) throw Error(Errc::invalid_argument, "there is no reader to open");
  const std::uint64_t size = reader->size();
  if (size > kMostRangedBytes) {
    throw Error(Errc::io, name, std::nullopt,
                "its reader says that it has " + std::to_string(size) +
                    " bytes, more than an address space has room for");
  }
  return size;
}

class ReaderSource final : public RangedSource {
 public:
  ReaderSource(std::shared_ptr<const RangeReader> reader, std::uint64_t size, std::string name)
      : RangedSource(std::move(name), {size}, {.unit = kEnd, .gap = 256 << 10}),
        reader_(std::move(reader)) {}

  void know_ends() const {
    if (size() == 0) return;
    std::vector<std::byte> first(static_cast<std::size_t>(std::min(size(), kEnd)));
    std::vector<std::byte> last(
        static_cast<std::size_t>(std::min(size() - first.size(), std::uint64_t{kEnd})));
    std::vector<Part> parts = {{0, first}};
    if (!last.empty()) parts.push_back({size() - last.size(), last});
    fetch(parts);
    for (const Part& part : parts) know(part.offset, part.to);
  }

 private:
  void fetch(std::span<const Part> parts) const override {
    std::uint64_t wanted = 0;
    for (const Part& part : parts) wanted += part.to.size();
    const std::uint64_t got = reader_->read(parts);
    if (got == wanted) return;
    throw Error(Errc::io, name(), parts.front().offset,
                "its reader gave " + std::to_string(got) + " bytes, and was asked for " +
                    std::to_string(wanted));
  }

  const std::shared_ptr<const RangeReader> reader_;
};

}  // namespace

std::shared_ptr<ByteSource> reader_source(std::shared_ptr<const RangeReader> reader,
                                          std::string name) {
  const std::uint64_t size = size_of_reader(reader.get(), name);
  auto source = std::make_shared<ReaderSource>(std::move(reader), size, std::move(name));
  source->know_ends();
  return source;
}

}  // namespace dapple::detail
