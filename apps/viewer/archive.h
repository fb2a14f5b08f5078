// ZIP archives: named pieces, each deflated and with a checksum. Written by hand because that is
// little, and the library links no other ZIP code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dapple::viewer {

/// A piece as an archive holds it.
struct PackedPiece {
  explicit PackedPiece(std::string_view bytes);

  std::string packed;
  std::size_t size;
  std::uint32_t checksum;
};

class ArchiveWriter {
 public:
  /// REQUIRES at most 65535 pieces of together less than 4 GiB, and names shorter than 64 KiB.
  void add(std::string_view name, const PackedPiece& piece);
  /// The archive's bytes. Call it once.
  std::string finish();

 private:
  std::string out_, directory_;
  std::uint16_t pieces_ = 0;
};

/// An archive as ArchiveWriter makes them; others may not be understood. Any thread.
class Archive {
 public:
  /// Reads the list of pieces. Nothing when the file is no such archive, or is damaged there.
  static std::optional<Archive> open(const std::string& path);

  /// The piece of that name; nothing where there is none, or if it is longer than `most` or
  /// damaged.
  std::optional<std::string> find(std::string_view name, std::size_t most) const;

 private:
  struct Piece {
    std::size_t local, at, packed, size;
    std::uint32_t checksum;
  };
  std::shared_ptr<const int> file_;  // a descriptor, closed with the last copy
  std::map<std::string, Piece, std::less<>> pieces_;
};

}  // namespace dapple::viewer
