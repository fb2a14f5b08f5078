#include "lib/dbdf/sidecar.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/hash.h"

namespace dapple {

namespace detail::dbdf {

namespace {

constexpr char kSidecarEnding[] = ".dpx";
constexpr char kSidecarMagic[9] = "DPL-SIDE";
constexpr std::uint64_t kSidecarVersion = 1;

namespace binding_at {
constexpr std::size_t magic = 0, version = 8, size = 16, mtime = 24, ctime = 32, header = 40,
                      body = 48, hash = 56;
}

// The line in front of the index payload: which file, in which state, the index belongs to.
std::array<std::byte, kLine> make_binding(const MappedFile& data, std::uint64_t body) {
  std::array<std::byte, kLine> line{};
  std::byte* p = line.data();
  std::memcpy(p + binding_at::magic, kSidecarMagic, 8);
  store_le(p + binding_at::version, kSidecarVersion);
  store_le(p + binding_at::size, data.size());
  store_le(p + binding_at::mtime, data.stamp().mtime_ns);
  store_le(p + binding_at::ctime, data.stamp().ctime_ns);
  store_le(p + binding_at::header, xxh3(data.bytes(0, body)));
  store_le(p + binding_at::body, body);
  store_le(p + binding_at::hash, xxh3({p, binding_at::hash}));
  return line;
}

// File systems stamp files with a clock that ticks every few milliseconds. A change in the tick of
// the last one would leave no trace: waits until that tick is over.
void wait_until_changes_show(const FileStamp& stamp) {
  using namespace std::chrono;
  constexpr nanoseconds tick = milliseconds(20);
  const nanoseconds now = system_clock::now().time_since_epoch();
  const nanoseconds age = now - nanoseconds(std::max(stamp.mtime_ns, stamp.ctime_ns));
  if (age < tick) std::this_thread::sleep_for(tick);
}

}  // namespace

Sidecar find_sidecar(const MappedFile& data, std::uint64_t body) {
  Sidecar sidecar;
  if (!data.has_path()) return sidecar;
  // A `path` would be cut into its parts each time, a tenth of what opening costs.
  std::string name = data.name() + kSidecarEnding;
  // One that this user may not read is as if it were not there.
  std::shared_ptr<MappedFile> file = MappedFile::open_if_there(std::move(name), data.guarded());
  if (file == nullptr) return sidecar;
  sidecar.state = SidecarState::stale;
  if (file->size() < kLine) return sidecar;
  const auto expected = make_binding(data, body);
  if (std::memcmp(file->at(0, kLine), expected.data(), kLine) != 0) return sidecar;
  const auto trailer = find_trailer(*file, kLine);
  if (!trailer) return sidecar;
  sidecar.file = std::move(file);
  sidecar.trailer = *trailer;
  sidecar.state = SidecarState::fresh;
  return sidecar;
}

void write_sidecar_of(const MappedFile& data, const std::filesystem::path& path,
                      const TakeProgress& progress) {
  std::uint64_t body = 0;
  const Schema schema = read_header(data, body);
  const BlockIndex index = scan(data, body, schema, progress);

  OutputFile out(sidecar_path(path), true);
  const auto put = [&](std::span<const std::byte> bytes) { out.append(bytes); };
  put(make_binding(data, body));
  emit_index(index, xxh3(data.bytes(0, body)), kLine + index_bytes(index), put);
  wait_until_changes_show(data.stamp());
  if (MappedFile::open(path)->stamp() != data.stamp()) {
    throw Error(Errc::stale_index, path.string(), std::nullopt,
                "expected the file to stay as it is while it is indexed, got a change");
  }
  out.publish();
}

}  // namespace detail::dbdf

std::filesystem::path sidecar_path(const std::filesystem::path& file) {
  std::filesystem::path path = file;
  path += detail::dbdf::kSidecarEnding;
  return path;
}

}  // namespace dapple
