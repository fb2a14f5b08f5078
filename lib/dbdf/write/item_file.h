// A file of items that is being written: items are appended from any number of threads, listed, and
// published with their index.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dapple/writer.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"
#include "lib/io/output_file.h"
#include "lib/io/piece_buffer.h"
#include "lib/object/block_stats.h"

namespace dapple::detail {

class Turn;

namespace dbdf {

/// Whether the statistics of items are remembered, 64 bytes each.
enum class KeepStats : bool { no, yes };

/// Any thread may put items. With a turn, an item gets its place in the file in that turn. An entry
/// and statistics describe the item; the entry's offset and hash are filled in here. Dense payloads
/// are aligned. All functions throw io, bad_alloc, and invalid_argument when the alignment would
/// fill the file with padding.
class ItemFile {
 public:
  /// Items up to this size are collected and written together: the page cache then holds the file
  /// in huge pages, and reading at random takes two thirds of the time. While several threads put
  /// items, only the smallest are, so that no thread waits for what another one copies.
  static constexpr std::size_t kSmall = std::size_t{1} << 20;
  static constexpr std::size_t kSmallest = std::size_t{64} << 10;

  ItemFile(OutputFile file, const WriteOptions& options, std::span<const std::byte> header,
           KeepStats stats);

  const std::string& name() const noexcept { return file_.name(); }
  void require_own_process() const { file_.require_own_process(); }

  /// Copies the blocks of another file with a header of the same size to the same offsets. Before
  /// all other items. `stats` are theirs.
  void take_over(const ByteSource& from, std::uint64_t body, EntryTable blocks,
                 std::vector<BlockStats> stats);

  /// Puts an item; its bytes include the position.
  void put(Entry entry, const BlockStats& stats, std::span<const std::byte> item,
           Turn* turn = nullptr);
  /// Puts an item in several parts, the first of which holds position and header.
  void put(Entry entry, const BlockStats& stats, std::span<const iovec> parts, Turn* turn);
  /// Puts a large item piece by piece: make() puts its bytes into `buffer`, and may still set
  /// `stats`.
  void put_pieces(Entry entry, const BlockStats& stats, Turn* turn, PieceBuffer& buffer,
                  const std::function<void()>& make);

  /// Reserves room for entries: growing a table of millions takes the memory of two. Before any
  /// item is put.
  void expect(std::uint64_t items) { entries_.reserve(items); }

  /// The items put so far, in file order. This and the following functions REQUIRE that no thread
  /// is putting items.
  const EntryTable& entries() const noexcept { return entries_; }
  EntryTable take_entries() { return std::move(entries_); }
  /// Their statistics, in the same order; none unless they are kept.
  std::vector<BlockStats> take_stats() { return std::move(stats_); }
  /// Puts the hints and the index of a file with this header.
  void put_index(const BlockIndex& index, std::span<const std::byte> header, HintWriter hints);
  /// Puts another header of the same size in place of the one that it began with.
  void replace_header(std::span<const std::byte> header);
  /// See `OutputFile`, after `publish`.
  Descriptor take_unnamed() noexcept { return file_.take_unnamed(); }
  /// Publishes the file and returns its size. Also throws what `require_whole` throws.
  std::uint64_t publish(bool sync);
  /// Throws io when an item could not be put, which may have left a hole.
  void require_whole() const;
  /// For an item that is lost before it comes here.
  void give_up() noexcept { failed_ = true; }

 private:
  /// Where an item is, and the number of its entry.
  struct Place {
    std::uint64_t offset, number;
  };

  Place reserve(Entry& entry, const BlockStats& stats, Turn* turn);
  void list(const Entry& entry, const BlockStats& stats);
  void set_entry(const Place& place, const Entry& entry, const BlockStats& stats);
  std::vector<std::byte> pack(Entry& entry, std::span<const iovec> parts) const;
  void append_small(Entry& entry, const BlockStats& stats, std::span<const iovec> parts);
  bool goes_together(std::size_t bytes) const noexcept {
    return bytes <= kSmallest || (bytes <= kSmall && busy_ == 1);
  }
  template <class F>
  void attempt(const F& f);
  void append_padding();

  OutputFile file_;
  const std::uint64_t align_;
  const Packing pack_;
  const bool keeps_stats_;
  std::uint64_t padding_ = 0;        // bytes so far; guarded by mutex_
  std::atomic<bool> failed_{false};  // an item could not be put
  std::atomic<unsigned> busy_{0};    // threads that are putting one

  TakePiece write_;  // to file_

  std::mutex mutex_;               // guards the following
  EntryTable entries_;             // in file order
  std::vector<BlockStats> stats_;  //   likewise, if they are kept
  PieceBuffer tail_;               // small items at the end of the file
};

}  // namespace dbdf
}  // namespace dapple::detail
