#include "lib/compute/csr_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/block_rows.h"

namespace dapple::detail {

namespace {

/// Rows are decoded in bands of about so many entries, which stay in a core's cache until they are
/// put in their places, and of at most so many rows (10^7 entries of f64 in one block: 60 ms, cell
/// by cell in two passes 256 ms; in 4 x 4 blocks 83 and 272 ms).
constexpr std::uint64_t kBandEntries = std::uint64_t{1} << 14;
constexpr std::uint64_t kBandRows = std::uint64_t{1} << 14;

/// Goes down the region band by band. A band ends where a block begins or ends, so that the same
/// blocks lie side by side in all of its rows.
template <class Col>
class Sweep {
 public:
  Sweep(const Store& store, const Region& region, const CsrOut<Col>& out)
      : store_(store), region_(region), out_(out), value_(size_of(out.type)) {}

  bool run(const ReadOptions& options);

 private:
  bool list_blocks(const ReadOptions& options);
  bool load_next();
  bool update_active();
  Range next_band() const;
  void place_band(Range band);
  void place_alone(ActiveBlock& block, Range band);
  void decode(ActiveBlock& block, Range band);
  void decode_dense(ActiveBlock& block, Range band);
  void merge(Range band);
  bool arrays(ActiveBlock& block, Range rows, const CsrTarget& target);
  void reserve(std::uint64_t entries);
  void end_rows(std::uint64_t row);

  const Store& store_;
  const Region& region_;
  const CsrOut<Col>& out_;
  const std::size_t value_;             // bytes
  std::vector<std::uint64_t> numbers_;  // of blocks with entries, in ascending order of positions
  double expected_ = 0;                 // entries of the sparse ones
  std::size_t loaded_ = 0;              // of them
  std::optional<ActiveBlock> next_;     // the last one loaded, when its rows are still to come
  std::vector<ActiveBlock> active_;     // in ascending order of columns
  std::vector<BlockRows> spare_;        // memory of blocks that are done with
  Array<std::uint32_t> cols_;
  Array<std::byte> cells_;
  std::byte* values_ = nullptr;
  std::uint64_t room_ = 0;  // entries that the result can take,
  std::uint64_t size_ = 0;  //   and has
  std::uint64_t row_ = 0;   // rows of the object below it are done
};

template <class Col>
void Sweep<Col>::reserve(std::uint64_t entries) {
  const std::uint64_t wanted = std::max(entries, room_ + room_ / 2);
  if (size_ == 0) {
    out_.col_idx.reset(wanted);
  } else {
    Array<Col> larger(wanted);
    std::copy_n(out_.col_idx.data(), size_, larger.data());
    out_.col_idx.swap(larger);
  }
  values_ = out_.resize_values(size_, wanted);
  room_ = wanted;
}

/// Rows up to `row`, not included, that are not done have no more entries.
template <class Col>
void Sweep<Col>::end_rows(std::uint64_t row) {
  while (row_ < row) out_.row_ptr[++row_ - region_.rows.begin] = size_;
}

template <class Col>
bool Sweep<Col>::list_blocks(const ReadOptions& options) {
  const ValueType declared = store_.schema().value_type;
  bool good = true;
  store_.for_each_block(
      region_, options, [&](std::uint64_t number, const Entry& entry, const Part& part) {
        if (entry.kind == BlockKind::empty) return;
        numbers_.push_back(number);
        if (entry.kind == BlockKind::dense) return;
        // Each band of such a block would be looked at from the block's start, to see that its
        // values fit the declared type as well.
        good = good && (out_.type == declared || holds_all(declared, entry.value_type));
        expected_ += std::ceil(static_cast<double>(entry.stored) *
                               (static_cast<double>(part.rows.size()) / entry.rows) *
                               (static_cast<double>(part.cols.size()) / entry.cols));
      });
  return good;
}

/// False when the index changes under our eyes.
template <class Col>
bool Sweep<Col>::load_next() {
  next_.reset();
  if (loaded_ == numbers_.size()) return true;
  const Entry entry = store_.confirmed_entry(numbers_[loaded_++]);
  const Region shared = intersect(entry.cells(), region_);
  if (shared.empty() || shared.rows.begin < row_) return false;
  next_.emplace(ActiveBlock{entry, shared_part(entry, region_), shared.rows, {}, {}});
  if (!spare_.empty()) {
    next_->decoded = std::move(spare_.back());
    spare_.pop_back();
    next_->decoded.complete = false;
  }
  return true;
}

/// Lets go of blocks that end above the current row, takes those that begin there.
template <class Col>
bool Sweep<Col>::update_active() {
  const auto done =
      std::stable_partition(active_.begin(), active_.end(),
                            [&](const ActiveBlock& block) { return block.rows.end > row_; });
  for (auto block = done; block != active_.end(); ++block) {
    spare_.push_back(std::move(block->decoded));
  }
  active_.erase(done, active_.end());
  bool more = false;
  while (next_ && next_->rows.begin == row_) {
    active_.push_back(std::move(*next_));
    more = true;
    if (!load_next()) return false;
  }
  if (more) {
    std::sort(active_.begin(), active_.end(), [](const ActiveBlock& a, const ActiveBlock& b) {
      return a.entry.pos.cx < b.entry.pos.cx;
    });
  }
  return true;
}

template <class Col>
Range Sweep<Col>::next_band() const {
  std::uint64_t end = next_ ? next_->rows.begin : region_.rows.end;
  double entries_per_row = 0;
  for (const ActiveBlock& block : active_) {
    end = std::min(end, block.rows.end);
    entries_per_row += block.entries_per_row();
  }
  // All rows of a COO block cost as much as some.
  const bool at_once = active_.size() == 1 && active_[0].entry.kind == BlockKind::coo;
  if (!at_once) {
    const double rows = static_cast<double>(kBandEntries) / std::max(entries_per_row, 1.0);
    const auto most = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rows), 1, kBandRows);
    if (end - row_ > most) end = row_ + most;
  }
  return {row_, end};
}

template <class Col>
bool Sweep<Col>::arrays(ActiveBlock& block, Range rows, const CsrTarget& target) {
  bool fits = false;
  store_.watched(
      [&] { fits = store_.codec().csr_arrays(store_, block.entry, rows, block.cursor, target); },
      &block.entry);
  return fits;
}

/// Rows that no other block has a share in: values go straight to their places, columns become
/// words on their way.
template <class Col>
void Sweep<Col>::place_alone(ActiveBlock& block, Range band) {
  const Range rows = block.in_block(band);
  const RowCursor before = block.cursor;
  std::uint64_t* const row_ptr = &out_.row_ptr[band.begin - region_.rows.begin];
  const bool coo = block.entry.kind == BlockKind::coo;
  // Of what the index says the result has room for all; only parts of blocks may be more.
  std::uint64_t wanted =
      coo ? block.entry.stored : std::max<std::uint64_t>(4 * kBandEntries, cols_.size());
  if (coo && wanted > room_ - size_) reserve(size_ + wanted);
  while (true) {
    const std::uint64_t room = std::min(wanted, room_ - size_);
    cols_.reset(room);
    block.cursor = before;
    if (arrays(block, rows, {row_ptr, cols_.data(), values_ + size_ * value_, out_.type, room})) {
      break;
    }
    if (room < wanted) {
      reserve(size_ + wanted);
    } else {
      wanted *= 2;
    }
  }
  const std::uint64_t count = row_ptr[rows.size()];
  const std::uint64_t shift = block.entry.pos.cx + block.part.cols.begin - region_.cols.begin;
  Col* const to = out_.col_idx.data() + size_;
  if (block.whole_cols() && !has_zeros(out_.type, values_ + size_ * value_, count)) {
    const std::uint32_t* const from = cols_.data();
    for (std::uint64_t k = 0; k < count; ++k) to[k] = static_cast<Col>(from[k] + shift);
    for (std::uint64_t r = 0; r <= rows.size(); ++r) row_ptr[r] += size_;
    size_ += count;
  } else {
    visit_bits(out_.type, [&](auto bits) {
      std::byte* const values = values_ + size_ * value_;
      std::uint64_t kept = 0, begin = 0;
      for (std::uint64_t r = 0; r < rows.size(); ++r) {
        const std::uint64_t end = row_ptr[r + 1];
        kept += copy_wanted<decltype(bits)>(cols_.data(), values, begin, end, block.part.cols,
                                            shift, to + kept, values + kept * value_);
        begin = end;
        row_ptr[r + 1] = size_ + kept;
      }
      row_ptr[0] = size_;
      size_ += kept;
    });
  }
  row_ = band.end;
}

template <class Col>
void Sweep<Col>::decode_dense(ActiveBlock& block, Range band) {
  const Range rows = block.in_block(band);
  const std::uint64_t width = block.part.cols.size();
  cells_.reset(rows.size() * width * value_);
  store_.watched(
      [&] {
        store_.codec().read(store_, block.entry, {rows, block.part.cols},
                            {cells_.data(), out_.type, width * value_, value_});
      },
      &block.entry);
  const CsrTarget target = block.decoded.target(rows.size(), rows.size() * width, out_.type);
  visit_bits(out_.type, [&](auto tag) {
    using Bits = decltype(tag);
    const auto first = static_cast<std::uint32_t>(block.part.cols.begin);
    const std::byte* cell = cells_.data();
    std::uint64_t k = 0;
    target.row_ptr[0] = 0;
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      for (std::uint32_t c = 0; c < width; ++c, cell += sizeof(Bits)) {
        const auto bits = load_le<Bits>(cell);
        target.col_idx[k] = first + c;
        store_le(target.values + k * sizeof(Bits), bits);
        k += bits != 0 ? 1 : 0;
      }
      target.row_ptr[r + 1] = k;
    }
  });
  block.decoded.first = rows.begin;
}

/// Rows of a block among others.
template <class Col>
void Sweep<Col>::decode(ActiveBlock& block, Range band) {
  if (block.entry.kind == BlockKind::dense) return decode_dense(block, band);
  BlockRows& decoded = block.decoded;
  if (decoded.complete) return;
  const bool coo = block.entry.kind == BlockKind::coo;
  const Range rows = coo ? block.part.rows : block.in_block(band);
  const RowCursor before = block.cursor;
  const double share = block.entries_per_row() * static_cast<double>(rows.size());
  std::uint64_t room =
      std::max<std::uint64_t>(2 * static_cast<std::uint64_t>(share) + 1024, decoded.col_idx.size());
  room = std::min(room, block.entry.stored);
  while (!arrays(block, rows, decoded.target(rows.size(), room, out_.type))) {
    block.cursor = before;
    room = 2 * room + 1;
  }
  decoded.first = rows.begin;
  decoded.complete = coo;
}

/// Puts rows of blocks side by side together.
template <class Col>
void Sweep<Col>::merge(Range band) {
  std::uint64_t total = size_;
  for (const ActiveBlock& block : active_) {
    const Range rows = block.in_block(band);
    const std::uint64_t* const row_ptr = block.decoded.row_ptr.data();
    total += row_ptr[rows.end - block.decoded.first] - row_ptr[rows.begin - block.decoded.first];
  }
  if (total > room_) reserve(total);
  visit_bits(out_.type, [&](auto bits) {
    for (std::uint64_t row = band.begin; row < band.end; ++row) {
      for (const ActiveBlock& block : active_) {
        const BlockRows& from = block.decoded;
        const std::uint64_t r = row - block.entry.pos.rx - from.first;
        size_ += copy_wanted<decltype(bits)>(
            from.col_idx.data(), from.values.data(), from.row_ptr[r], from.row_ptr[r + 1],
            block.part.cols, block.entry.pos.cx + block.part.cols.begin - region_.cols.begin,
            out_.col_idx.data() + size_, values_ + size_ * value_);
      }
      out_.row_ptr[row + 1 - region_.rows.begin] = size_;
    }
  });
  row_ = band.end;
}

template <class Col>
void Sweep<Col>::place_band(Range band) {
  const bool sparse = active_[0].entry.kind != BlockKind::dense;
  const bool some_coo = active_[0].entry.kind == BlockKind::coo && !active_[0].whole_rows();
  if (active_.size() == 1 && sparse && !some_coo && !active_[0].decoded.complete) {
    return place_alone(active_[0], band);
  }
  for (ActiveBlock& block : active_) decode(block, band);
  merge(band);
}

template <class Col>
bool Sweep<Col>::run(const ReadOptions& options) {
  if (!list_blocks(options)) return false;
  // Parts of blocks may hold more than their share; no entry takes less than a byte of the file.
  reserve(
      static_cast<std::uint64_t>(std::min(expected_, static_cast<double>(store_.file().size()))));
  row_ = region_.rows.begin;
  out_.row_ptr[0] = 0;
  if (!load_next()) return false;
  while (row_ < region_.rows.end) {
    if (!update_active()) return false;
    if (active_.empty()) {
      end_rows(next_ ? next_->rows.begin : region_.rows.end);
    } else {
      place_band(next_band());
    }
  }
  out_.col_idx.shorten(size_);
  out_.resize_values(size_, size_);
  return true;
}

}  // namespace

template <class Col>
bool decode_csr(const Store& store, const Region& region, const ReadOptions& options,
                const CsrOut<Col>& out) {
  if (store.codec().csr_arrays == nullptr || store.schema().kind != ObjectKind::matrix) {
    return false;
  }
  out.row_ptr.reset(region.rows.size() + 1);
  try {
    return Sweep<Col>(store, region, out).run(options);
  } catch (const Error& error) {
    if (error.code() == Errc::io || error.code() == Errc::absent) throw;
    return false;
  }
}

template bool decode_csr(const Store&, const Region&, const ReadOptions&,
                         const CsrOut<std::uint32_t>&);
template bool decode_csr(const Store&, const Region&, const ReadOptions&,
                         const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
