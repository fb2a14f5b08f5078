#include "lib/foreign/mtx/mtx_records.h"

#include <algorithm>

namespace dapple::detail::mtx {

std::uint64_t Records::find_row(std::uint64_t row, std::uint64_t first) const noexcept {
  for (std::uint64_t n = size_ - first; n > 0;) {
    const std::uint64_t half = n / 2;
    if ((*this)[first + half].row < row) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

StripRecords::StripRecords(const Text& text, const Packing& packing, std::uint64_t strips,
                           std::uint64_t most)
    : file_(text.file),
      packing_(packing),
      space_((most / kChunk + strips) * stride(packing)),
      strips_(strips) {
  if (space_.memory() == nullptr) buffers_.reset(strips * stride(packing));
}

void StripRecords::start_chunk(std::uint64_t strip) {
  Strip& to = strips_[strip];
  const std::uint64_t bytes = stride(packing_);
  if (space_.size() - taken_ < bytes) fail_changed(file_);
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
  const Records records = of(strip);
  out.resize(records.size());
  Record* to = out.data();
  records.for_each(0, records.size(), [&](const Record& record) { *to++ = record; });
}

void StripRecords::write(std::uint64_t strip, std::span<const Record> records) {
  std::byte* const memory = space_.memory();
  std::vector<std::byte> chunk(memory == nullptr ? stride(packing_) : 0);
  for (const std::uint64_t at : strips_[strip].chunks) {
    std::byte* const begin = memory == nullptr ? chunk.data() : memory + at;
    std::byte* to = begin;
    for (const Record& record : records.first(std::min<std::size_t>(kChunk, records.size()))) {
      packing_.store(to, record);
      to += packing_.size();
    }
    const auto bytes = static_cast<std::size_t>(to - begin);
    if (memory == nullptr) space_.write_at(at, {begin, bytes});
    records = records.subspan(bytes / packing_.size());
  }
}

Records StripRecords::of(std::uint64_t strip) const {
  return {packing_, space_.at(0, taken_), strips_[strip].chunks.data(), size(strip)};
}

void fail_changed(const std::string& file) {
  throw Error(Errc::io, file, std::nullopt,
              "the file changed since it was opened: it has other entries now");
}

}  // namespace dapple::detail::mtx
