// Names as one run of bytes with a hash table in it, laid out in memory as in a file
// (lib/dbdf/FORMAT.md, "Names").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dapple/column.h"
#include "dapple/names.h"
#include "dapple/region.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Reads the names of rows or columns; null when there are none. Throws corrupt.
using ReadNames = std::function<std::shared_ptr<const Names>()>;

/// Its first 16 bytes are left to whoever stores it.
class NameTable final : public Names {
 public:
  /// The names in bytes [at.begin, at.end) of `source`, whose XXH3-64 is `hash`; without one they
  /// are trusted. Throws corrupt when the parts do not fit these bytes. O(1).
  NameTable(std::shared_ptr<const ByteSource> source, Range at, std::optional<std::uint64_t> hash);

  std::uint64_t size() const noexcept override { return count_; }
  std::string_view operator[](std::uint64_t i) const override;
  std::optional<std::uint64_t> find(std::string_view name) const override;
  bool unique() const noexcept override { return repeats_ == 0; }

  /// Compares the bytes with their hash, once. Throws corrupt. O(bytes).
  void require_whole() const;
  /// Throws corrupt unless every name is UTF-8 and found where it is. O(bytes).
  void verify() const;
  /// All of it. Throws corrupt when it does not match its hash. O(bytes).
  std::span<const std::byte> packed() const;

 private:
  struct Found {
    std::uint64_t number;  // of the first that has the name
    bool repeated;
    std::uint64_t tried;  // slots before its own
  };
  std::string_view name(std::uint64_t i) const;
  std::optional<Found> look_up(std::string_view name) const;
  [[noreturn]] void fail(const char* what) const;

  std::shared_ptr<const ByteSource> source_;
  Range at_;
  std::optional<std::uint64_t> hash_;
  std::uint64_t count_ = 0, slots_ = 0, repeats_ = 0, text_bytes_ = 0;
  std::uint64_t width_ = 4;                           // of an offset into the text
  std::uint64_t offsets_ = 0, table_ = 0, text_ = 0;  // where the parts are in the source
  mutable std::atomic<bool> whole_{false};
};

/// The bytes of these names, of which the first 16 mean nothing. Throws corrupt. O(bytes).
std::vector<std::byte> pack_names(const Names& names);

/// True when both lists are the same. O(bytes).
bool same_names(const Names& a, const Names& b);

/// What `read` gives, which is called no more than once. Null stays null.
ReadNames read_once(ReadNames read);
/// The names of some rows or columns.
ReadNames pick_names(ReadNames read, Range range);
ReadNames pick_names(ReadNames read, std::vector<std::uint64_t> numbers);
/// Names of rows or columns that follow each other, `size` in each part; "" where a part has none.
struct NamedPart {
  ReadNames names;
  std::uint64_t size;
};
ReadNames join_names(std::vector<NamedPart> parts);
/// The slots' own names. Null where none has one.
ReadNames names_of_slots(std::shared_ptr<const ColumnGroup> group);

/// The second where the first gives none.
ReadNames names_or(ReadNames first, ReadNames second);

}  // namespace dapple::detail
