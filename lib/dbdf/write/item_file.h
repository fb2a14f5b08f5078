// The items of a file that is being written: placed behind each other from any number of threads,
// listed, and published with their index.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dapple/writer.h"
#include "lib/dbdf/header.h"
#include "lib/io/file.h"
#include "lib/io/piece_buffer.h"
#include "lib/object/index.h"

namespace dapple::detail {

class Turn;

namespace dbdf {

/// Any thread may put items. With a turn, an item takes its place in the file in that turn. An
/// entry says what the item is, and its bytes behind the position; offset and hash are filled in
/// here. Dense payloads are aligned. All throw io, and bad_alloc.
class ItemFile {
 public:
  /// Items up to this size are gathered and written together.
  static constexpr std::size_t kSmall = std::size_t{64} << 10;

  ItemFile(const std::filesystem::path& path, const WriteOptions& options,
           std::span<const std::byte> header);

  const std::string& name() const noexcept { return file_.name(); }

  /// An item, position included.
  void put(Entry entry, std::span<const std::byte> item, Turn* turn = nullptr);
  /// A large item whose parts lie apart; the first is position and header.
  void put(Entry entry, std::span<const iovec> parts, Turn* turn);
  /// A large item that is made piece by piece: make() puts its bytes to `buffer`, and throws
  /// nothing of its own. When it returns false, so does this, and the item was not put.
  bool put_pieces(Entry entry, Turn* turn, PieceBuffer& buffer, const std::function<bool()>& make);

  /// What was put, in file order. REQUIRES, as what follows, that nobody puts. Throws bad_alloc.
  const EntryTable& entries();
  EntryTable take_entries();
  void put_index(const BlockIndex& index, std::uint64_t header_hash);
  /// Gives the file its name; returns its size. Throws io also when an item was not put.
  std::uint64_t publish(bool sync);
  /// Throws io when an item was not put: the file may have a hole.
  void require_whole() const;

 private:
  /// Where an item is, with the padding in front of it and without, and the number of its entry.
  struct Place {
    std::uint64_t begin, offset, number;
  };

  Place reserve(Entry& entry, Turn* turn);
  void set_entry(const Place& place, const Entry& entry);
  void take_back(const Place& place, const Entry& entry, PieceBuffer& buffer);
  void append_small(Entry& entry, std::span<const std::byte> item);
  template <class F>
  void attempt(const F& f);
  void append_padding(std::uint64_t align);

  OutputFile file_;
  std::uint64_t align_;
  std::atomic<bool> failed_{false};  // an item was not put

  TakePiece write_;  // to file_

  std::mutex mutex_;                       // guards what follows
  EntryTable entries_;                     // in file order
  std::vector<std::uint64_t> taken_back_;  // numbers of entries that stand for nothing
  PieceBuffer tail_;  // to where the last bytes go that are taken, and small items
};

}  // namespace dbdf
}  // namespace dapple::detail
