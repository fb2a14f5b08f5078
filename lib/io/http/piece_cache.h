// Pieces of objects on servers, kept in files of this machine for all its processes: a page cache
// for what is far away.
//
// An object has two files in the folder, named by its address and version: FILE.pieces, as large as
// the object and sparse, and FILE.hashes, with eight bytes for each piece: its hash, or zero. A
// piece is written before its hash, and compared with it whenever it is read. So a process that is
// killed, two that write the same piece, a hole that another one punches and a disk that lost power
// make a piece that is not there, never a wrong one. No lock, and no map: a full disk would be a
// signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "lib/io/descriptor.h"

namespace dapple::detail::http {

/// A folder for pieces, and how many bytes they may take there.
struct CacheFolder {
  std::filesystem::path path;
  std::uint64_t most_bytes = 0;
};

/// Any thread, any number of processes. What goes wrong here is as if nothing were kept.
class PieceCache {
 public:
  static constexpr std::uint64_t kPiece = 64 << 10;

  /// For the object at `address`, of this `version`, with `size` bytes. Makes
  /// the folder, which only its user may read. Throws io.
  PieceCache(CacheFolder folder, const std::string& address, const std::string& version,
             std::uint64_t size);

  /// Reads a piece, the last one of which may be short. False when it is not kept.
  bool read(std::uint64_t piece, std::span<std::byte> to) const noexcept;
  void write(std::uint64_t piece, std::span<const std::byte> bytes) const noexcept;

  /// The version of what `address` had when that was last asked for, at most a minute ago.
  static std::optional<std::string> seen(const CacheFolder& folder, const std::string& address);
  static void see(const CacheFolder& folder, const std::string& address,
                  const std::string& version) noexcept;
  static void forget(const CacheFolder& folder, const std::string& address) noexcept;

 private:
  void make_room() const noexcept;
  void punch(std::uint64_t bytes) const noexcept;

  CacheFolder folder_;
  std::string name_;
  std::uint64_t size_;
  Descriptor pieces_, hashes_;
};

}  // namespace dapple::detail::http
