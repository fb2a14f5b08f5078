#include "lib/foreign/zip/write_zip.h"

#include <zlib.h>

#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/foreign/zip/records.h"

namespace dapple::detail::zip {

namespace {

constexpr std::uint16_t kOldest = 20, kOldestWide = 45;  // versions that can read it
constexpr std::uint16_t kUtf8 = 1 << 11;                 // a flag
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;          // 1 January 1980: times are not kept
constexpr std::uint16_t kFiller = 0xD164;                // an extra field that nobody reads
constexpr std::uint64_t kFieldHead = 4, kMostMembers = 0xFFFF;

/// Numbers, one after the other.
class Record {
 public:
  template <Number T>
  Record& add(T value) {
    append_le(bytes_, value);
    return *this;
  }
  /// A number as 32 bits, or what says that it is elsewhere.
  Record& narrow(std::uint64_t value, bool wide) {
    return add(wide ? kIn64 : static_cast<std::uint32_t>(value));
  }
  Record& add(const std::string& text) {
    append_bytes(bytes_, std::as_bytes(std::span(text)));
    return *this;
  }
  void fill(std::uint64_t n) { bytes_.resize(bytes_.size() + n); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> Writer::header_of(const Member& member) const {
  const bool wide = this->wide(member.size);
  const std::uint64_t before =
      member.header + kLocalBytes + member.name.size() + (wide ? kFieldHead + 16 : 0) + kFieldHead;
  const std::uint64_t gap = round_up(before, kUnpackedAlign) - before;
  const std::uint64_t extra = (wide ? kFieldHead + 16 : 0) + kFieldHead + gap;
  Record record;
  record.add(kLocal).add(wide ? kOldestWide : kOldest).add(kUtf8).add(kStored);
  record.add(std::uint16_t{0}).add(kFirstDay).add(member.crc);
  record.narrow(member.size, wide).narrow(member.size, wide);
  record.add(static_cast<std::uint16_t>(member.name.size())).add(static_cast<std::uint16_t>(extra));
  record.add(member.name);
  if (wide) record.add(kZip64).add(std::uint16_t{16}).add(member.size).add(member.size);
  record.add(kFiller).add(static_cast<std::uint16_t>(gap)).fill(gap);
  return record.take();
}

std::vector<std::byte> Writer::entry_of(const Member& member) const {
  const bool wide = this->wide(member.size), far = this->wide(member.header);
  const auto values = static_cast<std::uint16_t>((wide ? 16 : 0) + (far ? 8 : 0));
  const std::uint16_t oldest = values > 0 ? kOldestWide : kOldest;
  Record record;
  record.add(kEntry).add(oldest).add(oldest).add(kUtf8).add(kStored);
  record.add(std::uint16_t{0}).add(kFirstDay).add(member.crc);
  record.narrow(member.size, wide).narrow(member.size, wide);
  record.add(static_cast<std::uint16_t>(member.name.size()));
  record.add(static_cast<std::uint16_t>(values > 0 ? values + kFieldHead : 0));
  record.fill(10);  // no comment, the first disk, no attributes
  record.narrow(member.header, far).add(member.name);
  if (values > 0) record.add(kZip64).add(values);
  if (wide) record.add(member.size).add(member.size);
  if (far) record.add(member.header);
  return record.take();
}

std::uint32_t copy_content(
    const ByteSource& content,
    const std::function<void(std::uint64_t, std::span<const std::byte>)>& take) {
  constexpr std::uint64_t step = 1 << 20;
  uLong crc = 0;
  std::vector<std::byte> buffer(std::min(step, content.size()));
  for (std::uint64_t done = 0; done < content.size();) {
    const std::span part(buffer.data(), std::min(step, content.size() - done));
    content.read_at(done, part);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    take(done, part);
    done += part.size();
  }
  return static_cast<std::uint32_t>(crc);
}

void Writer::add(const std::string& name, const ByteSource& content,
                 const std::function<void(std::uint64_t)>& copied) {
  Member member;
  member.name = name;
  member.size = content.size();
  member.header = at_;
  const std::uint64_t at = at_ + header_of(member).size();
  member.crc = copy_content(content, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    out_.write_at(at + offset, bytes);
    if (copied) copied(bytes.size());
  });
  out_.write_at(at_, header_of(member));
  at_ = at + content.size();
  members_.push_back(std::move(member));
}

void Writer::finish() {
  const std::uint64_t begin = at_, count = members_.size();
  for (const Member& member : members_) {
    const std::vector<std::byte> entry = entry_of(member);
    out_.write_at(at_, entry);
    at_ += entry.size();
  }
  const std::uint64_t size = at_ - begin;
  const bool wide = this->wide(begin) || this->wide(size) || count >= kMostMembers;
  Record record;
  if (wide) {
    record.add(kEnd64).add(kEnd64Bytes - 12).add(kOldestWide).add(kOldestWide);
    record.add(std::uint64_t{0}).add(count).add(count).add(size).add(begin);
    record.add(kLocator64).add(std::uint32_t{0}).add(at_).add(std::uint32_t{1});
  }
  const auto shown = static_cast<std::uint16_t>(wide ? kMostMembers : count);
  record.add(kEnd).add(std::uint32_t{0}).add(shown).add(shown);
  record.narrow(size, wide).narrow(begin, wide).add(std::uint16_t{0});
  out_.write_at(at_, record.take());
}

}  // namespace dapple::detail::zip
