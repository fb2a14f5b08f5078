// Pieces of far objects that are kept on this machine: what is read is what was written, or
// nothing.

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "lib/io/piece_cache.h"
#include "tests/check.h"
#include "tests/support.h"

using dapple::detail::CacheFolder;
using dapple::detail::PieceCache;
using dapple::test::TempDir;

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

/// The bytes of a piece, if it is kept.
std::optional<std::vector<std::byte>> read(const PieceCache& cache, std::uint64_t number,
                                           std::size_t size = kPiece) {
  const auto held = cache.hold(number * kPiece, size);
  if (held.keep == nullptr) return std::nullopt;
  return std::vector<std::byte>(held.bytes.begin(), held.bytes.end());
}

void write(const PieceCache& cache, std::uint64_t number, const std::vector<std::byte>& bytes) {
  cache.write(number * kPiece, bytes);
}

/// How many pieces of an object are kept. Each has to be right.
std::uint64_t count_kept(const PieceCache& cache, std::uint64_t object, std::uint64_t pieces) {
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const auto bytes = read(cache, i);
    if (!bytes) continue;
    CHECK(*bytes == piece_of(object, i));
    ++kept;
  }
  return kept;
}

}  // namespace

TEST_CASE("piece cache: another one for the same version reads what was written, others nothing") {
  const TempDir dir;
  const CacheFolder folder{dir / "cache", 1 << 30};
  const std::uint64_t size = 2 * kPiece + 100;
  const PieceCache writer(folder, "http://a/x version 1", size);
  write(writer, 1, piece_of(0, 1));
  write(writer, 2, piece_of(0, 2, 100));
  const PieceCache reader(folder, "http://a/x version 1", size);
  CHECK(!read(reader, 0));
  CHECK(read(reader, 1) == piece_of(0, 1));
  CHECK(read(reader, 2, 100) == piece_of(0, 2, 100));
  CHECK(!reader.will_need({kPiece - 1, size}));
  CHECK(reader.will_need({kPiece, size}));
  CHECK(!read(PieceCache(folder, "http://a/x version 2", size), 1));
  CHECK(!read(PieceCache(folder, "http://a/y version 1", size), 1));
}

TEST_CASE("piece cache: a folder that it makes is its user's alone, others stay as they are") {
  namespace fs = std::filesystem;
  const TempDir dir;
  fs::create_directory(dir / "old");
  const fs::perms old = fs::status(dir / "old").permissions();
  for (const char* const name : {"a/new", "b/new/", "old"}) {
    PieceCache(CacheFolder{dir / name, 1 << 30}, "x", kPiece);
  }
  CHECK(fs::status(dir / "a/new").permissions() == fs::perms::owner_all);
  CHECK(fs::status(dir / "b/new").permissions() == fs::perms::owner_all);
  CHECK(fs::status(dir / "old").permissions() == old);
}

TEST_CASE("piece cache: bytes of several pieces are there if all pieces are") {
  const TempDir dir;
  const CacheFolder folder{dir.path(), 1 << 30};
  const PieceCache cache(folder, "x", 4 * kPiece);
  auto both = piece_of(0, 1);
  const auto second = piece_of(0, 2);
  both.insert(both.end(), second.begin(), second.end());
  cache.write(kPiece, both);
  const auto held = cache.hold(kPiece + 10, kPiece);
  REQUIRE(held.keep != nullptr);
  CHECK(std::equal(held.bytes.begin(), held.bytes.end(), both.begin() + 10));
  CHECK(cache.hold(kPiece - 1, 10).keep == nullptr);
  CHECK(cache.hold(3 * kPiece - 1, 2).keep == nullptr);
}

TEST_CASE("piece cache: a damaged piece is not there until it is written again") {
  const TempDir dir;
  const CacheFolder folder{dir.path(), 1 << 30};
  write(PieceCache(folder, "x", 2 * kPiece), 0, piece_of(0, 0));
  for (const auto& file : std::filesystem::directory_iterator(dir.path())) {
    std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(77).put('!');
  }
  const PieceCache cache(folder, "x", 2 * kPiece);
  CHECK(!read(cache, 0));
  write(cache, 0, piece_of(0, 0));
  CHECK(read(cache, 0) == piece_of(0, 0));
}

TEST_CASE("piece cache: the folder stays within its bound, and what is held stays as it is") {
  const TempDir dir;
  constexpr std::uint64_t kPieces = 200, kMost = 40 * kPiece;
  const CacheFolder folder{dir.path(), kMost};
  for (std::uint64_t object = 0; object < 4; ++object) {
    const PieceCache cache(folder, "http://a/" + std::to_string(object), kPieces * kPiece);
    std::vector<dapple::detail::HeldBytes> held;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      write(cache, i, piece_of(object, i));
      held.push_back(cache.hold(i * kPiece, kPiece));
      CHECK(taken(dir.path()) < 5 * kMost);  // looked at now and then, not for each piece
    }
    const std::uint64_t kept = count_kept(cache, object, kPieces);
    CHECK(kept > 0);
    CHECK(kept < kPieces);
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      if (held[i].keep == nullptr) continue;
      const auto right = piece_of(object, i);
      CHECK(std::equal(right.begin(), right.end(), held[i].bytes.begin()));
    }
  }
}

TEST_CASE("piece cache: what addresses had makes room, too") {
  const TempDir dir;
  constexpr std::uint64_t kPieces = 200, kAddresses = 1000, kMost = 4 * kPiece;
  const CacheFolder folder{dir.path(), kMost};
  for (std::uint64_t i = 0; i < kAddresses; ++i) {
    PieceCache::see(folder, "http://a/" + std::to_string(i), "12\n\"tag\"\n");
  }
  CHECK(taken(dir.path()) > 2 * kMost);
  dapple::test::write_text(dir / "left.new", "of a process that died");
  std::filesystem::last_write_time(
      dir / "left.new", std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const PieceCache cache(folder, "http://a/0", kPieces * kPiece);
  const auto few = [&] { return dir.names().size() < kAddresses; };
  for (std::uint64_t i = 0; i < kPieces && !few(); ++i) write(cache, i, piece_of(0, i));
  CHECK(few());
  CHECK(!std::filesystem::exists(dir / "left.new"));
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
  const auto error = dapple::test::error_of([&] {
    PieceCache({dir / "file", 1 << 20}, "x", kPiece);
  });
  REQUIRE(error);
  CHECK(error->code() == dapple::Errc::io);
}
