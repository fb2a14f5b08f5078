#include "lib/foreign/mtx/mtx_records.h"

#include <algorithm>

namespace dapple::detail::mtx {

StripRecords::StripRecords(const Packing& packing, std::uint64_t strips, std::uint64_t most)
    : packing_(packing), space_((most / kChunk + strips) * stride(packing)), strips_(strips) {
  if (space_.memory() == nullptr) buffers_.reset(strips * stride(packing));
}

void StripRecords::start_chunk(std::uint64_t strip) {
  Strip& to = strips_[strip];
  const std::uint64_t bytes = stride(packing_);
  const bool in_memory = space_.memory() != nullptr;
  if (!in_memory && !to.chunks.empty()) write_buffer(strip);
  to.next = in_memory ? space_.memory() + taken_ : buffers_.data() + strip * bytes;
  to.end = to.next + kChunk * packing_.size();
  to.chunks.push_back(taken_);
  taken_ += bytes;
}

void StripRecords::write_buffer(std::uint64_t strip) {
  const std::byte* const begin = buffers_.data() + strip * stride(packing_);
  space_.write_at(strips_[strip].chunks.back(),
                  {begin, static_cast<std::size_t>(strips_[strip].next - begin)});
}

void StripRecords::finish() {
  if (space_.memory() != nullptr) return;
  for (std::uint64_t strip = 0; strip < strips_.size(); ++strip) {
    if (!strips_[strip].chunks.empty()) write_buffer(strip);
  }
}

void StripRecords::read(std::uint64_t strip, std::vector<Record>& out) const {
  std::uint64_t left = size(strip);
  out.clear();
  out.reserve(left);
  for (const std::uint64_t at : strips_[strip].chunks) {
    const std::uint64_t n = std::min(left, kChunk);
    const std::byte* p = space_.at(at, stride(packing_));
    for (std::uint64_t i = 0; i < n; ++i, p += packing_.size()) out.push_back(packing_.load(p));
    left -= n;
  }
}

}  // namespace dapple::detail::mtx
