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

/// What the archive says of a piece, both in front of it and in its list.
std::string piece_header(std::string_view name, const PieceSizes& piece) {
  std::string about;
  put(about, kZipVersion, 2);
  put(about, 0, 2);  // no flags
  put(about, kDeflate, 2);
  put(about, 0, 2);  // time of day
  put(about, kFirstDay, 2);
  put(about, piece.checksum, 4);
  put(about, piece.packed, 4);
  put(about, piece.size, 4);
  put(about, name.size(), 2);
  put(about, 0, 2);  // no extra field
  return about;
}

/// What is in front of a piece.
std::string local_header(std::string_view name, const PieceSizes& piece) {
  std::string bytes;
  put(bytes, kLocal, 4);
  return bytes.append(piece_header(name, piece)).append(name);
}

/// What the list has of a piece whose header is at `at`.
std::string list_entry(std::string_view name, const PieceSizes& piece, std::size_t at) {
  std::string bytes;
  put(bytes, kEntry, 4);
  put(bytes, kZipVersion, 2);
  bytes += piece_header(name, piece);
  put(bytes, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  put(bytes, at, 4);
  return bytes.append(name);
}

/// The end of an archive whose list of that many pieces is at `at`.
std::string end_record(std::size_t pieces, std::size_t size, std::size_t at) {
  std::string bytes;
  put(bytes, kEnd, 4);
  put(bytes, 0, 2 + 2);  // disks
  put(bytes, pieces, 2);
  put(bytes, pieces, 2);
  put(bytes, size, 4);
  put(bytes, at, 4);
  put(bytes, 0, 2);  // no comment
  return bytes;
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

/// That many bytes of the file, or nothing.
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
  const PieceSizes sizes{piece.packed.size(), piece.size, piece.checksum};
  directory_ += list_entry(name, sizes, out_.size());
  out_.append(local_header(name, sizes)).append(piece.packed);
  ++pieces_;
}

std::string ArchiveWriter::finish() {
  const std::size_t at = out_.size();
  out_ += directory_;
  out_ += end_record(pieces_, directory_.size(), at);
  return std::move(out_);
}

std::optional<Archive> Archive::open(const std::string& path, std::size_t& fault) {
  fault = 0;
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
  fault = end;
  const auto tail = read_at(file, end, kEndSize);
  if (!tail) return std::nullopt;
  const std::size_t size = number_at(*tail, 12, 4), first = number_at(*tail, 16, 4);
  if (first > end || size != end - first || size > kMostDirectory) return std::nullopt;
  const auto directory = read_at(file, first, size);
  if (!directory) return std::nullopt;
  // Only what the writer would say of the same pieces is believed: so every byte is checked.
  std::size_t next = 0;
  for (std::size_t at = 0; at < size;) {
    fault = first + at;
    const std::string_view entry = std::string_view(*directory).substr(at);
    const std::size_t length = number_at(entry, 28, 2);
    if (entry.size() < kEntrySize || entry.size() - kEntrySize < length) return std::nullopt;
    const std::string_view name = entry.substr(kEntrySize, length);
    const PieceSizes sizes{number_at(entry, 20, 4), number_at(entry, 24, 4),
                           number_at(entry, 16, 4)};
    if (!entry.starts_with(list_entry(name, sizes, next)) || first - next < kLocalSize + length ||
        first - next - kLocalSize - length < sizes.packed ||
        !archive.pieces_.emplace(name, Piece{next, sizes}).second) {
      return std::nullopt;
    }
    next += kLocalSize + length + sizes.packed;
    at += kEntrySize + length;
  }
  fault = end;
  if (next != first || *tail != end_record(archive.pieces_.size(), size, first)) {
    return std::nullopt;
  }
  return archive;
}

std::optional<std::string> Archive::find(std::string_view name, std::size_t most) const {
  const auto found = pieces_.find(name);
  return found == pieces_.end() ? std::nullopt : read(name, found->second, most);
}

std::optional<std::size_t> Archive::find_fault(std::size_t most) const {
  std::optional<std::size_t> first;
  for (const auto& [name, piece] : pieces_) {
    if (first && *first < piece.at) continue;
    if (!read(name, piece, most)) first = piece.at;
  }
  return first;
}

std::optional<std::string> Archive::read(std::string_view name, const Piece& piece,
                                         std::size_t most) const {
  if (piece.sizes.size > most) return std::nullopt;
  const std::string head = local_header(name, piece.sizes);
  const auto bytes = read_at(*file_, piece.at, head.size() + piece.sizes.packed);
  if (!bytes || !bytes->starts_with(head)) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  std::string out(piece.sizes.size, '\0');
  std::size_t used = 0;
  if (libdeflate_deflate_decompress_ex(decompressor.get(), bytes->data() + head.size(),
                                       piece.sizes.packed, out.data(), out.size(), &used,
                                       nullptr) != LIBDEFLATE_SUCCESS ||
      used != piece.sizes.packed ||
      libdeflate_crc32(0, out.data(), out.size()) != piece.sizes.checksum) {
    return std::nullopt;
  }
  return out;
}

}  // namespace dapple::viewer
