// Vectors as a VBuffer block, truth values and texts as blocks of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/value_type.h"
#include "lib/foreign/idv/idv_codec.h"
#include "lib/foreign/idv/idv_plan.h"
#include "lib/io/output_file.h"
#include "lib/object/store.h"

struct libdeflate_compressor;

namespace dapple::detail::idv {

/// All of a block of vectors of `size` slots that is in front of their items.
class VectorHead {
 public:
  explicit VectorHead(std::uint64_t size) noexcept : size_(size) {}

  std::uint64_t size() const noexcept { return size_; }
  /// Starts a vector of which `stored` items are not zero. True when it is sparse: an item of
  /// `item_bytes` takes an index more then, and a full vector is always dense.
  bool start(std::uint64_t stored, std::size_t item_bytes);
  /// Adds the index of an item that a sparse vector stores.
  void add_index(std::uint64_t slot) { indices_.push_back(static_cast<std::int32_t>(slot)); }
  /// Appends all so far, and forgets it.
  void finish(std::vector<std::byte>& out);

 private:
  std::uint64_t size_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> indices_;
};

/// An item of two numbers in memory: a date with zone or a row identifier.
struct Pair {
  std::uint64_t first = 0, second = 0;
};

/// Appends such items as they are in a block. REQUIRES the layout `zoned` or `wide`.
void put_pairs(std::vector<std::byte>& out, Layout layout, std::span<const Pair> items);

/// Collects vectors of `size` slots row by row; each is stored dense or sparse, whatever takes
/// fewer bytes. REQUIRES size >= 1. One thread.
class VectorEncoder {
 public:
  /// Items of this layout, which `add` is given as values of `type` or, of two numbers, as Pairs.
  VectorEncoder(Layout layout, ValueType type, std::uint64_t size) noexcept;

  /// A row of `size` items that follow each other.
  void add(const std::byte* items);
  /// A row of which only these cells, ascending, are not positive zero. REQUIRES items of one
  /// number.
  void add(std::span<const StoredCell> cells);

  /// Appends the block of the rows so far, and forgets them.
  void finish(std::vector<std::byte>& out);

 private:
  bool pairs() const noexcept { return layout_ == Layout::zoned || layout_ == Layout::wide; }
  bool is_zero(const std::byte* item) const noexcept;

  Layout layout_;
  ValueType type_;
  VectorHead head_;
  std::size_t step_, stored_bytes_;  // of an item in memory, and in the file (of a Boolean a byte)
  std::vector<std::byte> items_;
};

/// Booleans, each a byte of 0 or 1, one bit each. Throws invalid_argument for any other.
void put_bits(std::vector<std::byte>& out, std::span<const std::byte> values);

/// Collects texts, then puts them as one block.
class TextEncoder {
 public:
  /// Throws invalid_argument for a text that is not UTF-8, or the 2^31st UTF-16 unit.
  void add(std::string_view text);
  void add_missing();

  /// Appends the block of the texts so far, and forgets them.
  void finish(std::vector<std::byte>& out);

 private:
  std::vector<std::uint32_t> ends_;  // in UTF-16 units
  std::uint64_t units_ = 0;
  std::string text_;
};

/// Appends the block of one dense vector of these texts, as metadata has it.
void put_text_vector(std::vector<std::byte>& out, std::uint64_t n, TextEncoder& texts);

/// Makes raw DEFLATE data of one block after the other. One thread.
class Deflater {
 public:
  Deflater();
  /// Replaces `out` by the compressed bytes of `in`.
  void deflate(std::span<const std::byte> in, std::vector<std::byte>& out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* c) const noexcept;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

/// Appends the column's metadata blocks to the file; returns the table of them, empty when there
/// are none. `deflater` may be null: not compressed.
std::vector<std::byte> put_metadata(const OutColumn& column, Deflater* deflater, OutputFile& out);

}  // namespace dapple::detail::idv
