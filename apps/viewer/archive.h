// ZIP archives, whole in memory: named pieces, each deflated and with a checksum. Written by hand
// because that is little, and the library links no other ZIP code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dapple::viewer {

class ArchiveWriter {
 public:
  /// REQUIRES at most 65535 pieces of together less than 4 GiB, and names shorter than 64 KiB.
  void add(std::string_view name, std::string_view bytes);
  /// The archive's bytes. Call it once.
  std::string finish();

 private:
  std::string out_, directory_;
  std::uint16_t pieces_ = 0;
};

/// An archive as ArchiveWriter makes them; others may not be understood. Any thread.
class Archive {
 public:
  /// Nothing when it is not such an archive, or damaged where its pieces are listed.
  static std::optional<Archive> parse(std::string bytes);

  /// The piece of that name; nothing where there is none, or if it is longer than `most` or
  /// damaged.
  std::optional<std::string> find(std::string_view name, std::size_t most) const;

 private:
  struct Piece {
    std::size_t at, packed, size;
    std::uint32_t checksum;
  };
  std::string bytes_;
  std::map<std::string, Piece, std::less<>> pieces_;
};

}  // namespace dapple::viewer
