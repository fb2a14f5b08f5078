#include "lib/dataset/recode.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dapple/array.h"
#include "lib/dataset/open_dataset.h"
#include "lib/layout/sparse_cells.h"

namespace dapple::detail::dataset {

namespace {

/// Calls f(map) for the code maps of the part that are of a column of the block.
template <class F>
void each_map(const Store& store, const Entry& entry, const F& f) {
  const StateTables& tables = *store.state<OpenState>().tables;
  const Range maps =
      tables.maps_of(static_cast<std::uint32_t>(entry.offset >> kOffsetBits), entry.cells().cols);
  for (std::uint64_t map = maps.begin; map < maps.end; ++map) {
    const std::uint64_t col = tables.map_column(map);  // a damaged state has them in any order
    if (col >= entry.pos.cx && col - entry.pos.cx < entry.cols) f(map, col - entry.pos.cx);
  }
}

/// The values of a block as the data set has them.
class Recoder {
 public:
  /// `stored` is the entry as the part has it, with its own types.
  Recoder(const Store& store, const Entry& entry, const Entry& stored)
      : store_(store), entry_(entry), stored_(stored), codes_(entry.cols) {
    each_map(store, entry, [&](std::uint64_t map, std::uint64_t col) {
      codes_[col] = store.state<OpenState>().tables->codes(map);
    });
  }

  /// Writes what a stored value of a column becomes.
  void put(std::uint64_t col, const std::byte* value, std::byte* to) const {
    std::uint64_t bits = load_bits(stored_.value_type, value);
    const std::span<const std::byte> codes = codes_[col];
    if (!codes.empty()) {
      if (bits >= codes.size() / 4) {
        store_.fail(
            Errc::corrupt, entry_.offset,
            "code " + std::to_string(bits) + " in block " + text(entry_.pos) + " has no word");
      }
      bits = load_le<std::uint32_t>(codes.data() + 4 * bits);
    }
    store_bits(entry_.value_type, to, bits);
  }

  void put_dense(const std::byte* values, std::byte* to) const {
    const std::size_t from = size_of(stored_.value_type), size = size_of(entry_.value_type);
    for (std::uint32_t row = 0; row < entry_.rows; ++row) {
      for (std::uint32_t col = 0; col < entry_.cols; ++col, values += from, to += size) {
        put(col, values, to);
      }
    }
  }

  void put_sparse(const HeldBytes& plain, std::byte* to) const {
    const SparsePayload cells(store_.blocks(), stored_, {plain.bytes, std::make_shared<int>()},
                              stored_.offset);  // in no map
    const std::size_t size = size_of(entry_.value_type);
    visit_bits(stored_.value_type, [&](auto bits) {
      const auto take = [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
        if (entry_.kind == BlockKind::coo) {
          store_le(to, row);
          to += 4;
        }
        if (entry_.kind == BlockKind::csr || entry_.cols != 1) {
          store_le(to, col);
          to += 4;
        }
        put(col, value, to);
        to += size;
      };
      const Part all{{0, entry_.rows}, {0, entry_.cols}};
      if (entry_.kind == BlockKind::coo) return each_coo<sizeof bits>(cells, all, take);
      each_csr<sizeof bits>(cells, all, {}, take, [&](std::uint32_t row, const std::byte* count) {
        std::memcpy(to, count, 4);
        to += 4;
        return row;
      });
    });
  }

 private:
  const Store& store_;
  const Entry& entry_;
  const Entry& stored_;
  std::vector<std::span<const std::byte>> codes_;  // by column; empty: values stay
};

}  // namespace

bool is_recoded(const Store& store, const Entry& entry) {
  bool found = false;
  each_map(store, entry, [&](std::uint64_t, std::uint64_t) { found = true; });
  return found && entry.kind != BlockKind::empty;
}

HeldBytes recode(const Store& store, const Entry& entry) {
  const auto part = store.state<OpenState>().parts->part(entry.offset >> kOffsetBits);
  Entry stored = entry;
  stored.value_type = dbdf::entry_in_file(entry, origin_of(*part, entry, true)).value_type;
  const HeldBytes plain = store.plain_payload(stored);
  std::uint64_t bytes = plain.size();
  const std::uint64_t values =
      entry.kind == BlockKind::dense ? std::uint64_t{entry.rows} * entry.cols : entry.stored;
  bytes += values * (size_of(entry.value_type) - size_of(stored.value_type));
  const auto payload = std::make_shared<Array<std::byte>>(bytes);
  const Recoder recoder(store, entry, stored);
  if (entry.kind == BlockKind::dense) {
    recoder.put_dense(plain.data(), payload->data());
  } else {
    recoder.put_sparse(plain, payload->data());
  }
  return {{payload->data(), payload->size()}, payload};
}

}  // namespace dapple::detail::dataset
