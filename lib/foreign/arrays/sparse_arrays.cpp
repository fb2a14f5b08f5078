#include "lib/foreign/arrays/sparse_arrays.h"

#include <limits>
#include <utility>

#include "dapple/array.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/lines.h"

namespace dapple::detail::arrays {

namespace {

constexpr std::uint64_t kMostPerBlock = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kStripEntries = 1 << 20;

/// Before any of the arrays is looked at.
void require_consistent(const SparseArrays& arrays, const Schema& schema, const ByteSource& file) {
  const std::uint64_t lines = arrays.by_columns ? schema.cols : schema.rows;
  const std::uint64_t across = arrays.by_columns ? schema.rows : schema.cols;
  const auto fail = [&](Errc code, const Items& items, std::string detail) {
    throw Error(code, file.name(), items.offset, std::move(detail));
  };
  if (lines == std::numeric_limits<std::uint64_t>::max() || arrays.pointers.size != lines + 1) {
    fail(Errc::corrupt, arrays.pointers,
         std::to_string(arrays.pointers.size) + " pointers do not fit a matrix of " +
             counted(lines, arrays.by_columns ? "column" : "row"));
  }
  if (arrays.indices.size != arrays.values.size) {
    fail(Errc::corrupt, arrays.indices,
         "there are " + std::to_string(arrays.indices.size) + " indices for " +
             counted(arrays.values.size, "value"));
  }
  if (across == 0 && arrays.values.size > 0) {
    fail(Errc::corrupt, arrays.indices,
         "a matrix without cells cannot have " + counted(arrays.values.size, "value"));
  }
  if (across > kMostPerBlock) {
    fail(Errc::unsupported, arrays.pointers,
         std::to_string(across) + (arrays.by_columns ? " rows" : " columns") +
             " are more than the 4294967295 of a block");
  }
  // So that a negative index is outside.
  if (arrays.indices.width == 4 && across > kMostPerBlock / 2 + 1) {
    fail(Errc::corrupt, arrays.indices,
         "indices of 4 bytes do not reach all of " + std::to_string(across));
  }
}

/// REQUIRES pointers that are loaded.
EntryTable strips_of(const SparseArrays& arrays, const Schema& schema, const ByteSource& file) {
  EntryTable entries;
  if (schema.rows == 0 || schema.cols == 0) return entries;
  const std::uint64_t lines = arrays.pointers.size - 1;
  const std::uint64_t across = arrays.by_columns ? schema.rows : schema.cols;
  if (const std::uint64_t first = pointer(arrays.pointers, 0); first != 0) {
    throw Error(Errc::corrupt, file.name(), arrays.pointers.offset,
                "the first pointer should be 0, not " + std::to_string(first));
  }
  arrays.entries_of(file, {0, lines});
  for (std::uint64_t line = 0; line < lines;) {
    // The last end that leaves the strip within its size, found by halving; at least one line.
    const std::uint64_t most = pointer(arrays.pointers, line) + kStripEntries;
    std::uint64_t end = line + 1;
    for (std::uint64_t n = std::min(kMostPerBlock, lines - line) - 1; n > 0;) {
      const std::uint64_t half = (n + 1) / 2;
      if (pointer(arrays.pointers, end + half) <= most) {
        end += half;
        n -= half;
      } else {
        n = half - 1;
      }
    }
    const Range stored = arrays.entries_of(file, {line, end});
    const auto count = static_cast<std::uint32_t>(end - line);
    Entry entry;
    entry.pos = arrays.by_columns ? BlockPos{0, line} : BlockPos{line, 0};
    entry.rows = arrays.by_columns ? static_cast<std::uint32_t>(across) : count;
    entry.cols = arrays.by_columns ? count : static_cast<std::uint32_t>(across);
    entry.kind = stored.empty()      ? BlockKind::empty
                 : arrays.by_columns ? BlockKind::coo
                                     : BlockKind::csr;
    entry.value_type = schema.value_type;
    entry.stored = stored.size();
    entry.offset = arrays.values.byte_of(stored.begin);
    if (arrays.values.data != nullptr) entry.bytes = stored.size() * arrays.values.width;
    entries.push_back(entry);
    line = end;
  }
  return entries;
}

}  // namespace

std::shared_ptr<const void> load_all(Items& items) {
  if (items.data != nullptr || !items.load) return nullptr;
  auto memory = std::make_shared<Array<std::byte>>(items.size * items.width);
  items.load({0, items.size}, memory->data());
  items.data = memory->data();
  items.load = nullptr;
  return memory;
}

Items integers(Items items, ValueType type, const std::string& file, const std::string& what) {
  if (is_float(type)) {
    throw Error(Errc::corrupt, file, items.offset > 0 ? std::optional(items.offset) : std::nullopt,
                what + " should hold integers, not " + std::string(name(type)));
  }
  if (items.width >= sizeof(std::uint32_t)) return items;
  const ValueType wide = is_signed(type) ? ValueType::i32 : ValueType::u32;
  Items result{items.size, sizeof(std::uint32_t)};
  result.offset = items.offset;
  result.load = [items = std::move(items), type, wide](Range which, std::byte* out) {
    Array<std::byte> narrow(items.data != nullptr ? 0 : which.size() * items.width);
    const std::byte* from =
        items.data != nullptr ? items.data + which.begin * items.width : narrow.data();
    if (items.data == nullptr) items.load(which, narrow.data());
    convert_cells(type, from, items.width, wide, out, size_of(wide), which.size());
  };
  return result;
}

Range SparseArrays::entries_of(const ByteSource& file, Range lines) const {
  const Range range{pointer(pointers, lines.begin), pointer(pointers, lines.end)};
  if (range.begin > range.end || range.end > values.size) {
    throw Error(Errc::corrupt, file.name(), pointers.byte_of(lines.end),
                std::string(by_columns ? "a column" : "a row") + " ends at value " +
                    std::to_string(range.end) +
                    (range.end > values.size ? " of " + std::to_string(values.size)
                                             : ", but starts at " + std::to_string(range.begin)));
  }
  return range;
}

std::shared_ptr<Store> make_store(std::shared_ptr<ByteSource> file, Schema schema,
                                  std::unique_ptr<SparseArrays> arrays, const Drivers& drivers) {
  require_consistent(*arrays, schema, *file);
  arrays->owners.push_back(load_all(arrays->pointers));
  EntryTable strips = strips_of(*arrays, schema, *file);
  const Driver& driver = arrays->by_columns ? drivers.columns : drivers.rows;
  return detail::make_store(std::move(file), std::move(schema), std::move(strips), driver,
                            std::move(arrays));
}

}  // namespace dapple::detail::arrays
