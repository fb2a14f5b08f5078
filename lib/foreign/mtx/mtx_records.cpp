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

StripRecords::StripRecords(const Text& text, std::uint64_t strips, std::uint64_t most)
    : file_(text.file), space_((most / kChunk + strips) * kStride), strips_(strips) {
  if (space_.memory() == nullptr) buffers_.reset(strips * kChunk);
}

void StripRecords::start_chunk(std::uint64_t strip) {
  Strip& to = strips_[strip];
  if (space_.size() - taken_ < kStride) fail_changed(file_);
  const bool in_memory = space_.memory() != nullptr;
  if (!in_memory && !to.chunks.empty()) write_buffer(strip);
  to.next = in_memory ? reinterpret_cast<Record*>(space_.memory() + taken_)
                      : buffers_.data() + strip * kChunk;
  to.end = to.next + kChunk;
  to.chunks.push_back(taken_);
  taken_ += kStride;
}

void StripRecords::write_buffer(std::uint64_t strip) {
  const Record* const begin = buffers_.data() + strip * kChunk;
  space_.write_at(strips_[strip].chunks.back(),
                  std::as_bytes(std::span<const Record>(begin, strips_[strip].next)));
}

void StripRecords::finish() {
  if (space_.memory() != nullptr) return;
  for (std::uint64_t strip = 0; strip < strips_.size(); ++strip) {
    if (!strips_[strip].chunks.empty()) write_buffer(strip);
  }
}

void StripRecords::read(std::uint64_t strip, std::vector<Record>& out) const {
  out.resize(size(strip));
  const auto bytes = std::as_writable_bytes(std::span(out));
  constexpr std::size_t kBytes = kChunk * sizeof(Record);
  for (std::size_t i = 0; i * kBytes < bytes.size(); ++i) {
    space_.read_at(strips_[strip].chunks[i],
                   bytes.subspan(i * kBytes, std::min(kBytes, bytes.size() - i * kBytes)));
  }
}

void StripRecords::write(std::uint64_t strip, std::span<const Record> records) {
  for (const std::uint64_t at : strips_[strip].chunks) {
    const auto n = std::min<std::size_t>(kChunk, records.size());
    space_.write_at(at, std::as_bytes(records.first(n)));
    records = records.subspan(n);
  }
}

Records StripRecords::of(std::uint64_t strip) const {
  return {space_.at(0, taken_), strips_[strip].chunks.data(), size(strip)};
}

void fail_changed(const std::string& file) {
  throw Error(Errc::io, file, std::nullopt,
              "the file changed since it was opened: it has other entries now");
}

}  // namespace dapple::detail::mtx
