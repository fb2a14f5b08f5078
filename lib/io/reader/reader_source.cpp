#include "lib/io/reader/reader_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "dapple/array.h"
#include "lib/io/ranged_source.h"

namespace dapple::detail {

namespace {

constexpr std::uint64_t kEnd = 64 << 10;       // what is read of each end at once
constexpr std::uint64_t kLeftOut = 256 << 10;  // a larger gap is left out
constexpr std::uint64_t kAtOnce = 64 << 20;    // the most that is read on the way to other places

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
  ReaderSource(std::shared_ptr<const RangeReader> reader, std::uint64_t size, std::string name,
               std::shared_ptr<const ObjectStore> store, CacheFolder folder)
      : RangedSource(std::move(name), {size}, {.unit = kEnd, .gap = kLeftOut}),
        reader_(std::move(reader)),
        store_(std::move(store)),
        folder_(std::move(folder)) {
    if (const std::string object = reader_->lasting_name(); !object.empty()) {
      use_cache(folder_, object);
    }
  }

  bool has_folder() const noexcept override { return store_ != nullptr; }
  std::shared_ptr<ByteSource> fetch_sibling(std::string_view ending) const override {
    return store_ != nullptr ? find_in_store(store_, std::string(name()).append(ending), folder_)
                             : nullptr;
  }
  std::shared_ptr<ByteSource> beside(const std::string& file, std::uint64_t) const override {
    auto found =
        store_ != nullptr ? find_in_store(store_, folder_prefix(name()) + file, folder_) : nullptr;
    if (found != nullptr) found->set_check(check());
    return found;
  }
  std::vector<std::string> folders_beside(const std::string& folder) const override {
    if (store_ == nullptr) return ByteSource::folders_beside(folder);
    return folders_in_store(*store_, folder_prefix(name()) + folder + (folder.empty() ? "" : "/"));
  }

  void know_ends() const {
    if (size() == 0) return;
    // What is between ends that are near each other would come with them.
    const bool near = size() <= 2 * kEnd + kLeftOut;
    std::vector<std::byte> first(static_cast<std::size_t>(near ? size() : kEnd));
    std::vector<std::byte> last(
        static_cast<std::size_t>(std::min(size() - first.size(), std::uint64_t{kEnd})));
    std::vector<Part> parts = {{0, first}};
    if (!last.empty()) parts.push_back({size() - last.size(), last});
    get(parts);
    for (const Part& part : parts) know(part.offset, part.to);
  }

 private:
  void fetch(std::span<const Part> parts) const override {
    const std::vector<Near> all = joined(parts, kAtOnce);
    for (std::size_t i = 0; i < all.size();) {
      std::vector<Part> requests;
      std::vector<Array<std::byte>> several;  // of requests for more than one part
      const std::size_t first = i;
      std::uint64_t wanted = 0;
      for (; i < all.size() && (i == first || wanted + all[i].bytes.size() <= kAtOnce); ++i) {
        const auto& [bytes, of] = all[i];
        wanted += bytes.size();
        if (of.size() > 1) several.emplace_back(static_cast<std::size_t>(bytes.size()));
        requests.push_back(of.size() == 1 ? of.front() : Part{bytes.begin, several.back()});
      }
      require(reader_->read(requests), wanted, requests.front().offset);
      for (std::size_t k = 0; k < requests.size(); ++k) {
        const auto& [bytes, of] = all[first + k];
        if (of.size() == 1) continue;
        for (const auto& [offset, to] : of) {
          std::memcpy(to.data(), requests[k].to.data() + (offset - bytes.begin), to.size());
        }
      }
    }
  }

  void require(std::uint64_t got, std::uint64_t wanted, std::uint64_t offset) const {
    if (got == wanted) return;
    throw Error(Errc::io, name(), offset,
                "its reader gave " + std::to_string(got) + " bytes, and was asked for " +
                    std::to_string(wanted));
  }

  const std::shared_ptr<const RangeReader> reader_;
  const std::shared_ptr<const ObjectStore> store_;
  const CacheFolder folder_;
};

std::shared_ptr<ByteSource> source_of(std::shared_ptr<const RangeReader> reader, std::string name,
                                      std::shared_ptr<const ObjectStore> store,
                                      const CacheFolder& cache) {
  const std::uint64_t size = size_of_reader(reader.get(), name);
  auto source = std::make_shared<ReaderSource>(std::move(reader), size, std::move(name),
                                               std::move(store), cache);
  source->know_ends();
  return source;
}

}  // namespace

std::shared_ptr<ByteSource> reader_source(std::shared_ptr<const RangeReader> reader,
                                          std::string name, const CacheFolder& cache) {
  return source_of(std::move(reader), std::move(name), nullptr, cache);
}

std::shared_ptr<ByteSource> find_in_store(std::shared_ptr<const ObjectStore> store,
                                          const std::string& name, const CacheFolder& cache) {
  auto reader = store->find(name);
  return reader == nullptr ? nullptr : source_of(std::move(reader), name, std::move(store), cache);
}

std::vector<std::string> folders_in_store(const ObjectStore& store, const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : store.list(folder)) {
    if (name.ends_with('/')) names.push_back(name.substr(0, name.size() - 1));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace dapple::detail
