#include "lib/dbdf/sidecar.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/io/output_file.h"
#include "lib/object/store.h"

namespace dapple {

namespace detail::dbdf {

namespace {

// Of a frame it also has the meanings of the columns; those of version 1 did not.
constexpr std::uint64_t kSidecarVersion = 1, kFrameSidecarVersion = 2;

namespace binding_at {
constexpr std::size_t magic = 0, version = 8, size = 16, mtime = 24, ctime = 32, header = 40,
                      body = 48, hash = 56;
}

// Of the line before the index payload.
Binding binding_of(const ByteSource& data, std::uint64_t body) {
  const bool frame = *data.at(1, 1) == static_cast<std::byte>(DataType::frame);
  return {kSidecarMagic, frame ? kFrameSidecarVersion : kSidecarVersion, body, 0};
}

// File systems take time stamps from a clock that ticks every few milliseconds, so that a second
// change in the same tick would go unnoticed. Waits until the tick of the last change is over.
void wait_until_changes_show(const Identity& stamp) {
  using namespace std::chrono;
  constexpr nanoseconds tick = milliseconds(20);
  const nanoseconds now = system_clock::now().time_since_epoch();
  const nanoseconds age = now - nanoseconds(std::max(stamp.mtime_ns, stamp.ctime_ns));
  if (age < tick) std::this_thread::sleep_for(tick);
}

}  // namespace

std::array<std::byte, kLine> Binding::line(const ByteSource& data) const {
  std::array<std::byte, kLine> line{};
  std::byte* p = line.data();
  std::memcpy(p + binding_at::magic, magic, 8);
  store_le(p + binding_at::version, version);
  store_le(p + binding_at::size, data.size());
  store_le(p + binding_at::mtime, data.identity().mtime_ns);
  store_le(p + binding_at::ctime, data.identity().ctime_ns);
  store_le(p + binding_at::header, xxh3(data.bytes(0, head), seed));
  store_le(p + binding_at::body, head);
  store_le(p + binding_at::hash, xxh3({p, binding_at::hash}));
  return line;
}

Binding::Match Binding::match(const ByteSource& data, std::span<const std::byte> line) const {
  const auto expected = this->line(data);
  const auto other = std::mismatch(expected.begin(), expected.end(), line.begin()).first;
  if (other == expected.end()) return {SidecarState::fresh};
  const auto fault = static_cast<std::uint64_t>(other - expected.begin());
  const bool whole =
      load_le<std::uint64_t>(&line[binding_at::hash]) == xxh3(line.first(binding_at::hash));
  if (!whole || fault <= binding_at::version) return {SidecarState::damaged, fault};
  const std::uint64_t number = fault - fault % 8;  // where the one that differs starts
  return {SidecarState::stale, number, number == binding_at::header};
}

Sidecar find_sidecar(const ByteSource& data, std::uint64_t body) {
  Sidecar sidecar;
  auto file = data.sibling(kSidecarEnding);
  if (file == nullptr) return sidecar;
  sidecar.state = SidecarState::damaged;
  sidecar.fault = file->size();
  if (file->size() < kLine) return sidecar;
  const Binding::Match match = binding_of(data, body).match(data, file->bytes(0, kLine));
  if (match.state != SidecarState::fresh) {
    sidecar.state = match.state;
    sidecar.fault = match.fault;
    return sidecar;
  }
  sidecar.fault = file->size() - kLine;
  const auto trailer = find_trailer(*file, kLine);
  if (!trailer) return sidecar;
  sidecar.file = std::move(file);
  sidecar.trailer = *trailer;
  sidecar.state = SidecarState::fresh;
  return sidecar;
}

std::string unused_sidecar(const ByteSource& data) {
  return "the sidecar index " + sidecar_path(data.name()).string() +
         " is damaged or belongs to another state of the file, and was not used; index the file "
         "again to renew it";
}

std::optional<std::uint64_t> find_stray_byte(const Sidecar& sidecar) {
  const ByteSource& file = *sidecar.file;
  const Trailer& trailer = sidecar.trailer;
  std::optional<std::uint64_t> stray;
  const auto compare = [&](std::uint64_t begin, std::uint64_t end, const auto& wanted) {
    const auto bytes = file.bytes(begin, end - begin);
    for (std::uint64_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == wanted(i)) continue;
      stray = begin + i;
      return;
    }
  };
  const auto zero = [](std::uint64_t) { return std::byte{0}; };
  std::uint64_t start = trailer.payload;  // of what was compared
  if (trailer.hints) {
    start -= kHintHeader;
    compare(start, trailer.payload, zero);
  }
  for_each_hint(file, kLine, trailer, [&](std::string_view, const Hint& hint) {
    const auto header = hint_header(hint.bytes);
    start = hint.offset - kHintHeader;
    compare(start, hint.offset, [&](std::uint64_t i) { return header[i]; });
  });
  compare(kLine, start, zero);
  return stray;
}

void require_unchanged(const ByteSource& data, const std::filesystem::path& path) {
  wait_until_changes_show(data.identity());
  if (LocalFile::open(path)->identity() != data.identity()) {
    throw Error(Errc::stale_index, path.string(), std::nullopt,
                "the file changed while it was indexed; index it again");
  }
}

void write_sidecar_of(const std::shared_ptr<ByteSource>& data, const std::filesystem::path& path,
                      const SidecarOptions& options) {
  std::uint64_t body = 0;
  Schema schema = read_header(*data, body);
  Scan found = scan(*data, body, schema, options.progress);
  HintWriter hints;
  if (found.hints.columns) {
    const Hint columns = hint_in(*data, *found.hints.columns);
    const auto content = data->bytes(columns.offset, columns.bytes);
    hints.add_columns({content.begin(), content.end()}, schema.kind);
  }
  found.hints.give(data, schema);
  add_object_hints(schema, hints);
  const std::uint64_t header_hash = xxh3(data->bytes(0, body));
  const Store store(data, std::move(schema), std::move(found.index), kDriver);

  OutputFile out(sidecar_path(path), true);
  out.append(binding_of(*data, body).line(*data));
  if (options.statistics && store.index().size() > 0) {
    hints.add(emit_statistics(store.index(), scan_statistics(store, options.threads)));
  }
  emit_index_apart(store.index(), header_hash, out.appended(), std::move(hints),
                   [&](std::span<const std::byte> bytes) { out.append(bytes); });
  require_unchanged(*data, path);
  out.publish();
}

}  // namespace detail::dbdf

std::filesystem::path sidecar_path(const std::filesystem::path& file) {
  std::filesystem::path path = file;
  path += detail::kSidecarEnding;
  return path;
}

}  // namespace dapple
