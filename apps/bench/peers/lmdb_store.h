// LMDB as a store of tiles: one value per tile, found by the tile's number.
//
// Tuned: integer keys in ascending order appended by one transaction, so that pages are full;
// MDB_NORDAHEAD is not set (random reads of a file in memory); read-only, without locks; one read
// transaction for all fetches of a run. A value is used in place, in LMDB's own map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace dapple::bench {

/// False when dapple-bench was built without LMDB: then nothing else here may be used.
inline constexpr bool kHasLmdb = DAPPLE_BENCH_LMDB;

/// "0.9.24".
std::string lmdb_version();

class LmdbMaker {
 public:
  enum class Sync : std::uint8_t { no, yes };

  /// `room` bytes are more than the file will have.
  LmdbMaker(const std::filesystem::path& path, std::uint64_t room, Sync sync = Sync::yes);
  ~LmdbMaker();
  void append(std::uint64_t key, std::span<const std::byte> value);
  /// Commits, and cuts off the room that was not used. Nothing may be appended afterwards.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class LmdbStore {
 public:
  explicit LmdbStore(const std::filesystem::path& path);
  ~LmdbStore();

  /// A read transaction, for one thread.
  class Reader {
   public:
    explicit Reader(const LmdbStore& store);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// The value of `key`, in place; throws std::runtime_error when there is none.
    const std::byte* find(std::uint64_t key) const;

   private:
    void* transaction_;
    unsigned table_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dapple::bench
