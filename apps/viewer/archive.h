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

/// What an archive says of a piece, in bytes.
struct PieceSizes {
  std::size_t packed, size;
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

/// An archive as ArchiveWriter makes them; others are not understood. Any thread.
class Archive {
 public:
  /// Reads the list of pieces. Nothing when the file is no such archive, or is damaged there: then
  /// `fault` is where the entry starts that contradicts those before it.
  static std::optional<Archive> open(const std::string& path, std::size_t& fault);

  /// The piece of that name; nothing where there is none, or if it is longer than `most` or
  /// damaged.
  std::optional<std::string> find(std::string_view name, std::size_t most) const;

  /// Reads every piece, and returns where the first one starts that `find` would not give.
  std::optional<std::size_t> find_fault(std::size_t most) const;

 private:
  struct Piece {
    std::size_t at;
    PieceSizes sizes;
  };
  std::optional<std::string> read(std::string_view name, const Piece& piece,
                                  std::size_t most) const;

  std::shared_ptr<const int> file_;  // a descriptor, closed with the last copy
  std::map<std::string, Piece, std::less<>> pieces_;
};

}  // namespace dapple::viewer
