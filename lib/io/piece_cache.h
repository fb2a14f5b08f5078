// Pieces of objects far away, kept in files of this machine for all its processes: a page cache for
// what is far away.
//
// An object has one file in the folder, named by its address and version: FILE.pieces, sparse, with
// its bytes at their places, and then eight bytes for each piece: its hash, or zero. Pieces are
// read in a map, but written by system calls: a full disk is an error there, and would be a signal
// in a map. A piece is written before its hash, and compared with it before a process uses it the
// first time. What is kept stays as it is: no holes are punched, since somebody may be reading; a
// file that has to make room is removed as a whole, and whoever has it mapped keeps it. So a
// process that is killed, two that write the same piece, and a disk that lost power make a piece
// that is not there, never a wrong one. No lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "dapple/region.h"
#include "lib/io/held_bytes.h"

namespace dapple::detail {

/// A folder for pieces, and how many bytes they may take there. Without a path nothing is kept.
struct CacheFolder {
  std::filesystem::path path;
  std::uint64_t most_bytes = 0;
};

/// Any thread, any number of processes. What goes wrong here is as if nothing were kept.
class PieceCache {
 public:
  static constexpr std::uint64_t kPiece = 64 << 10;

  /// For the object that `object` names, and no other nor any other version, with `size` bytes.
  /// Makes the folder, which only its user may read. Throws io. REQUIRES a size above 0.
  PieceCache(CacheFolder folder, const std::string& object, std::uint64_t size);
  ~PieceCache();

  /// Bytes of the object, in the map; without a `keep` where some of them are not kept. REQUIRES
  /// that they are inside of it.
  HeldBytes hold(std::uint64_t offset, std::uint64_t n) const noexcept;
  /// True when these bytes are kept, as far as can be told without looking at them: then the system
  /// loads them.
  bool will_need(const Range& range) const noexcept;
  /// Keeps pieces in a row, of which the last one of the object may be short. REQUIRES whole ones.
  void write(std::uint64_t offset, std::span<const std::byte> pieces) const noexcept;

  /// The version of what `address` had when that was last asked for, at most a minute ago.
  static std::optional<std::string> seen(const CacheFolder& folder, const std::string& address);
  static void see(const CacheFolder& folder, const std::string& address,
                  const std::string& version) noexcept;
  static void forget(const CacheFolder& folder, const std::string& address) noexcept;

 private:
  struct File;
  std::shared_ptr<File> open_file() const;
  std::shared_ptr<File> file() const;
  void make_room() const noexcept;

  CacheFolder folder_;
  std::string name_;
  std::uint64_t size_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::shared_ptr<File> file_;
};

}  // namespace dapple::detail
