#include "lib/foreign/mtx/mtx_records.h"

namespace dapple::detail::mtx {

void StripRecords::write_chunk(std::uint64_t strip) {
  space_.write_at(taken_, {buffers_.data() + strip * stride(), chunk_bytes()});
  strips_[strip].chunks.push_back(taken_);
  strips_[strip].waiting = 0;
  taken_ += chunk_bytes();
}

void StripRecords::read(std::uint64_t strip, std::vector<Record>& out) const {
  const Strip& from = strips_[strip];
  out.clear();
  out.reserve(from.chunks.size() * kChunk + from.waiting);
  const auto load = [&](const std::byte* p, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i, p += packing_.size()) out.push_back(packing_.load(p));
  };
  for (const std::uint64_t at : from.chunks) {
    load(space_.at(at, chunk_bytes() + Packing::kBehind), kChunk);
  }
  load(buffers_.data() + strip * stride(), from.waiting);
}

}  // namespace dapple::detail::mtx
