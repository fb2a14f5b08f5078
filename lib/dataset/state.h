// One state of a data set, as the bytes of a file (FORMAT.md): which parts it has, and where they
// are. The schema, the hints and the index of all blocks, which the file also holds, are as in dbdf
// files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/dataset.h"
#include "dapple/region.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dataset {

inline constexpr char kTag[9] = "DPL-DSET";
inline constexpr std::size_t kNumberAt = 16;  // where a state has its number
inline constexpr std::size_t kHead = 128, kPartRecord = 128, kMapRecord = 32, kIdBytes = 16;

/// An entry's offset is the number of its part, and below that the byte of the part.
inline constexpr unsigned kOffsetBits = 44;
inline constexpr std::uint64_t kMostParts = std::uint64_t{1} << (64 - kOffsetBits);
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << kOffsetBits;

/// How many write ids of the states before it a state has at most.
inline constexpr std::uint64_t kMostWrites = 256;

using Id = std::array<std::byte, kIdBytes>;

/// An id that no other call gives, on any machine. Throws io.
Id new_id();
/// "part-" and its digits.
std::string part_name(const Id& id);
/// The id of a part with this name. Throws invalid_argument for any other name.
Id id_of(std::string_view part_name);

/// A part as a state knows it.
struct PartRecord {
  Id id{};
  std::uint64_t bytes = 0;         // of the file
  std::uint64_t body = 0;          // bytes of its header
  std::uint64_t header_hash = 0;   // XXH3-64 of that
  std::uint64_t trailer_hash = 0;  // XXH3-64 of its last 64 bytes
  Region cells{{0, 0}, {0, 0}};    // where it is in the data set

  friend bool operator==(const PartRecord&, const PartRecord&) = default;
};

/// The codes of a part's column: code k of the part is `codes[k]` of the data set.
struct CodeMap {
  std::uint32_t part = 0, column = 0;
  std::vector<std::uint32_t> codes;
  std::uint32_t most = 0;  // of them
};

struct StateHead {
  std::uint64_t number = 0;
  Id write_id{};
  std::uint64_t time_ns = 0;  // since 1970
  DatasetAction action = DatasetAction::create;
  std::uint64_t header = 0;  // bytes of the schema
  std::uint64_t parts = 0, maps = 0, doomed = 0, writes = 0;

  std::uint64_t first_part() const noexcept;
  std::uint64_t first_map() const noexcept { return first_part() + parts * kPartRecord; }
  std::uint64_t first_doomed() const noexcept { return first_map() + maps * kMapRecord; }
  /// Where code maps, hints and index start.
  std::uint64_t body() const noexcept { return first_doomed() + (doomed + writes) * kIdBytes; }
};

/// The head and the tables of a file, in place. Any thread.
class StateTables {
 public:
  /// Throws corrupt when they do not match their hashes, or do not fit into the file.
  explicit StateTables(std::shared_ptr<const ByteSource> file);

  const ByteSource& file() const noexcept { return *file_; }
  const StateHead& head() const noexcept { return head_; }
  std::span<const std::byte> header() const { return file_->bytes(kHead, head_.header); }
  /// XXH3-64 of the tables, which the index has as that of the header.
  std::uint64_t hash() const noexcept { return hash_; }
  PartRecord part(std::uint64_t number) const;
  /// The sizes of all parts together.
  std::uint64_t bytes_of_parts() const;
  /// Every id that `gc` removes, or has removed.
  std::vector<Id> doomed() const { return ids(0, head_.doomed); }
  /// The write ids of the states before it, the latest first.
  std::vector<Id> writes() const { return ids(head_.doomed, head_.writes); }

  /// Where a part's code maps of these columns are among all of them, which are sorted by part,
  /// then by column. O(log maps).
  Range maps_of(std::uint32_t part, Range cols) const;
  std::uint32_t map_column(std::uint64_t number) const;
  /// The codes of a map, as u32 in place. Throws corrupt when they do not match their hash.
  std::span<const std::byte> codes(std::uint64_t number) const;

 private:
  std::uint32_t map_part(std::uint64_t number) const;
  std::vector<Id> ids(std::uint64_t first, std::uint64_t n) const;

  std::shared_ptr<const ByteSource> file_;
  StateHead head_;
  std::uint64_t hash_ = 0;
};

/// True for the first bytes of a state.
bool starts_like_state(std::span<const std::byte> head) noexcept;
/// Throws corrupt when the file is none.
void require_state(const ByteSource& file);

/// The bytes of head and tables; `maps` are followed by their codes.
struct StateBytes {
  std::vector<std::byte> bytes;
  std::uint64_t hash;  // as `StateTables::hash`
};
StateBytes emit_tables(StateHead head, std::span<const std::byte> header,
                       std::span<const PartRecord> parts, std::span<const CodeMap> maps,
                       std::span<const Id> doomed, std::span<const Id> writes);

}  // namespace dapple::detail::dataset
