// The next state of a data set, put together in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dapple/dataset.h"
#include "lib/compute/merged_words.h"
#include "lib/dataset/open_dataset.h"
#include "lib/dataset/state.h"
#include "lib/dbdf/row_directory.h"
#include "lib/index/entries.h"
#include "lib/object/block_stats.h"
#include "lib/object/schema.h"

namespace dapple::detail::dataset {

class Draft {
 public:
  /// An empty one with the columns of `like`.
  explicit Draft(const Schema& like);
  /// A copy of a state without some parts, which are doomed. Throws invalid_argument when one of
  /// these is not there; corrupt when the index does not match its hash.
  explicit Draft(const Store& state, std::span<const Id> without = {});

  const Schema& schema() const noexcept { return schema_; }
  const std::vector<PartRecord>& parts() const noexcept { return parts_; }
  /// Nullptr when there is none of that id.
  const PartRecord* find(const Id& id) const;

  /// Adds the blocks of a part. Throws invalid_argument when its type, labels or meanings are not
  /// those of the data set; corrupt when it is not the file that was written; io.
  void add(const PartRecord& record, const std::string& folder);
  /// Makes the object at least as large as this.
  void grow(std::uint64_t rows, std::uint64_t cols);
  void set_doomed(std::vector<Id> doomed) { doomed_ = std::move(doomed); }

  /// Throws invalid_argument, naming both, when two parts share cells (R3).
  void require_apart(const std::string& folder) const;
  /// The same when a cell is in no block (R7).
  void require_covered(const std::string& folder) const;

  /// What the state will say of itself.
  DatasetState described(const StateHead& head) const;

  /// Hands out the file of the state. `head` has its number, write id, time and action. Call it
  /// once.
  void emit(StateHead head, const std::string& name,
            const std::function<void(std::span<const std::byte>)>& put);

 private:
  /// Of a block whose codes become others, the statistics no longer hold.
  enum class Take : std::uint8_t { nothing, all, all_but_stats };
  template <class Place>
  void take_blocks(const Store& store, const Place& place);
  void merge_schema(const std::shared_ptr<const Store>& store, const std::string& folder);
  void merge_words(Column& whole, const Column& part, std::uint32_t col, const std::string& file);
  void add_blocks(const Store& part, const PartRecord& record);
  /// The value type that a block of the part that is added gets, if it has codes that others
  /// replace.
  std::optional<ValueType> recoded_type(const Store& part, const Entry& entry) const;

  Schema schema_;
  std::string attributes_;
  std::vector<PartRecord> parts_;
  std::vector<CodeMap> maps_;                   // sorted by part, then column
  std::map<std::uint32_t, MergedWords> words_;  // of columns that got more here
  std::vector<Id> doomed_;
  std::vector<Id> writes_;  // of the states before, the latest first
  EntryTable entries_;      // in the order of the parts, then of their bytes
  std::vector<BlockStats> stats_;
  bool knows_stats_ = false;  // of any block
  dbdf::RowDirectoryWriter row_counts_;
};

}  // namespace dapple::detail::dataset
