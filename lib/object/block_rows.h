// A block whose rows are read, in the way that its kind and format allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "lib/codec/codecs.h"
#include "lib/layout/csr_rows.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The entries of a block in ascending order of cells. Rows and columns count from the block's
/// first cell.
struct KeptCells {
  std::vector<std::uint32_t> rows, cols;
  std::vector<std::uint64_t> bits;  // values in the low bytes of words,
  bool declared = false;            //   of the type that each column declares, not of the block's

  /// Which of them are in these rows. O(log n).
  Range in(Range rows_wanted) const noexcept;
  std::size_t bytes() const noexcept { return rows.size() * 16; }
};

/// True for far more rows than entries: pointers to the rows would be most of the memory.
inline bool has_rare_entries(std::uint64_t rows, std::uint64_t entries) noexcept {
  constexpr std::uint64_t kManyRows = std::uint64_t{1} << 16, kRowsPerEntry = 8;
  return rows > kManyRows && (rows - kManyRows) / kRowsPerEntry > entries;
}

/// Any thread may use the const functions.
class BlockRows {
 public:
  enum class Way : std::uint8_t {
    empty,
    csr,      // rows of CSR entries in place
    encoded,  // rows of CSR entries that the block's codec decodes
    arrays,   // CSR rows that the driver decodes, found by a cursor
    dense,    // cells, in place where `data` is set
    kept,     // all else: entries that are decoded once
  };

  /// REQUIRES a confirmed entry. Throws what fetching its bytes throws.
  BlockRows(const Store& store, const Entry& entry);
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;

  const Store& store() const noexcept { return store_; }
  const Entry& entry() const noexcept { return entry_; }
  Way way() const noexcept { return way_; }
  bool has_cursor() const noexcept {
    return way_ == Way::csr || way_ == Way::encoded || way_ == Way::arrays;
  }
  /// Rows of CSR entries, encoded or in place, or dense values in place; nullptr when there are
  /// none.
  const std::byte* data() const noexcept { return held_.data(); }
  std::size_t row_step() const noexcept { return row_step_; }
  const HeldBytes& held() const noexcept { return held_; }
  /// REQUIRES Way::csr.
  const SparsePayload& payload() const noexcept { return *payload_; }
  /// REQUIRES Way::encoded.
  const EncodedRows& encoded() const noexcept { return *encoded_; }
  /// REQUIRES Way::kept. Decodes the block the first time. Throws corrupt, type_mismatch.
  const KeptCells& kept() const;

  /// Moves the cursor down to `row`, counting the entries that it passes. REQUIRES a cursor.
  void skip(std::uint64_t row, RowCursor& cursor) const;

 private:
  void keep_payload(KeptCells& cells) const;
  void keep_arrays(KeptCells& cells) const;
  void keep_entries(KeptCells& cells) const;

  const Store& store_;
  const Entry entry_;
  Way way_ = Way::empty;
  std::size_t row_step_ = 0;
  HeldBytes held_;
  std::optional<SparsePayload> payload_;
  std::unique_ptr<const EncodedRows> encoded_;
  mutable std::mutex mutex_;
  mutable std::optional<KeptCells> kept_;  // made under the mutex, and then never changed
};

/// `Driver::csr_arrays`. Throws io when the file has changed, so that there is not enough room.
void read_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                 const CsrTarget& out);

/// The type that all these columns of the object declare; nothing when there are several.
std::optional<ValueType> declared_type(const Schema& schema, Range cols) noexcept;

}  // namespace dapple::detail
