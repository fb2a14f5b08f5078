#include "lib/dbdf/write/transpose.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/io/local/memory_limit.h"
#include "lib/object/attributes.h"

namespace dapple::detail::dbdf {

namespace {

/// Entries that a block holds at most.
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 21;
/// Bytes of entries that a block is meant to hold.
constexpr double kMeantBytes = 4 << 20;
/// Bytes of cells that are collected together, if that is no more than a quarter of the memory.
/// What blocks are written does not depend on it.
constexpr std::uint64_t kCollectedBytes = std::uint64_t{128} << 20;
/// Bands of the source's rows that are turned one by one, so that each is read a few times only,
/// and not all of the file for each group of columns. A column is in as many places.
constexpr std::uint64_t kTimesRead = 4, kMostBands = 64;
/// Columns are counted one by one, or in this number of bins of equal width.
constexpr std::uint64_t kCountedBins = std::uint64_t{1} << 20;
/// Bins of all bands together.
constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 23;
constexpr std::uint64_t kLongestSide = std::numeric_limits<std::uint32_t>::max();

class Transposer {
 public:
  Transposer(const Source& source, KindChoice kind)
      : source_(source),
        type_(source.schema().value_type),
        put_all_(kind != KindChoice::automatic) {
    if (source.rows() == 0 || source.cols() == 0) return;
    while ((source.cols() - 1) >> shift_ >= kCountedBins) ++shift_;
    if (std::uint64_t{1} << shift_ > kLongestSide) {
      throw Error(Errc::unsupported, source.store().file().name(), std::nullopt,
                  std::to_string(source.cols()) + " columns are too many to become rows");
    }
    bins_ = ((source.cols() - 1) >> shift_) + 1;
    const double stored = source.load({{0, source.rows()}, {0, source.cols()}}).stored;
    const double reads = stored * sizeof(SparseCell) / static_cast<double>(kCollectedBytes);
    bands_ = std::min({kMostBands, kMostCounts / bins_, source.rows(),
                       static_cast<std::uint64_t>(reads / kTimesRead) + 1});
    height_ = std::min((source.rows() - 1) / bands_ + 1, kLongestSide);
    counted_ = count({0, source.rows()}, bands_);
    choose_shape();
  }

  /// Of the blocks: columns and rows of the source.
  TileShape shape() const noexcept {
    return {static_cast<std::uint32_t>(width_), static_cast<std::uint32_t>(height_)};
  }
  void run(BlockWriter& writer);

 private:
  std::vector<std::uint64_t> count(Range rows, std::uint64_t bands) const;
  void choose_shape();
  bool fits(std::uint64_t width) const;
  Range cols_of(std::uint64_t group) const noexcept {
    return {group * width_, std::min(source_.cols() - group * width_, width_) + group * width_};
  }
  Range bins_of(Range groups) const noexcept {
    return {cols_of(groups.begin).begin >> shift_,
            ((cols_of(groups.end - 1).end - 1) >> shift_) + 1};
  }
  std::uint64_t entries(Range groups) const noexcept;
  bool is_dense(std::uint64_t group, Range rows) const noexcept;
  void run_rows(BlockWriter& writer, Range rows);
  std::uint64_t bytes(std::uint64_t group, Range rows, bool dense) const noexcept;
  void put_dense(BlockWriter& writer, Range rows, Range groups) const;
  void put_sparse(BlockWriter& writer, Range rows, Range groups);
  void sort_by_bin(const Region& region, Range bins);

  const Source& source_;
  const ValueType type_;
  const bool put_all_;                     // also blocks without entries
  unsigned shift_ = 0;                     // of a column to its bin
  std::uint64_t bins_ = 0, bands_ = 0;     // that were counted: of columns, of rows
  std::uint64_t width_ = 1, height_ = 1;   // of a block: columns and rows of the source
  std::vector<std::uint64_t> counted_;     // entries of each bin, band after band
  std::span<const std::uint64_t> counts_;  // the same of the rows at hand
  std::vector<std::uint64_t> ends_;        // of the bins at hand in
  Array<SparseCell> cells_;                //   these
};

/// The entries of each bin of columns, in one band of rows after the other; the last has all rows
/// that are left.
std::vector<std::uint64_t> Transposer::count(Range rows, std::uint64_t bands) const {
  std::vector<std::uint64_t> counts(bands * bins_);
  source_.for_each_band(
      {rows, {0, source_.cols()}}, {}, [&](const SourceRows& some, unsigned, Turn& turn) {
        turn.take([&] {
          for (std::uint64_t row = 0; row < some.rows.size(); ++row) {
            const std::uint64_t at = some.rows.begin + row - rows.begin;
            std::uint64_t* const band = counts.data() + std::min(at / height_, bands - 1) * bins_;
            for (std::uint64_t k = some.row_ptr[row]; k < some.row_ptr[row + 1]; ++k) {
              ++band[some.col_idx[k] >> shift_];
            }
          }
          if (rows.size() == source_.rows()) source_.progress(some.rows.end / 4);
        });
      });
  return counts;
}

/// Blocks are of all rows unless these are too many entries for that, in a bin or in all.
void Transposer::choose_shape() {
  double all = 0;
  std::uint64_t most = 0;
  for (const std::uint64_t n : counted_) {
    all += static_cast<double>(n);
    most = std::max(most, n);
  }
  all /= static_cast<double>(bands_);
  if (most > kMostEntries) {
    height_ = std::min(height_, std::max<std::uint64_t>(1, kMostEntries >> shift_));
  }
  const std::uint64_t bin = std::uint64_t{1} << shift_;
  const std::uint64_t side = kLongestSide >> shift_ << shift_;
  const std::uint64_t widest = source_.cols() < side ? round_up(source_.cols(), bin) : side;
  const double per_block = kMeantBytes / static_cast<double>(4 + size_of(type_));
  const double width = static_cast<double>(source_.cols()) * per_block / std::max(all, 1.0);
  width_ = width < static_cast<double>(widest)
               ? std::max(bin, static_cast<std::uint64_t>(width) >> shift_ << shift_)
               : widest;
  while (width_ > bin && !fits(width_)) width_ = std::max(bin, width_ / 2 >> shift_ << shift_);
}

/// Whether no block of `width` columns has too many entries.
bool Transposer::fits(std::uint64_t width) const {
  const std::uint64_t bins = width >> shift_;
  std::uint64_t n = 0;
  for (std::uint64_t i = 0; i < counted_.size(); ++i) {
    if (i % bins_ % bins == 0) n = 0;
    n += std::min(counted_[i], kMostEntries);
    if (n > kMostEntries) return false;
  }
  return true;
}

std::uint64_t Transposer::entries(Range groups) const noexcept {
  std::uint64_t n = 0;
  const Range bins = bins_of(groups);
  for (std::uint64_t i = bins.begin; i < bins.end; ++i) n += counts_[i];
  return n;
}

/// Whether a block is better read as cells, which take no more memory than its entries then.
bool Transposer::is_dense(std::uint64_t group, Range rows) const noexcept {
  const auto n = static_cast<double>(entries({group, group + 1}));
  return n * 2 >= static_cast<double>(rows.size()) * static_cast<double>(cols_of(group).size());
}

void Transposer::run(BlockWriter& writer) {
  const bool counted = bands_ * height_ >= source_.rows();  // as high as blocks are
  std::uint64_t band = 0;
  for (std::uint64_t row = 0; row < source_.rows() && bins_ > 0; ++band) {
    const Range rows{row, row + std::min(height_, source_.rows() - row)};
    if (!counted) counted_ = count(rows, 1);
    counts_ = std::span(counted_).subspan(counted ? band * bins_ : 0, bins_);
    run_rows(writer, rows);
    row = rows.end;
  }
}

/// Of the cells of a block, while they are collected.
std::uint64_t Transposer::bytes(std::uint64_t group, Range rows, bool dense) const noexcept {
  return dense ? rows.size() * cols_of(group).size() * size_of(type_)
               : entries({group, group + 1}) * sizeof(SparseCell);
}

/// Puts the blocks of these rows, as many at a time as have few enough cells.
void Transposer::run_rows(BlockWriter& writer, Range rows) {
  const std::uint64_t groups = (source_.cols() - 1) / width_ + 1;
  const std::uint64_t collected = std::min(kCollectedBytes, memory_allowed() / 4);
  for (std::uint64_t group = 0; group < groups;) {
    const bool dense = is_dense(group, rows);
    Range some{group, group + 1};
    std::uint64_t all = bytes(group, rows, dense);
    for (; some.end < groups && is_dense(some.end, rows) == dense; ++some.end) {
      all += bytes(some.end, rows, dense);
      if (all > collected) break;
    }
    if (dense) {
      put_dense(writer, rows, some);
    } else if (all > 0 || put_all_) {
      put_sparse(writer, rows, some);
    }
    group = some.end;
    const double part = static_cast<double>(group) / static_cast<double>(groups);
    const std::uint64_t done =
        rows.begin + static_cast<std::uint64_t>(part * static_cast<double>(rows.size()));
    source_.progress(source_.rows() / 4 + done - done / 4);
  }
}

void Transposer::put_dense(BlockWriter& writer, Range rows, Range groups) const {
  const std::size_t size = size_of(type_), row_bytes = rows.size() * size;
  const Range cols{cols_of(groups.begin).begin, cols_of(groups.end - 1).end};
  Array<std::byte> cells(cols.size() * row_bytes);
  source_.read({rows, cols}, {cells.data(), type_, size, row_bytes}, source_.threads());
  parallel_in_order(groups.size(), source_.threads(), [&](std::uint64_t i, unsigned, Turn& turn) {
    const Range own = cols_of(groups.begin + i);
    writer.put({own.begin, rows.begin},
               DenseCells{cells.data() + (own.begin - cols.begin) * row_bytes, type_,
                          static_cast<std::uint32_t>(own.size()),
                          static_cast<std::uint32_t>(rows.size()), row_bytes},
               &turn);
  });
}

/// Collects the entries of a region bin by bin, the rows of each in ascending order: sorted, if a
/// bin is a column.
void Transposer::sort_by_bin(const Region& region, Range bins) {
  std::vector<std::uint64_t> next;
  ends_.clear();
  std::uint64_t n = 0;
  for (std::uint64_t i = bins.begin; i < bins.end; ++i) {
    next.push_back(n);
    ends_.push_back(n += counts_[i]);
  }
  cells_.reset(n);
  const auto fail = [&] {
    throw Error(Errc::stale_index, source_.store().file().name(), std::nullopt,
                "the file changed while it was read; try again");
  };
  source_.for_each_band(region, {}, [&](const SourceRows& band, unsigned, Turn& turn) {
    turn.take([&] {
      visit_bits(band.type, [&](auto tag) {
        for (std::uint64_t row = 0; row < band.rows.size(); ++row) {
          const auto at = static_cast<std::uint32_t>(band.rows.begin + row - region.rows.begin);
          for (std::uint64_t k = band.row_ptr[row]; k < band.row_ptr[row + 1]; ++k) {
            const std::uint64_t col = band.col_idx[k], bin = (col >> shift_) - bins.begin;
            if (next[bin] == ends_[bin]) fail();  // more than were counted
            cells_[next[bin]++] = {static_cast<std::uint32_t>(col), at,
                                   load_le<decltype(tag)>(band.values.data() + k * sizeof tag)};
          }
        }
      });
    });
  });
  if (next != ends_) fail();
}

void Transposer::put_sparse(BlockWriter& writer, Range rows, Range groups) {
  const Range bins = bins_of(groups);
  sort_by_bin({rows, {cols_of(groups.begin).begin, cols_of(groups.end - 1).end}}, bins);
  parallel_in_order(groups.size(), source_.threads(), [&](std::uint64_t i, unsigned, Turn& turn) {
    const std::uint64_t group = groups.begin + i;
    const Range cols = cols_of(group), own = bins_of({group, group + 1});
    const std::uint64_t begin = own.begin == bins.begin ? 0 : ends_[own.begin - bins.begin - 1];
    const auto cells = std::span(cells_.data(), cells_.size())
                           .subspan(begin, ends_[own.end - 1 - bins.begin] - begin);
    if (cells.empty() && !put_all_) return;  // the writer fills the gap
    for (SparseCell& cell : cells) cell.row -= static_cast<std::uint32_t>(cols.begin);
    writer.put({cols.begin, rows.begin},
               {static_cast<std::uint32_t>(cols.size()), static_cast<std::uint32_t>(rows.size())},
               type_, cells, &turn);
  });
}

}  // namespace

WriteSummary write_transposed(const Source& source, const std::filesystem::path& path,
                              const WriteOptions& options, std::vector<std::byte> hint,
                              const std::function<void()>& before_publishing) {
  Transposer transposer(source, options.kind);
  Schema schema;
  schema.rows = source.cols();
  schema.cols = source.rows();
  schema.value_type = source.schema().value_type;
  schema.storage = source.schema().storage;
  if (hint.empty()) {  // a copy by column needs none
    if (const auto own = source.schema().attributes) {
      schema.attributes = [own] { return turned_attributes(own()); };
    }
    schema.row_names = source.schema().names_of_columns();
    schema.col_names = source.schema().row_names;
  }
  WriteOptions write = options;
  write.tile = transposer.shape();
  BlockWriter writer(path, std::move(schema), write);
  transposer.run(writer);
  writer.add_hint(std::move(hint));
  if (before_publishing) before_publishing();
  const WriteSummary summary = writer.finish();
  source.progress(source.rows());
  return summary;
}

}  // namespace dapple::detail::dbdf
