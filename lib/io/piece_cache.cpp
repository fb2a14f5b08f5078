#include "lib/io/piece_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/io/range_set.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

namespace fs = std::filesystem;

constexpr char kPieces[] = ".pieces", kSeen[] = ".seen", kNew[] = ".new";
constexpr std::chrono::seconds kFresh{60};
constexpr std::uint64_t kBlock = 512;  // of st_blocks
constexpr std::size_t kHashBytes = 8;

/// The pieces that have some of these bytes.
constexpr Range pieces_of(const Range& bytes) {
  return {bytes.begin / PieceCache::kPiece,
          (bytes.end + PieceCache::kPiece - 1) / PieceCache::kPiece};
}

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

/// The hash of a piece, which is never zero.
std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept { return xxh3(bytes) | 1; }

}  // namespace

/// The pieces as this process has them open.
struct PieceCache::File {
  std::shared_ptr<const LocalFile> local;
  std::uint64_t hashes;  // where they start
  std::mutex mutex;      // guards what follows
  RangeSet compared;     // pieces

  /// Throws io.
  std::vector<std::uint64_t> hashes_of(const Range& pieces) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(pieces.size() * kHashBytes));
    local->read_at(hashes + pieces.begin * kHashBytes, bytes);
    std::vector<std::uint64_t> found(static_cast<std::size_t>(pieces.size()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = load_le<std::uint64_t>(bytes.data() + i * kHashBytes);
    }
    return found;
  }
};

PieceCache::PieceCache(CacheFolder folder, const std::string& object, std::uint64_t size)
    : folder_(std::move(folder)), name_(name_of(object) + kPieces), size_(size) {
  std::error_code failed;
  const bool made = fs::create_directories(folder_.path, failed);
  if (made && !failed) fs::permissions(folder_.path, fs::perms::owner_all, failed);
  if (failed) throw_io(folder_.path, "make", failed.value());
  file_ = open_file();
}

PieceCache::~PieceCache() = default;

std::shared_ptr<PieceCache::File> PieceCache::open_file() const {
  Descriptor fd = open_own(folder_.path / name_);
  ::futimens(fd.get(), nullptr);  // those used longest ago make room first
  const std::uint64_t pieces = pieces_of({0, size_}).end;
  auto made = std::make_shared<File>();
  made->hashes = pieces * kPiece;
  if (::ftruncate(fd.get(), static_cast<off_t>(made->hashes + pieces * kHashBytes)) != 0) {
    throw_io(folder_.path, "make a file in", errno);
  }
  const auto local = LocalFile::adopt_unnamed(std::move(fd), name_);
  local->expect_reads();
  made->local = local;
  return made;
}

std::shared_ptr<PieceCache::File> PieceCache::file() const {
  const std::lock_guard lock(mutex_);
  return file_;
}

HeldBytes PieceCache::hold(std::uint64_t offset, std::uint64_t n) const noexcept {
  try {
    const auto file = this->file();
    std::vector<Range> gaps;
    {
      const std::lock_guard lock(file->mutex);
      gaps = file->compared.missing(pieces_of({offset, offset + n}));
    }
    for (const Range& gap : gaps) {
      const std::vector<std::uint64_t> hashes = file->hashes_of(gap);
      for (std::uint64_t i = 0; i < gap.size(); ++i) {
        // Where there is no hash there may be nothing: touching that could be a signal.
        const std::uint64_t at = (gap.begin + i) * kPiece;
        if (hashes[i] == 0 ||
            hash_of(file->local->bytes(at, std::min(kPiece, size_ - at))) != hashes[i]) {
          return {};
        }
      }
      const std::lock_guard lock(file->mutex);
      file->compared.add(gap);
    }
    return {file->local->bytes(offset, n), file};
  } catch (const std::exception&) {
    return {};
  }
}

bool PieceCache::will_need(const Range& range) const noexcept {
  try {
    const auto file = this->file();
    const std::vector<std::uint64_t> hashes = file->hashes_of(pieces_of(range));
    if (std::find(hashes.begin(), hashes.end(), 0) != hashes.end()) return false;
    file->local->will_need({&range, 1});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void PieceCache::write(std::uint64_t offset, std::span<const std::byte> pieces) const noexcept {
  constexpr std::uint64_t kBetweenLooks = 64;  // pieces
  try {
    std::vector<std::byte> hashes;
    bool looks = false;
    for (auto left = pieces; !left.empty();) {
      const auto piece = left.first(std::min<std::size_t>(kPiece, left.size()));
      const std::uint64_t hash = hash_of(piece);
      looks |= hash / 2 % kBetweenLooks == 0;
      hashes.resize(hashes.size() + kHashBytes);
      store_le(hashes.data() + hashes.size() - kHashBytes, hash);
      left = left.subspan(piece.size());
    }
    if (looks) make_room();
    const auto file = this->file();
    const int fd = file->local->descriptor();
    if (!write_all(fd, offset, pieces)) return;
    write_all(fd, file->hashes + offset / kPiece * kHashBytes, hashes);
  } catch (const std::exception&) {
  }
}

/// Removes what was used longest ago while the folder is too full. If this one was
/// removed, here or by another process, it starts anew: then it is too large for the folder.
void PieceCache::make_room() const noexcept {
  struct Kept {
    timespec used;
    std::uint64_t bytes;
    fs::path path;
  };
  try {
    std::vector<Kept> all;
    std::uint64_t total = 0;
    for (const auto& file : fs::directory_iterator(folder_.path)) {
      const fs::path kind = file.path().extension();
      struct stat about {};
      const bool own = kind == kPieces || kind == kSeen || kind == kNew;
      if (!own || ::stat(file.path().c_str(), &about) != 0) continue;
      all.push_back(
          {about.st_mtim, static_cast<std::uint64_t>(about.st_blocks) * kBlock, file.path()});
      total += all.back().bytes;
    }
    std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    const std::uint64_t goal = folder_.most_bytes - folder_.most_bytes / 8;
    if (total > folder_.most_bytes) {
      for (const Kept& kept : all) {
        if (total <= goal) break;
        std::error_code ignored;
        fs::remove(kept.path, ignored);
        total -= std::min(total, kept.bytes);
      }
    }
    const std::lock_guard lock(mutex_);
    struct stat about {};
    const bool removed = ::fstat(file_->local->descriptor(), &about) == 0 && about.st_nlink == 0;
    if (removed) file_ = open_file();
  } catch (const std::exception&) {  // the next look may do better
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
    const fs::path fresh = folder.path / (name_of(address + version) + kNew);
    const Descriptor fd = open_own(fresh);
    const bool whole =
        ::ftruncate(fd.get(), 0) == 0 && write_all(fd.get(), 0, std::as_bytes(std::span(version)));
    std::error_code ignored;
    if (whole) fs::rename(fresh, path, ignored);
  } catch (const std::exception&) {
  }
}

void PieceCache::forget(const CacheFolder& folder, const std::string& address) noexcept {
  if (folder.path.empty()) return;
  std::error_code ignored;
  fs::remove(folder.path / (name_of(address) + kSeen), ignored);
}

}  // namespace dapple::detail
