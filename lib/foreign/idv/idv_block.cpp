#include "lib/foreign/idv/idv_block.h"

#include <cstring>
#include <utility>

#include "lib/cache/block_cache.h"
#include "lib/foreign/idv/idv_deflate.h"

namespace dapple::detail::idv {

void BlockBytes::fail(std::uint64_t at, std::string detail) const {
  if (owner == nullptr) throw Error(Errc::corrupt, *file, offset + at, std::move(detail));
  throw Error(Errc::corrupt, *file, offset,
              detail + " (at byte " + std::to_string(at) + " of the inflated block)");
}

std::span<const std::byte> BlockReader::take(std::uint64_t n, std::string_view what) {
  if (n > remaining()) {
    fail(at_, too_short(n, what, remaining()));
  }
  const auto part = block_->bytes.subspan(at_, n);
  at_ += n;
  return part;
}

std::span<const std::byte> BlockReader::rest() noexcept {
  const auto part = block_->bytes.subspan(at_);
  at_ = block_->bytes.size();
  return part;
}

namespace {

void inflate_block(const ByteSource& file, Compression compression, const BlockPlace& place,
                   std::byte* out) {
  const std::string wrong = inflate(wrapper_of(compression), file.bytes(place.offset, place.bytes),
                                    std::span(out, place.inflated));
  if (!wrong.empty()) throw Error(Errc::corrupt, file.name(), place.offset, wrong);
}

}  // namespace

struct InflatedBlocks::Kept {
  BlockPlace place;
  Compression compression;
  std::unique_ptr<std::byte[]> bytes;

  Kept(const ByteSource& file, Compression how, const BlockPlace& where)
      : place(where),
        compression(how),
        bytes(std::make_unique_for_overwrite<std::byte[]>(where.inflated)) {
    inflate_block(file, compression, place, bytes.get());
  }
  /// Two lookup tables may disagree about one place; each gets what it asked for.
  bool is_of(Compression how, const BlockPlace& where) const noexcept {
    return compression == how && place == where;
  }
};

InflatedBlocks::~InflatedBlocks() {
  if (keeps_.load(std::memory_order_relaxed)) block_cache().forget(number_);
}

std::shared_ptr<const InflatedBlocks::Kept> InflatedBlocks::find(Compression compression,
                                                                 const BlockPlace& place) const {
  auto kept =
      std::static_pointer_cast<const Kept>(block_cache().find({number_, place.offset}).value);
  return kept != nullptr && kept->is_of(compression, place) ? kept : nullptr;
}

void InflatedBlocks::copy(const ByteSource& file, Compression compression, const BlockPlace& place,
                          std::byte* out) {
  if (compression == Compression::none) {
    std::memcpy(out, file.at(place.offset, place.inflated), place.inflated);
  } else if (const auto kept = find(compression, place)) {
    std::memcpy(out, kept->bytes.get(), place.inflated);
  } else {
    inflate_block(file, compression, place, out);
  }
}

BlockBytes InflatedBlocks::read(const ByteSource& file, Compression compression,
                                const BlockPlace& place, Again again) {
  BlockBytes block;
  block.offset = place.offset;
  block.file = &file.name();
  if (compression == Compression::none) {
    block.bytes = file.bytes(place.offset, place.inflated);
    return block;
  }
  std::shared_ptr<const Kept> inflated = find(compression, place);
  if (inflated == nullptr && again == Again::yes) {
    keeps_.store(true, std::memory_order_relaxed);
    const Cached cached = block_cache().get({number_, place.offset}, [&] {
      return Cached{std::make_shared<const Kept>(file, compression, place),
                    sizeof(Kept) + static_cast<std::size_t>(place.inflated)};
    });
    inflated = std::static_pointer_cast<const Kept>(cached.value);
  }
  if (inflated == nullptr || !inflated->is_of(compression, place)) {
    inflated = std::make_shared<const Kept>(file, compression, place);
  }
  block.bytes = {inflated->bytes.get(), static_cast<std::size_t>(place.inflated)};
  block.owner = std::move(inflated);
  return block;
}

}  // namespace dapple::detail::idv
