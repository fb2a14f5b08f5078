#include "lib/io/http/piece_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/io/byte_source.h"
#include "lib/io/hash.h"
#include "lib/io/temporary.h"

namespace dapple::detail::http {

namespace {

namespace fs = std::filesystem;

constexpr char kPieces[] = ".pieces", kHashes[] = ".hashes", kSeen[] = ".seen";
constexpr std::chrono::seconds kFresh{60};
constexpr std::uint64_t kBlock = 512;  // of st_blocks

std::string name_of(const std::string& text) {
  std::array<char, 33> name{};
  const auto bytes = std::as_bytes(std::span(text));
  std::snprintf(name.data(), name.size(), "%016llx%016llx",
                static_cast<unsigned long long>(xxh3(bytes)),
                static_cast<unsigned long long>(xxh3(bytes, 1)));
  return name.data();
}

Descriptor open_own(const fs::path& path) {
  Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) throw_io(path, "open", errno);
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0 || about.st_uid != ::geteuid()) throw_io(path, "use", EPERM);
  return fd;
}

bool read_all(int fd, std::uint64_t offset, std::span<std::byte> to) noexcept {
  while (!to.empty()) {
    const ssize_t n = ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    offset += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

/// The hash of a piece, which is never zero.
std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept { return xxh3(bytes) | 1; }

}  // namespace

PieceCache::PieceCache(CacheFolder folder, const std::string& address, const std::string& version,
                       std::uint64_t size)
    : folder_(std::move(folder)), name_(name_of(address + '\n' + version)), size_(size) {
  std::error_code failed;
  fs::create_directories(folder_.path, failed);
  if (failed) throw_io(folder_.path, "make", failed.value());
  pieces_ = open_own(folder_.path / (name_ + kPieces));
  hashes_ = open_own(folder_.path / (name_ + kHashes));
  ::futimens(pieces_.get(), nullptr);  // those used longest ago make room first
  if (::ftruncate(pieces_.get(), static_cast<off_t>(size)) != 0) {
    throw_io(folder_.path, "make a file in", errno);
  }
}

bool PieceCache::read(std::uint64_t piece, std::span<std::byte> to) const noexcept {
  std::array<std::byte, 8> hash{};
  return read_all(hashes_.get(), piece * hash.size(), hash) &&
         load_le<std::uint64_t>(hash.data()) != 0 && read_all(pieces_.get(), piece * kPiece, to) &&
         hash_of(to) == load_le<std::uint64_t>(hash.data());
}

void PieceCache::write(std::uint64_t piece, std::span<const std::byte> bytes) const noexcept {
  constexpr std::uint64_t kBetweenLooks = 64;  // pieces
  if (hash_of(bytes) % kBetweenLooks < 2) make_room();
  std::array<std::byte, 8> hash{};
  store_le(hash.data(), hash_of(bytes));
  if (!write_all(pieces_.get(), piece * kPiece, bytes)) return;
  write_all(hashes_.get(), piece * hash.size(), hash);
}

/// Removes the objects that were used longest ago, and then pieces of this one, while the folder is
/// too full. What other processes have open they keep until they close it.
void PieceCache::make_room() const noexcept {
  struct Kept {
    timespec used;
    std::uint64_t bytes;
    fs::path path;
  };
  try {
    std::vector<Kept> others;
    std::uint64_t total = 0;
    for (const auto& file : fs::directory_iterator(folder_.path)) {
      struct stat about {};
      if (file.path().extension() != kPieces || ::stat(file.path().c_str(), &about) != 0) continue;
      const std::uint64_t bytes = static_cast<std::uint64_t>(about.st_blocks) * kBlock;
      total += bytes;
      if (file.path().stem() != name_) others.push_back({about.st_mtim, bytes, file.path()});
    }
    std::sort(others.begin(), others.end(), [](const Kept& a, const Kept& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    const std::uint64_t goal = folder_.most_bytes - folder_.most_bytes / 8;
    if (total <= folder_.most_bytes) return;
    for (const Kept& kept : others) {
      if (total <= goal) return;
      std::error_code ignored;
      fs::remove(fs::path(kept.path).replace_extension(kHashes), ignored);
      fs::remove(kept.path, ignored);
      total -= std::min(total, kept.bytes);
    }
    if (total > goal) punch(total - goal);
  } catch (const std::exception&) {  // the next look may do better
  }
}

/// Gives back about so many bytes of pieces, from a place that differs from time to time.
void PieceCache::punch(std::uint64_t bytes) const noexcept {
  const std::uint64_t pieces = (size_ + kPiece - 1) / kPiece;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t piece = static_cast<std::uint64_t>(now) % pieces;
  constexpr std::array<std::byte, 8> kNone{};
  for (std::uint64_t n = 0; n < pieces && bytes > 0; ++n, piece = (piece + 1) % pieces) {
    std::array<std::byte, 8> hash{};
    if (!read_all(hashes_.get(), piece * hash.size(), hash) || hash == kNone) continue;
    write_all(hashes_.get(), piece * kNone.size(), kNone);
    ::fallocate(pieces_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(piece * kPiece), static_cast<off_t>(kPiece));
    bytes -= std::min(bytes, kPiece);
  }
}

std::optional<std::string> PieceCache::seen(const CacheFolder& folder, const std::string& address) {
  const fs::path path = folder.path / (name_of(address) + kSeen);
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || about.st_uid != ::geteuid()) return std::nullopt;
  const auto age = std::chrono::system_clock::now() -
                   std::chrono::system_clock::from_time_t(about.st_mtim.tv_sec);
  if (age < -kFresh || age > kFresh) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string version{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) return std::nullopt;
  return version;
}

void PieceCache::see(const CacheFolder& folder, const std::string& address,
                     const std::string& version) noexcept {
  try {
    const fs::path path = folder.path / (name_of(address) + kSeen);
    const fs::path fresh = folder.path / (name_of(address + version) + ".new");
    const Descriptor fd = open_own(fresh);
    const bool whole =
        ::ftruncate(fd.get(), 0) == 0 && write_all(fd.get(), 0, std::as_bytes(std::span(version)));
    std::error_code ignored;
    if (whole) fs::rename(fresh, path, ignored);
  } catch (const std::exception&) {
  }
}

void PieceCache::forget(const CacheFolder& folder, const std::string& address) noexcept {
  std::error_code ignored;
  fs::remove(folder.path / (name_of(address) + kSeen), ignored);
}

}  // namespace dapple::detail::http
