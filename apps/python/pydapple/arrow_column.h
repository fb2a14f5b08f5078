// A column from the batches of an Arrow stream: stored values, which of them are missing, and what
// they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow_decimal.h"
#include "core.h"
#include "dapple/arrow_abi.h"
#include "dapple/column.h"

namespace pydapple {

/// The metadata of a schema or field: [(key, value)] of bytes.
nb::list metadata_of(const ArrowSchema& schema);

class ArrowColumn {
 public:
  /// Of no rows. Throws TypeError for what no column of a file holds.
  explicit ArrowColumn(const ArrowSchema& schema);

  /// The child's rows of a batch. Where a row of the batch is missing, so are all of its cells.
  /// REQUIRES that the batch before it is not released yet.
  void append(const ArrowArray& array, const ArrowArray& batch);

  /// True where only all of its words together tell their order.
  bool is_ordered() const noexcept { return meaning_.ordered; }
  /// That its cells and words take.
  std::size_t bytes() const noexcept { return values_.size() + missing_.size() + word_bytes_; }

  /// (name, values, whether each is missing or None, meaning, metadata); half floats are the bits
  /// of theirs.
  nb::tuple finish();

 private:
  /// The dictionary of a batch.
  struct Known {
    std::int64_t offset, length;
    std::vector<const void*> memory;
    std::vector<std::uint32_t> codes;

    bool is(const Known& other) const {
      return offset == other.offset && length == other.length && memory == other.memory;
    }
  };

  void read_format();
  std::string_view kind_of_others() const;
  std::uint32_t code_of(std::string_view word);
  void mark_missing(const ArrowArray& array, std::int64_t first, std::size_t before);
  void count_days();
  const std::vector<std::uint32_t>& codes_of(const ArrowArray& dictionary);
  void append_codes(const ArrowArray& array, std::int64_t first, std::size_t rows,
                    std::size_t before, std::byte* out);
  void append_decimals(const void* cells, std::int64_t first, std::size_t rows, std::size_t before,
                       std::byte* out);

  std::string name_, format_, dictionary_format_;
  nb::list metadata_;
  dapple::ValueType type_ = dapple::ValueType::u8;
  dapple::Meaning meaning_;
  std::optional<ArrowDecimal> decimal_;
  dapple::DictionaryBuilder words_;
  std::size_t word_bytes_ = 0;
  std::optional<Known> known_;  // of the batch before
  std::vector<std::byte> values_;
  std::vector<std::uint8_t> missing_;
};

}  // namespace pydapple
