#include "scan.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "column_rules.h"
#include "column_types.h"
#include "counts.h"
#include "on_threads.h"
#include "tally.h"
#include "unit_reader.h"

namespace dapple::picture {

namespace {

constexpr std::uint64_t kCellsAtOnce = std::uint64_t{1} << 20;  // of a dense block

/// Calls `take(unit)` for every unit of the window; the same ones in the same order each time.
/// `decoded`: blocks of any kind are read as if they were dense.
template <class Take>
void for_each_unit(const BlocksIn& blocks, const Region& window, bool decoded, const Take& take) {
  blocks.for_each(window, [&](const BlockInfo& block) {
    Region cells = intersect(block.cells(), window);
    if (block.kind != BlockKind::dense && !decoded) return take(ScanUnit{block, cells});
    const std::uint64_t step = std::max<std::uint64_t>(1, kCellsAtOnce / block.cols);
    for (const std::uint64_t end = cells.rows.end; cells.rows.begin < end;
         cells.rows.begin = cells.rows.end) {
      cells.rows.end = cells.rows.begin + std::min(step, end - cells.rows.begin);
      take(ScanUnit{block, cells});
    }
  });
}

/// What the threads of one scan share.
struct Scan {
  Scan(const Object& o, const BlocksIn& b, Raster& r, const ScanOptions& how)
      : object(o), blocks(b), raster(r), options(how) {}

  const Object& object;
  const BlocksIn& blocks;
  Raster& raster;
  const ScanOptions& options;
  bool has_rules = false;   // some columns of the window need rules
  std::uint64_t total = 0;  // stored values in the window's blocks, for the progress

  std::atomic<std::uint64_t> next{0};   // unit that no thread has taken
  std::atomic<std::uint64_t> asked{0};  // units whose blocks the system was asked to load
  std::atomic<bool> failed{false};
  std::mutex mutex;  // guards what follows, and the raster's pixels
  std::uint64_t done = 0;
};

/// Every thread walks over all units and reads those that it takes: a list of them would be as long
/// as the file has blocks.
class Worker {
 public:
  explicit Worker(Scan& scan)
      : scan_(scan),
        reader_(scan.object, scan.blocks, scan.raster, scan.options.file, scan.has_rules),
        taken_(scan.next++) {}

  void run() {
    constexpr std::uint64_t kAhead = std::uint64_t{4} << 20;  // bytes that are being loaded
    std::deque<ScanUnit> ahead;
    std::uint64_t listed = 0, bytes = 0;
    const auto read_first = [&] {
      read(ahead.front());
      bytes -= ahead.front().block.bytes;
      ahead.pop_front();
    };
    for_each_unit(scan_.blocks, scan_.raster.region(), scan_.has_rules, [&](const ScanUnit& unit) {
      std::uint64_t number = listed++;
      if (scan_.asked.compare_exchange_strong(number, listed)) ask_for(unit);
      ahead.push_back(unit);
      bytes += unit.block.bytes;
      while (bytes > kAhead) read_first();
    });
    while (!ahead.empty()) read_first();
  }

 private:
  void ask_for(const ScanUnit& unit) const {
    constexpr std::uint64_t kPage = 4096;  // smaller blocks come with their neighbours
    if (unit.block.bytes >= kPage) base(scan_.object).prefetch(unit.cells);
  }
  void read(const ScanUnit& unit) {
    if (number_++ != taken_ || scan_.failed) return;
    reader_.read(unit);
    const std::lock_guard lock(scan_.mutex);
    reader_.add_to(scan_.raster);
    if (scan_.options.progress && scan_.total > 0) {
      scan_.done += unit.block.kind == BlockKind::dense ? unit.cells.rows.size() * unit.block.cols
                                                        : unit.block.stored;
      scan_.options.progress(std::min(scan_.done, scan_.total), scan_.total);
    }
    taken_ = scan_.next++;
  }

  Scan& scan_;
  UnitReader reader_;
  std::uint64_t number_ = 0, taken_;  // of units: the next one, and the one that this takes
};

}  // namespace

void draw_cells(const Object& object, const BlocksIn& blocks, Raster& raster,
                const ScanOptions& options) {
  Scan scan(object, blocks, raster, options);
  scan.has_rules = needs_rules(object, raster.cols.cells());
  if (options.progress) scan.total = stored_in(blocks, raster.region());
  on_threads(options.threads, [&scan] {
    try {
      Worker(scan).run();
    } catch (...) {
      scan.failed = true;
      throw;
    }
  });
  base(object).require_intact();
}

namespace {

/// `n` cells of a row, all in one block.
Pixel read_run(const Object& object, const BlockInfo& block, std::uint64_t row, std::uint64_t first,
               std::uint64_t n) {
  Pixel pixel;
  pixel.cells = pixel.known = static_cast<double>(n);
  if (block.kind == BlockKind::empty) return pixel;
  each_type(object, block, {first, first + n}, [&](auto tag, Range cols) {
    using T = decltype(tag);
    std::vector<T> values(cols.size());
    const Region cells{{row, row + 1}, cols};
    std::visit([&](const auto& o) { o.read(cells, std::span(values)); }, object);
    RunTally<T> tally;
    tally.add(reinterpret_cast<const std::byte*>(values.data()), cols.size());
    tally.move_to(pixel);
  });
  return pixel;
}

}  // namespace

void draw_samples(const Object& object, const BlocksIn& blocks, Raster& raster) {
  constexpr std::uint64_t kSample = 64;  // cells in a row
  draw_counts(blocks, raster);
  for (std::size_t r = 0; r < raster.height(); ++r) {
    const Range rows = raster.rows.pixel(r);
    const std::uint64_t row = rows.begin + rows.size() / 2;
    for (std::size_t c = 0; c < raster.width(); ++c) {
      const Range cols = raster.cols.pixel(c);
      const auto block = base(object).find_cover(row, cols.begin + cols.size() / 2);
      if (!block) continue;
      const BlockInfo info = block->info();
      if (info.kind == BlockKind::csr || info.kind == BlockKind::coo) continue;
      const Range inside = intersect(cols, info.cells().cols);
      const std::uint64_t n = std::min(inside.size(), kSample);
      const Pixel sample = read_run(object, info, row, inside.begin + (inside.size() - n) / 2, n);
      // Of the non-zeros of a dense block the sample knows better, of others the counts.
      Pixel& pixel = raster.at(r, c);
      const double cells = pixel.cells;
      const double nonzero =
          info.kind == BlockKind::dense ? cells * sample.nonzero / sample.cells : pixel.nonzero;
      pixel = sample;
      pixel.cells = cells;
      pixel.nonzero = nonzero;
    }
  }
}

}  // namespace dapple::picture
