#include "lib/dbdf/care/evidence.h"

#include <algorithm>
#include <array>

#include "lib/dbdf/index_block.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

bool same_block(const Entry& a, const Entry& b) noexcept {
  return a.pos == b.pos && a.rows == b.rows && a.cols == b.cols && a.kind == b.kind &&
         a.stored == b.stored && a.bytes == b.bytes && a.codec == b.codec &&
         (a.kind == BlockKind::empty || a.value_type == b.value_type);
}

Evidence::Evidence(const ByteSource& file, std::uint64_t payload)
    : index_(file.bytes(payload, file.size() - payload)) {
  // Lines of the cover tree and the trailer are no entries, but match no block either.
  for (std::uint64_t line = 1; line < index_.size() / kLine; ++line) {
    hashes_.push_back(load_le<std::uint64_t>(&index_[line * kLine + entry_at::hash]));
    lines_.push_back(line);
  }
  std::sort(hashes_.begin(), hashes_.end());
  std::sort(lines_.begin(), lines_.end(), [&](std::uint64_t a, std::uint64_t b) {
    return load_entry(&index_[a * kLine]).pos < load_entry(&index_[b * kLine]).pos;
  });
}

Evidence::Verdict Evidence::judge(const Entry& block, std::uint64_t hash) {
  if (std::binary_search(hashes_.begin(), hashes_.end(), hash)) return Verdict::whole;
  auto at = std::lower_bound(lines_.begin(), lines_.end(), block.pos,
                             [&](std::uint64_t line, BlockPos pos) {
                               return load_entry(&index_[line * kLine]).pos < pos;
                             });
  // Damage may repeat a position by chance, a forger many times: try only a few.
  constexpr int kMostAlike = 4;
  for (int i = 0; i < kMostAlike && at != lines_.end(); ++i, ++at) {
    const Entry entry = load_entry(&index_[*at * kLine]);
    if (entry.pos != block.pos) break;
    if (entry.hash == 0 || !same_block(entry, block)) continue;
    return is_entry_damaged(*at, hash) ? Verdict::whole : Verdict::damaged;
  }
  return Verdict::unknown;
}

// True when putting this hash into that entry makes the index match its own hash.
bool Evidence::is_entry_damaged(std::uint64_t line, std::uint64_t hash) {
  if (index_.size() % kLine != 0 || tries_ == 0) return false;
  --tries_;
  const std::size_t at = line * kLine + entry_at::hash, end = index_.size() - kLine;
  if (at >= end) return false;
  std::array<std::byte, sizeof hash> bytes;
  store_le(bytes.data(), hash);
  Xxh3 whole;
  whole.add(index_.first(at));
  whole.add(bytes);
  whole.add(index_.subspan(at + bytes.size(), end - at - bytes.size()));
  return whole.value() == load_le<std::uint64_t>(&index_[end]);
}

}  // namespace dapple::detail::dbdf
