#include "lib/foreign/zip/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include "lib/base/bytes.h"
#include "lib/codec/inflate.h"
#include "lib/foreign/zip/records.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail::zip {

namespace {

[[noreturn]] void fail(const ByteSource& file, std::uint64_t at, std::string detail) {
  throw Error(Errc::corrupt, file.name(), at, std::move(detail));
}

/// Where the directory is, and what it says it has.
struct Directory {
  std::uint64_t offset, bytes, members;
  std::uint64_t end;  // what follows it starts here
};

/// The last record of the file: a comment of any text may follow it, up to the end.
std::uint64_t find_end(const ByteSource& file) {
  constexpr std::uint64_t most = kEndBytes + std::numeric_limits<std::uint16_t>::max();
  const std::uint64_t size = std::min(file.size(), most);
  const std::uint64_t first = file.size() - size;
  const std::byte* const tail = file.at(first, size);
  for (std::uint64_t left = kEndBytes; left <= size; ++left) {
    const std::byte* const p = tail + (size - left);
    if (load_le<std::uint32_t>(p) == kEnd && load_le<std::uint16_t>(p + 20) == left - kEndBytes) {
      return file.size() - left;
    }
  }
  fail(file, file.size(), "the archive is cut off: it has no directory at its end");
}

/// The ZIP64 record, which a locator right before the last record points to.
std::optional<Directory> find_directory64(const ByteSource& file, std::uint64_t end) {
  if (end < kLocatorBytes) return std::nullopt;
  ByteReader locator(file.bytes(end - kLocatorBytes, kLocatorBytes), end - kLocatorBytes,
                     file.name());
  if (locator.le<std::uint32_t>("a locator") != kLocator64) return std::nullopt;
  locator.le<std::uint32_t>("a disk");
  const auto at = locator.le<std::uint64_t>("the place of the ZIP64 record");
  const std::uint64_t before = end - kLocatorBytes;
  if (at > before || before - at < kEnd64Bytes) {
    fail(file, end - 12, "the ZIP64 record is outside the file");
  }
  ByteReader record(file.bytes(at, kEnd64Bytes), at, file.name());
  if (record.le<std::uint32_t>("the ZIP64 record") != kEnd64) {
    fail(file, at, "there is no ZIP64 record here");
  }
  record.take(20, "the ZIP64 record");
  record.le<std::uint64_t>("the number of members on this disk");
  const auto members = record.le<std::uint64_t>("the number of members");
  const auto bytes = record.le<std::uint64_t>("the size of the directory");
  const auto offset = record.le<std::uint64_t>("the place of the directory");
  return Directory{offset, bytes, members, at};
}

Directory find_directory(const ByteSource& file) {
  const std::uint64_t end = find_end(file);
  ByteReader record(file.bytes(end, kEndBytes), end, file.name());
  record.take(4, "the last record");
  const auto disk = record.le<std::uint16_t>("the disk");
  record.take(4, "the last record");
  const std::uint64_t members = record.le<std::uint16_t>("the number of members");
  const std::uint64_t bytes = record.le<std::uint32_t>("the size of the directory");
  const std::uint64_t offset = record.le<std::uint32_t>("the place of the directory");
  Directory directory{offset, bytes, members, end};
  if (const auto wide = find_directory64(file, end)) {
    directory = *wide;
  } else if (disk != 0 && disk != std::numeric_limits<std::uint16_t>::max()) {
    throw Error(Errc::unsupported, file.name(), end, "the archive is one part of several");
  }
  if (directory.offset > directory.end || directory.bytes > directory.end - directory.offset) {
    fail(file, end, "the directory is outside the file");
  }
  if (directory.members > directory.bytes / kEntryBytes) {
    fail(file, end,
         counted(directory.members, "member") + " do not fit a directory of " +
             counted(directory.bytes, "byte"));
  }
  return directory;
}

/// Sizes and place of a member as far as they are too large for its entry.
void take_wide_fields(ByteReader extra, Member& member) {
  while (extra.remaining() >= 4) {
    const auto id = extra.le<std::uint16_t>("an extra field");
    const auto size = extra.le<std::uint16_t>("an extra field");
    const std::uint64_t at = extra.offset();
    ByteReader field(extra.take(size, "an extra field"), at, extra.file());
    if (id != kZip64) continue;
    for (std::uint64_t* value : {&member.size, &member.packed, &member.header}) {
      if (*value == kIn64) *value = field.le<std::uint64_t>("a ZIP64 size");
    }
    return;
  }
}

Member read_entry(ByteReader& in) {
  Member member;
  member.listed = in.offset();
  if (in.le<std::uint32_t>("an entry of the directory") != kEntry) {
    in.fail(member.listed, "there is no entry of the directory here");
  }
  in.take(4, "versions");
  member.flags = in.le<std::uint16_t>("flags");
  member.method = in.le<std::uint16_t>("a method");
  in.take(4, "a time");
  member.crc = in.le<std::uint32_t>("a CRC");
  member.packed = in.le<std::uint32_t>("a size");
  member.size = in.le<std::uint32_t>("a size");
  const auto name = in.le<std::uint16_t>("the length of a name");
  const auto extra = in.le<std::uint16_t>("the length of extra fields");
  const auto comment = in.le<std::uint16_t>("the length of a comment");
  in.take(8, "attributes");
  member.header = in.le<std::uint32_t>("the place of a member");
  const auto text = in.take(name, "a name");
  member.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
  const std::uint64_t at = in.offset();
  take_wide_fields(ByteReader(in.take(extra, "extra fields"), at, in.file()), member);
  in.take(comment, "a comment");
  return member;
}

/// Bytes of the archive that hold a member.
Range data_of(const ByteSource& archive, const Member& member) {
  if ((member.flags & kEncrypted) != 0 ||
      (member.method != kStored && member.method != kDeflated)) {
    throw Error(Errc::unsupported, archive.name(), member.listed,
                "the member " + member.name +
                    ((member.flags & kEncrypted) != 0
                         ? " is encrypted"
                         : " is compressed by method " + std::to_string(member.method) +
                               ", not by deflate"));
  }
  if (member.header > member.listed || member.listed - member.header < kLocalBytes) {
    fail(archive, member.listed, "the member " + member.name + " is outside the file");
  }
  const std::uint64_t room = member.listed - member.header;
  ByteReader head(archive.bytes(member.header, kLocalBytes), member.header, archive.name());
  const auto magic = head.le<std::uint32_t>("a header");
  head.take(22, "a header");
  const std::uint64_t names = std::uint64_t{head.le<std::uint16_t>("the length of a name")} +
                              head.le<std::uint16_t>("the length of extra fields");
  if (magic != kLocal || names > room - kLocalBytes || member.packed > room - kLocalBytes - names) {
    fail(archive, member.header,
         magic != kLocal ? "the header of member " + member.name + " is not here"
                         : "the member " + member.name + " ends after the directory begins");
  }
  const std::uint64_t begin = member.header + kLocalBytes + names;
  if (member.method == kStored && member.packed != member.size) {
    fail(archive, member.listed, "the member " + member.name + " has two sizes");
  }
  return {begin, begin + member.packed};
}

/// A member to be taken out of the archive.
struct Packed {
  Range bytes;         // of the archive
  std::uint64_t size;  // of the content
  std::uint32_t crc;   // CRC-32 of the content
  bool deflated;
};

/// Hands out the contents of parts, and zeros between them.
class Unpacker {
 public:
  Unpacker(const ByteSource& archive, std::span<const Packed> parts)
      : archive_(archive), parts_(parts), stream_(Wrapper::raw) {}

  std::size_t read(std::span<std::byte> out) {
    while (!parts_.empty()) {
      const Packed& part = parts_.front();
      if (made_ < part.size) return count(part, out.first(step(part, out)));
      if (made_ == part.size && checked_ == false) check(part);
      const std::uint64_t padded = round_up(part.size, kUnpackedAlign);
      if (made_ < padded) return pad(out.first(std::min(out.size(), padded - made_)));
      next();
    }
    return 0;
  }

 private:
  std::size_t step(const Packed& part, std::span<std::byte> out) {
    const std::uint64_t left = part.bytes.size() - taken_;
    const std::byte* const from = archive_.at(part.bytes.begin + taken_, left);
    out = out.first(std::min<std::uint64_t>(out.size(), part.size - made_));
    if (!part.deflated) {
      std::memcpy(out.data(), from, out.size());
      taken_ += out.size();
      return out.size();
    }
    const InflateStream::Step step = stream_.step({from, left}, out);
    taken_ += step.taken;
    if (step.state == InflateStream::State::damaged) fail(part, "the deflated data is damaged");
    if (step.made == 0 && step.state != InflateStream::State::goes_on) {
      fail(part, "the deflated data ends before its content does");
    }
    return step.made;
  }

  std::size_t count(const Packed&, std::span<const std::byte> made) {
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(made.data()), made.size());
    made_ += made.size();
    return made.size();
  }

  void check(const Packed& part) {
    if (crc_ != part.crc) fail(part, "the content of a member does not match its CRC");
    checked_ = true;
  }

  std::size_t pad(std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{0});
    made_ += out.size();
    return out.size();
  }

  void next() {
    parts_ = parts_.subspan(1);
    taken_ = made_ = 0;
    crc_ = 0;
    checked_ = false;
    stream_.restart();
  }

  [[noreturn]] void fail(const Packed& part, const std::string& what) const {
    throw Error(Errc::corrupt, archive_.name(), part.bytes.begin + taken_, what);
  }

  const ByteSource& archive_;
  std::span<const Packed> parts_;
  std::uint64_t taken_ = 0, made_ = 0;  // of the part that is being read
  uLong crc_ = 0;
  bool checked_ = false;
  InflateStream stream_;
};

/// An unnamed temporary file with the contents of parts one after the other. Throws corrupt when
/// one is damaged, or is not as long as it should be; io. O(bytes); memory does not grow with them.
std::shared_ptr<ByteSource> unpack(const ByteSource& archive, std::span<const Packed> parts) {
  // A forged size is seen before space is used up.
  for (const Packed& part : parts) {
    if (part.deflated && part.size / kMostInflation > part.bytes.size()) {
      throw Error(
          Errc::corrupt, archive.name(), part.bytes.begin,
          counted(part.size, "byte") + " cannot come out of " + std::to_string(part.bytes.size()));
    }
  }
  Unpacker unpacker(archive, parts);
  return LocalFile::spool([&](std::span<std::byte> out) { return unpacker.read(out); },
                          archive.name());
}

}  // namespace

void require_sum(const ByteSource& archive, const Member& member) {
  constexpr std::uint64_t step = 1 << 20;
  if (member.method != kStored) return;
  const Range data = data_of(archive, member);
  uLong crc = 0;
  std::vector<std::byte> buffer(std::min(step, data.size()));
  for (std::uint64_t at = data.begin; at < data.end; at += step) {
    const std::span part(buffer.data(), std::min(step, data.end - at));
    archive.read_at(at, part);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  if (crc == member.crc) return;
  fail(archive, data.begin, "the content of member " + member.name + " does not match its CRC");
}

std::vector<Member> read_directory(const ByteSource& archive) {
  const Directory directory = find_directory(archive);
  ByteReader in(archive.bytes(directory.offset, directory.bytes), directory.offset, archive.name());
  std::vector<Member> members;
  std::unordered_map<std::string, std::size_t> places;
  members.reserve(directory.members);
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    Member member = read_entry(in);
    const auto [found, is_new] = places.emplace(member.name, members.size());
    if (is_new) members.emplace_back();
    members[found->second] = std::move(member);
  }
  return members;
}

Contents contents_of(const std::shared_ptr<ByteSource>& archive,
                     std::span<const Member* const> members) {
  std::vector<Packed> parts;
  bool in_place = true;
  for (const Member* member : members) {
    const bool deflated = member->method == kDeflated;
    parts.push_back({data_of(*archive, *member), member->size, member->crc, deflated});
    in_place = in_place && !deflated;
  }
  Contents contents{archive, {}};
  if (in_place) {
    for (const Packed& part : parts) contents.members.push_back(part.bytes);
    return contents;
  }
  contents.file = unpack(*archive, parts);
  std::uint64_t at = 0;
  for (const Packed& part : parts) {
    contents.members.push_back({at, at + part.size});
    at += round_up(part.size, kUnpackedAlign);
  }
  return contents;
}

}  // namespace dapple::detail::zip
