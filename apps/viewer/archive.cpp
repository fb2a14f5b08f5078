#include "archive.h"

#include <libdeflate.h>

#include <memory>
#include <new>

namespace dapple::viewer {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22;
constexpr std::uint16_t kZipVersion = 20, kDeflate = 8, kFirstDay = 0x21;  // 1 January 1980

void put(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number & 0xFF);
}

/// A number of a header; zero past the end.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = size; i-- > 0;) {
    const unsigned char byte =
        at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
    number = number << 8 | byte;
  }
  return number;
}

}  // namespace

void ArchiveWriter::add(std::string_view name, std::string_view bytes) {
  constexpr int kLevel = 1;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string packed(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(),
                                            packed.data(), packed.size()));
  std::string about;
  put(about, kZipVersion, 2);
  put(about, 0, 2);  // no flags
  put(about, kDeflate, 2);
  put(about, 0, 2);  // time of day
  put(about, kFirstDay, 2);
  put(about, libdeflate_crc32(0, bytes.data(), bytes.size()), 4);
  put(about, packed.size(), 4);
  put(about, bytes.size(), 4);
  put(about, name.size(), 2);
  put(about, 0, 2);  // no extra field
  put(directory_, kEntry, 4);
  put(directory_, kZipVersion, 2);
  directory_ += about;
  put(directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  put(directory_, out_.size(), 4);
  directory_ += name;
  put(out_, kLocal, 4);
  out_.append(about).append(name).append(packed);
  ++pieces_;
}

std::string ArchiveWriter::finish() {
  const std::size_t at = out_.size();
  out_ += directory_;
  put(out_, kEnd, 4);
  put(out_, 0, 2 + 2);  // disks
  put(out_, pieces_, 2);
  put(out_, pieces_, 2);
  put(out_, directory_.size(), 4);
  put(out_, at, 4);
  put(out_, 0, 2);  // no comment
  return std::move(out_);
}

std::optional<Archive> Archive::parse(std::string bytes) {
  if (bytes.size() < kEndSize) return std::nullopt;
  const std::size_t end = bytes.size() - kEndSize;
  const std::size_t size = number_at(bytes, end + 12, 4), first = number_at(bytes, end + 16, 4);
  if (number_at(bytes, end, 4) != kEnd || first > end || size != end - first) return std::nullopt;
  Archive archive;
  for (std::size_t at = first; at < end;) {
    const std::size_t length = number_at(bytes, at + 28, 2);
    if (end - at < kEntrySize || number_at(bytes, at, 4) != kEntry ||
        end - at - kEntrySize < length || number_at(bytes, at + 10, 2) != kDeflate) {
      return std::nullopt;
    }
    const std::string name = bytes.substr(at + kEntrySize, length);
    const std::size_t local = number_at(bytes, at + 42, 4);
    const Piece piece{local + kLocalSize + length, number_at(bytes, at + 20, 4),
                      number_at(bytes, at + 24, 4), number_at(bytes, at + 16, 4)};
    if (number_at(bytes, local, 4) != kLocal || piece.at > first ||
        first - piece.at < piece.packed) {
      return std::nullopt;
    }
    archive.pieces_.emplace(name, piece);
    at += kEntrySize + length + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  }
  archive.bytes_ = std::move(bytes);
  return archive;
}

std::optional<std::string> Archive::find(std::string_view name, std::size_t most) const {
  const auto found = pieces_.find(name);
  if (found == pieces_.end() || found->second.size > most) return std::nullopt;
  const Piece& piece = found->second;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  std::string out(piece.size, '\0');
  if (libdeflate_deflate_decompress(decompressor.get(), bytes_.data() + piece.at, piece.packed,
                                    out.data(), out.size(), nullptr) != LIBDEFLATE_SUCCESS ||
      libdeflate_crc32(0, out.data(), out.size()) != piece.checksum) {
    return std::nullopt;
  }
  return out;
}

}  // namespace dapple::viewer
