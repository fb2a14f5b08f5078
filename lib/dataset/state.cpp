#include "lib/dataset/state.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/search.h"
#include "lib/io/descriptor.h"
#include "lib/io/hash.h"

namespace dapple::detail::dataset {

namespace {

constexpr std::uint64_t kStateVersion = 1;
constexpr std::string_view kPrefix = "part-", kEnding = ".dbdf";

namespace head_of {
constexpr std::size_t tag = 0, version = 8, number = kNumberAt, write_id = 24, time = 40,
                      action = 48, header = 56, parts = 64, maps = 72, doomed = 80, tables = 88,
                      writes = 96, reserved = 104, hash = 120;
}
namespace part_at {
constexpr std::size_t id = 0, bytes = 16, body = 24, header_hash = 32, trailer_hash = 40, row = 48,
                      col = 56, rows = 64, cols = 72, reserved = 80;
}
namespace map_at {
constexpr std::size_t part = 0, column = 4, count = 8, offset = 16, hash = 24;
}

template <class T>
T load(const std::byte* p, std::size_t at) {
  return load_le<T>(p + at);
}

Id load_id(const std::byte* p) {
  Id id;
  std::memcpy(id.data(), p, id.size());
  return id;
}

[[noreturn]] void fail(const ByteSource& file, std::uint64_t at, const std::string& what) {
  throw Error(Errc::corrupt, file.name(), at, what + "; open another state of the data set");
}

/// Throws unless these bytes are zero, as all are that nothing is kept in.
void require_zero(const ByteSource& file, std::uint64_t at, std::uint64_t n) {
  const std::byte* const p = file.at(at, n);
  if (std::all_of(p, p + n, [](std::byte b) { return b == std::byte{0}; })) return;
  throw Error(Errc::unsupported, file.name(), at,
              "the state says something that this version of dapple does not know; a later one "
              "wrote it");
}

/// The sizes of the tables fit into the file.
bool fits(const StateHead& head, std::uint64_t size) {
  std::uint64_t left = size - kHead;
  const auto take = [&](std::uint64_t n, std::uint64_t each) {
    if (n > left / each) return false;
    left -= n * each;
    return true;
  };
  return head.header <= left && take(round_up(head.header, 8), 1) && head.parts < kMostParts &&
         take(head.parts, kPartRecord) && take(head.maps, kMapRecord) &&
         take(head.doomed, kIdBytes) && head.writes <= kMostWrites && take(head.writes, kIdBytes);
}

}  // namespace

Id new_id() {
  Id id;
  if (uninterrupted([&] { return ::getrandom(id.data(), id.size(), 0); }) !=
      static_cast<ssize_t>(id.size())) {
    throw_io("the system's random numbers", "read", errno);
  }
  return id;
}

std::string part_name(const Id& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name(kPrefix);
  for (const std::byte b : id) {
    name += kDigits[std::to_integer<unsigned>(b) >> 4];
    name += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return name.append(kEnding);
}

Id id_of(std::string_view name) {
  Id id{};
  const auto digit = [](char c) -> unsigned {
    return c >= '0' && c <= '9'   ? unsigned(c - '0')
           : c >= 'a' && c <= 'f' ? unsigned(c - 'a') + 10
                                  : 16;
  };
  bool sound = name.size() == kPrefix.size() + 2 * kIdBytes + kEnding.size() &&
               name.starts_with(kPrefix) && name.ends_with(kEnding);
  for (std::size_t i = 0; sound && i < kIdBytes; ++i) {
    const unsigned high = digit(name[kPrefix.size() + 2 * i]);
    const unsigned low = digit(name[kPrefix.size() + 2 * i + 1]);
    sound = high < 16 && low < 16;
    id[i] = static_cast<std::byte>((high << 4 | low) & 0xff);
  }
  if (!sound) {
    throw Error(Errc::invalid_argument, std::string(name), std::nullopt,
                "not the name of a part, which is \"part-\", 32 digits from 0 to f, and \".dbdf\"");
  }
  return id;
}

std::uint64_t StateHead::first_part() const noexcept { return kHead + round_up(header, 8); }

bool starts_like_state(std::span<const std::byte> head) noexcept {
  return head.size() >= 8 && std::memcmp(head.data(), kTag, 8) == 0;
}

void require_state(const ByteSource& file) {
  if (file.size() < kHead) fail(file, file.size(), "the state of the data set was cut off");
  if (!starts_like_state(file.bytes(0, kHead))) fail(file, 0, "this is no state of a data set");
}

StateTables::StateTables(std::shared_ptr<const ByteSource> file) : file_(std::move(file)) {
  require_state(*file_);
  const std::byte* const p = file_->at(0, kHead);
  if (xxh3({p, head_of::hash}) != load<std::uint64_t>(p, head_of::hash)) {
    fail(*file_, 0, "the head of the state does not match its hash");
  }
  const auto version = load<std::uint64_t>(p, head_of::version);
  if (version != kStateVersion) {
    throw Error(Errc::unsupported, file_->name(), head_of::version,
                "the state has version " + std::to_string(version) +
                    ", which this version of dapple does not know; a later one wrote it");
  }
  require_zero(*file_, head_of::reserved, head_of::hash - head_of::reserved);
  head_.number = load<std::uint64_t>(p, head_of::number);
  head_.write_id = load_id(p + head_of::write_id);
  head_.time_ns = load<std::uint64_t>(p, head_of::time);
  head_.action = static_cast<DatasetAction>(load<std::uint64_t>(p, head_of::action) & 0xff);
  head_.header = load<std::uint64_t>(p, head_of::header);
  head_.parts = load<std::uint64_t>(p, head_of::parts);
  head_.maps = load<std::uint64_t>(p, head_of::maps);
  head_.doomed = load<std::uint64_t>(p, head_of::doomed);
  head_.writes = load<std::uint64_t>(p, head_of::writes);
  hash_ = load<std::uint64_t>(p, head_of::tables);
  if (!fits(head_, file_->size())) fail(*file_, kHead, "the tables of the state were cut off");
  if (xxh3(file_->bytes(kHead, head_.body() - kHead)) != hash_) {
    fail(*file_, kHead, "the tables of the state do not match their hash");
  }
}

PartRecord StateTables::part(std::uint64_t number) const {
  if (number >= head_.parts) {
    fail(*file_, head_.first_part(),
         "the state has no part " + std::to_string(number) + ", to which its index leads");
  }
  const std::uint64_t at = head_.first_part() + number * kPartRecord;
  const std::byte* const p = file_->at(at, kPartRecord);
  require_zero(*file_, at + part_at::reserved, kPartRecord - part_at::reserved);
  PartRecord part;
  part.id = load_id(p);
  part.bytes = load<std::uint64_t>(p, part_at::bytes);
  part.body = load<std::uint64_t>(p, part_at::body);
  part.header_hash = load<std::uint64_t>(p, part_at::header_hash);
  part.trailer_hash = load<std::uint64_t>(p, part_at::trailer_hash);
  const auto row = load<std::uint64_t>(p, part_at::row), col = load<std::uint64_t>(p, part_at::col);
  const auto rows = load<std::uint64_t>(p, part_at::rows);
  const auto cols = load<std::uint64_t>(p, part_at::cols);
  if (rows > ~row || cols > ~col || part.bytes > kMostBytes) {
    fail(*file_, at, "a part of an impossible size");
  }
  part.cells = {{row, row + rows}, {col, col + cols}};
  return part;
}

std::uint64_t StateTables::bytes_of_parts() const {
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < head_.parts; ++i) bytes += part(i).bytes;
  return bytes;
}

std::vector<Id> StateTables::ids(std::uint64_t first, std::uint64_t n) const {
  std::vector<Id> ids(n);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = load_id(file_->at(head_.first_doomed() + (first + i) * kIdBytes, kIdBytes));
  }
  return ids;
}

std::uint32_t StateTables::map_part(std::uint64_t number) const {
  return load_le<std::uint32_t>(file_->at(head_.first_map() + number * kMapRecord, 4));
}

std::uint32_t StateTables::map_column(std::uint64_t number) const {
  return load_le<std::uint32_t>(file_->at(head_.first_map() + number * kMapRecord + 4, 4));
}

Range StateTables::maps_of(std::uint32_t part, Range cols) const {
  const auto first = [&](std::uint64_t col) {
    return count_first(head_.maps, [&](std::uint64_t i) {
      const std::uint32_t of = map_part(i);
      return of < part || (of == part && map_column(i) < col);
    });
  };
  return {first(cols.begin), first(cols.end)};
}

std::span<const std::byte> StateTables::codes(std::uint64_t number) const {
  const std::uint64_t at = head_.first_map() + number * kMapRecord;
  const std::byte* const p = file_->at(at, kMapRecord);
  const auto count = load<std::uint64_t>(p, map_at::count);
  const auto offset = load<std::uint64_t>(p, map_at::offset);
  if (offset < head_.body() || offset > file_->size() || count > (file_->size() - offset) / 4) {
    fail(*file_, at, "a table of codes is outside the state");
  }
  const auto codes = file_->bytes(offset, 4 * count);
  if (xxh3(codes) != load<std::uint64_t>(p, map_at::hash)) {
    fail(*file_, offset, "a table of codes does not match its hash");
  }
  return codes;
}

namespace {

void put_part(std::byte* p, const PartRecord& part) {
  std::memcpy(p + part_at::id, part.id.data(), kIdBytes);
  store_le(p + part_at::bytes, part.bytes);
  store_le(p + part_at::body, part.body);
  store_le(p + part_at::header_hash, part.header_hash);
  store_le(p + part_at::trailer_hash, part.trailer_hash);
  store_le(p + part_at::row, part.cells.rows.begin);
  store_le(p + part_at::col, part.cells.cols.begin);
  store_le(p + part_at::rows, part.cells.rows.size());
  store_le(p + part_at::cols, part.cells.cols.size());
}

void put_head(std::byte* p, const StateHead& head, std::uint64_t tables) {
  std::memcpy(p + head_of::tag, kTag, 8);
  store_le(p + head_of::version, kStateVersion);
  store_le(p + head_of::number, head.number);
  std::memcpy(p + head_of::write_id, head.write_id.data(), kIdBytes);
  store_le(p + head_of::time, head.time_ns);
  store_le(p + head_of::action, std::uint64_t{static_cast<std::uint8_t>(head.action)});
  store_le(p + head_of::header, head.header);
  store_le(p + head_of::parts, head.parts);
  store_le(p + head_of::maps, head.maps);
  store_le(p + head_of::doomed, head.doomed);
  store_le(p + head_of::tables, tables);
  store_le(p + head_of::writes, head.writes);
  store_le(p + head_of::hash, xxh3({p, head_of::hash}));
}

}  // namespace

StateBytes emit_tables(StateHead head, std::span<const std::byte> header,
                       std::span<const PartRecord> parts, std::span<const CodeMap> maps,
                       std::span<const Id> doomed, std::span<const Id> writes) {
  head.header = header.size();
  head.parts = parts.size();
  head.maps = maps.size();
  head.doomed = doomed.size();
  head.writes = writes.size();
  std::uint64_t size = head.body();
  for (const CodeMap& map : maps) size += round_up(4 * map.codes.size(), 8);
  StateBytes out{std::vector<std::byte>(size), 0};
  std::byte* const p = out.bytes.data();
  if (!header.empty()) std::memcpy(p + kHead, header.data(), header.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put_part(p + head.first_part() + i * kPartRecord, parts[i]);
  }
  std::uint64_t codes = head.body();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    std::byte* const record = p + head.first_map() + i * kMapRecord;
    const std::uint64_t count = maps[i].codes.size();
    for (std::uint64_t k = 0; k < count; ++k) store_le(p + codes + 4 * k, maps[i].codes[k]);
    store_le(record + map_at::part, maps[i].part);
    store_le(record + map_at::column, maps[i].column);
    store_le(record + map_at::count, count);
    store_le(record + map_at::offset, codes);
    store_le(record + map_at::hash, xxh3({p + codes, 4 * count}));
    codes += round_up(4 * count, 8);
  }
  std::byte* id = p + head.first_doomed();
  for (const std::span<const Id> ids : {doomed, writes}) {
    for (const Id& one : ids) {
      std::memcpy(id, one.data(), kIdBytes);
      id += kIdBytes;
    }
  }
  out.hash = xxh3({p + kHead, head.body() - kHead});
  put_head(p, head, out.hash);
  return out;
}

}  // namespace dapple::detail::dataset
