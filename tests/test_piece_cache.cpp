// Pieces of far objects that are kept on this machine: what is read is what was written, or
// nothing.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "lib/io/http/piece_cache.h"
#include "tests/support.h"

using dapple::detail::http::CacheFolder;
using dapple::detail::http::PieceCache;
using test::TempDir;

namespace {

constexpr std::uint64_t kPiece = PieceCache::kPiece;

std::vector<std::byte> piece_of(std::uint64_t object, std::uint64_t number,
                                std::size_t size = kPiece) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((object * 31 + number * 7 + i * i) % 251);
  }
  return bytes;
}

/// Bytes that the pieces in a folder take on disk.
std::uint64_t taken(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    struct stat about {};
    if (::stat(file.path().c_str(), &about) == 0) {
      bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
    }
  }
  return bytes;
}

/// How many pieces of an object are kept. Each has to be right.
std::uint64_t count_kept(const PieceCache& cache, std::uint64_t object, std::uint64_t pieces) {
  std::uint64_t kept = 0;
  std::vector<std::byte> bytes(kPiece);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (!cache.read(i, bytes)) continue;
    CHECK(bytes == piece_of(object, i));
    ++kept;
  }
  return kept;
}

}  // namespace

TEST_CASE("piece cache: another one for the same version reads what was written, others nothing") {
  const TempDir dir;
  const CacheFolder folder{dir / "cache", 1 << 30};
  const std::uint64_t size = 2 * kPiece + 100;
  const PieceCache writer(folder, "http://a/x", "version 1", size);
  writer.write(1, piece_of(0, 1));
  writer.write(2, piece_of(0, 2, 100));
  const PieceCache reader(folder, "http://a/x", "version 1", size);
  std::vector<std::byte> whole(kPiece), last(100);
  CHECK(!reader.read(0, whole));
  CHECK(reader.read(1, whole));
  CHECK(whole == piece_of(0, 1));
  CHECK(reader.read(2, last));
  CHECK(last == piece_of(0, 2, 100));
  CHECK(!PieceCache(folder, "http://a/x", "version 2", size).read(1, whole));
  CHECK(!PieceCache(folder, "http://a/y", "version 1", size).read(1, whole));
}

TEST_CASE("piece cache: the folder stays within its bound, and the last object in use is kept") {
  const TempDir dir;
  constexpr std::uint64_t kPieces = 200, kMost = 40 * kPiece;
  const CacheFolder folder{dir.path(), kMost};
  for (std::uint64_t object = 0; object < 4; ++object) {
    const PieceCache cache(folder, "http://a/" + std::to_string(object), "", kPieces * kPiece);
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      cache.write(i, piece_of(object, i));
      CHECK(taken(dir.path()) < 5 * kMost);  // looked at now and then, not for each piece
    }
    const std::uint64_t kept = count_kept(cache, object, kPieces);
    CHECK(kept > 0);
    CHECK(kept < kPieces);
  }
}

TEST_CASE("piece cache: what an address had is remembered, and forgotten") {
  const TempDir dir;
  const CacheFolder folder{dir.path(), 1 << 20};
  CHECK(!PieceCache::seen(folder, "http://a/x"));
  PieceCache::see(folder, "http://a/x", "12\n\"tag\"\n");
  CHECK(PieceCache::seen(folder, "http://a/x") == "12\n\"tag\"\n");
  CHECK(!PieceCache::seen(folder, "http://a/y"));
  PieceCache::forget(folder, "http://a/x");
  CHECK(!PieceCache::seen(folder, "http://a/x"));
  PieceCache::see(folder, "http://a/x", "an hour ago");
  for (const auto& file : std::filesystem::directory_iterator(dir.path())) {
    std::filesystem::last_write_time(
        file.path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  CHECK(!PieceCache::seen(folder, "http://a/x"));
}

TEST_CASE("piece cache: a folder that is none is refused") {
  const TempDir dir;
  std::ofstream(dir / "file") << "x";
  const auto error = test::error_of([&] {
    PieceCache({dir / "file", 1 << 20}, "http://a/x", "", kPiece);
  });
  REQUIRE(error);
  CHECK(error->code() == dapple::Errc::io);
}
