#include "archive.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>

namespace dapple::viewer {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22;
constexpr std::uint16_t kZipVersion = 20, kDeflate = 8, kFirstDay = 0x21;  // 1 January 1980
// Of a list of 65535 pieces with names like ours; a file could claim any size.
constexpr std::size_t kMostDirectory = std::size_t{8} << 20;

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

/// So many bytes of the file, or nothing.
std::optional<std::string> read_at(int file, std::size_t at, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t n =
        ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace

PackedPiece::PackedPiece(std::string_view bytes)
    : size(bytes.size()), checksum(libdeflate_crc32(0, bytes.data(), bytes.size())) {
  constexpr int kLevel = 1;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  packed.resize(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()));
  packed.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(),
                                            packed.data(), packed.size()));
}

void ArchiveWriter::add(std::string_view name, const PackedPiece& piece) {
  std::string about;
  put(about, kZipVersion, 2);
  put(about, 0, 2);  // no flags
  put(about, kDeflate, 2);
  put(about, 0, 2);  // time of day
  put(about, kFirstDay, 2);
  put(about, piece.checksum, 4);
  put(about, piece.packed.size(), 4);
  put(about, piece.size, 4);
  put(about, name.size(), 2);
  put(about, 0, 2);  // no extra field
  put(directory_, kEntry, 4);
  put(directory_, kZipVersion, 2);
  directory_ += about;
  put(directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  put(directory_, out_.size(), 4);
  directory_ += name;
  put(out_, kLocal, 4);
  out_.append(about).append(name).append(piece.packed);
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

std::optional<Archive> Archive::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  Archive archive;
  archive.file_ = std::shared_ptr<const int>(new int(file), [](const int* open) {
    ::close(*open);
    delete open;
  });
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < kEndSize) return std::nullopt;
  const std::size_t end = bytes - kEndSize;
  const auto tail = read_at(file, end, kEndSize);
  if (!tail) return std::nullopt;
  const std::size_t size = number_at(*tail, 12, 4), first = number_at(*tail, 16, 4);
  if (number_at(*tail, 0, 4) != kEnd || first > end || size != end - first ||
      size > kMostDirectory) {
    return std::nullopt;
  }
  const auto directory = read_at(file, first, size);
  if (!directory) return std::nullopt;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = number_at(*directory, at + 28, 2);
    if (size - at < kEntrySize || number_at(*directory, at, 4) != kEntry ||
        size - at - kEntrySize < length || number_at(*directory, at + 10, 2) != kDeflate) {
      return std::nullopt;
    }
    const std::size_t local = number_at(*directory, at + 42, 4);
    const Piece piece{local, local + kLocalSize + length, number_at(*directory, at + 20, 4),
                      number_at(*directory, at + 24, 4), number_at(*directory, at + 16, 4)};
    if (piece.at > first || first - piece.at < piece.packed) return std::nullopt;
    archive.pieces_.emplace(directory->substr(at + kEntrySize, length), piece);
    at +=
        kEntrySize + length + number_at(*directory, at + 30, 2) + number_at(*directory, at + 32, 2);
  }
  return archive;
}

std::optional<std::string> Archive::find(std::string_view name, std::size_t most) const {
  const auto found = pieces_.find(name);
  if (found == pieces_.end() || found->second.size > most) return std::nullopt;
  const Piece& piece = found->second;
  const std::size_t head = piece.at - piece.local;
  const auto bytes = read_at(*file_, piece.local, head + piece.packed);
  if (!bytes || number_at(*bytes, 0, 4) != kLocal) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  std::string out(piece.size, '\0');
  if (libdeflate_deflate_decompress(decompressor.get(), bytes->data() + head, piece.packed,
                                    out.data(), out.size(), nullptr) != LIBDEFLATE_SUCCESS ||
      libdeflate_crc32(0, out.data(), out.size()) != piece.checksum) {
    return std::nullopt;
  }
  return out;
}

}  // namespace dapple::viewer
