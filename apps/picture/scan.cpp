#include "scan.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "column_rules.h"
#include "counts.h"
#include "on_threads.h"
#include "tally.h"

namespace dapple::picture {

namespace {

constexpr std::uint64_t kCellsAtOnce = std::uint64_t{1} << 20;  // of a dense block

/// A part of one block that one thread reads at once.
struct Unit {
  const BlockInfo& block;
  Region cells;  // inside the window
};

/// Calls `take(unit)` for every unit of the window; the same ones in the same order each time.
/// `decoded`: blocks of any kind are read as if they were dense.
template <class Take>
void for_each_unit(const BlocksIn& blocks, const Region& window, bool decoded, const Take& take) {
  blocks.for_each(window, [&](const BlockInfo& block) {
    Region cells = intersect(block.cells(), window);
    if (block.kind != BlockKind::dense && !decoded) return take(Unit{block, cells});
    const std::uint64_t step = std::max<std::uint64_t>(1, kCellsAtOnce / block.cols);
    for (const std::uint64_t end = cells.rows.end; cells.rows.begin < end;
         cells.rows.begin = cells.rows.end) {
      cells.rows.end = cells.rows.begin + std::min(step, end - cells.rows.begin);
      take(Unit{block, cells});
    }
  });
}

/// The pixels of one unit, before they are added to the raster.
class Patch {
 public:
  explicit Patch(const Raster& raster) : rows_(raster.rows), cols_(raster.cols) {}

  void start(const Region& cells) {
    down_ = rows_.pixels_of(cells.rows);
    across_ = cols_.pixels_of(cells.cols);
    width_ = across_.end - across_.begin;
    pixels_.assign((down_.end - down_.begin) * width_, Pixel());
    for (std::size_t r = down_.begin; r < down_.end; ++r) {
      const auto high = static_cast<double>(intersect(rows_.pixel(r), cells.rows).size());
      for (std::size_t c = across_.begin; c < across_.end; ++c) {
        Pixel& pixel = row(r)[c - across_.begin];
        pixel.cells = high * static_cast<double>(intersect(cols_.pixel(c), cells.cols).size());
        pixel.known = pixel.cells;
      }
    }
  }
  /// Pixels of a row of them, from `across().begin`.
  Pixel* row(std::size_t r) { return pixels_.data() + (r - down_.begin) * width_; }
  const Axis::Pixels& across() const { return across_; }
  bool is_one_pixel() const { return pixels_.size() == 1; }
  /// REQUIRES one pixel.
  void set(const Pixel& pixel) { pixels_.front() = pixel; }

  void add_to(Raster& raster) const {
    const Pixel* from = pixels_.data();
    for (std::size_t r = down_.begin; r < down_.end; ++r) {
      for (std::size_t c = across_.begin; c < across_.end; ++c) raster.at(r, c).add(*from++);
    }
  }

 private:
  const Axis &rows_, &cols_;
  Axis::Pixels down_{}, across_{};
  std::size_t width_ = 0;
  std::vector<Pixel> pixels_;
};

/// What a block stores, or what makes it out of the block, since not every format stores its values
/// as views show them.
template <class View, class Else>
bool with_view(const View& view, const Else& otherwise) {
  try {
    view();
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::type_mismatch) throw;
  }
  otherwise();
  return false;
}

/// Reads units of one value type into patches.
template <Value T>
class Reader {
 public:
  Reader(const Object& object, const BlocksIn& blocks, const Raster& raster,
         const std::string& file, Patch& patch)
      : object_(object), blocks_(blocks), raster_(raster), file_(file), patch_(patch) {}

  void read(const Unit& unit) {
    try {
      read_block(unit);
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      // Views know neither their file nor their place in it.
      const std::string row = csr_row_ ? ", row " + std::to_string(*csr_row_) : "";
      throw Error(error.code(), file_, unit.block.offset,
                  name_of(unit) + row + ": " + error.detail(), error.remedy());
    }
  }

 private:
  void read_block(const Unit& unit) {
    const Block block = blocks_.fetch(unit.block);
    const auto rules = column_rules<T>(object_, unit.cells.cols);
    if (!rules.empty()) return read_by(rules, unit);
    if (unit.block.kind == BlockKind::dense) {
      with_view([&] { read_view(block.dense_view<T>(), unit); }, [&] { read_copy(unit); });
    } else if (unit.block.kind == BlockKind::csr) {
      with_view([&] { read_rows(block.csr_view<T>(), unit); }, [&] { read_arrays(block, unit); });
    } else if (unit.block.kind == BlockKind::coo) {
      with_view([&] { read_entries(block.coo_view<T>(), unit); },
                [&] { read_arrays(block, unit); });
    }
  }
  void read_view(const DenseView<T>& view, const Unit& unit) {
    const std::uint64_t skipped = (unit.cells.cols.begin - unit.block.pos.cx) * sizeof(T);
    read_dense(
        unit, [&](std::uint64_t row) { return view.row_bytes(row - unit.block.pos.rx) + skipped; });
  }
  std::vector<T> copy_of(const Unit& unit) const {
    std::vector<T> cells(unit.cells.rows.size() * unit.cells.cols.size());
    std::visit([&](const auto& o) { o.read(unit.cells, std::span(cells)); }, object_);
    return cells;
  }
  void read_by(const std::vector<ColumnRule<T>>& rules, const Unit& unit) {
    const std::vector<T> cells = copy_of(unit);
    const T* cell = cells.data();
    for (std::uint64_t row = unit.cells.rows.begin; row < unit.cells.rows.end; ++row) {
      start_row(row);
      std::uint64_t col = unit.cells.cols.begin;
      for (const ColumnRule<T>& rule : rules) {
        rule.add(row_[raster_.cols.pixel_of(col++) - patch_.across().begin], *cell++);
      }
    }
  }
  void read_copy(const Unit& unit) {
    const std::uint64_t wide = unit.cells.cols.size();
    const std::vector<T> cells = copy_of(unit);
    read_dense(unit, [&](std::uint64_t row) {
      return reinterpret_cast<const std::byte*>(cells.data() +
                                                (row - unit.cells.rows.begin) * wide);
    });
  }
  /// `bytes_of(row)`: of the unit's cells in that row.
  template <class BytesOf>
  void read_dense(const Unit& unit, const BytesOf& bytes_of) {
    const Axis::Pixels across = patch_.across();
    std::vector<std::uint64_t> sizes;
    for (std::size_t c = across.begin; c < across.end; ++c) {
      sizes.push_back(intersect(raster_.cols.pixel(c), unit.cells.cols).size());
    }
    std::vector<RunTally<T>> tallies(sizes.size());
    for (std::uint64_t row = unit.cells.rows.begin; row < unit.cells.rows.end;) {
      const std::size_t r = raster_.rows.pixel_of(row);
      const std::uint64_t end = std::min(raster_.rows.pixel(r).end, unit.cells.rows.end);
      for (; row < end; ++row) {
        const std::byte* bytes = bytes_of(row);
        for (std::size_t c = 0; c < sizes.size(); ++c) {
          tallies[c].add(bytes, sizes[c]);
          bytes += sizes[c] * sizeof(T);
        }
      }
      Pixel* pixel = patch_.row(r);
      for (RunTally<T>& tally : tallies) tally.move_to(*pixel++);
    }
  }

  void read_rows(const CsrView<T>& view, const Unit& unit) {
    std::uint64_t& row = csr_row_.emplace(unit.block.pos.rx);
    for (const CsrRow<T> entries : view) {
      if (row >= unit.cells.rows.end) break;
      if (row >= unit.cells.rows.begin) {
        start_row(row);
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
          add(entries.col(i), entries.value(i), unit);
        }
      }
      ++row;
    }
  }
  void read_entries(const CooView<T>& view, const Unit& unit) {
    for (const Triplet<T> entry : view) {
      if (entry.row >= unit.block.rows) fail("row", entry.row, unit);
      const std::uint64_t row = unit.block.pos.rx + entry.row;
      if (!unit.cells.rows.contains(row)) continue;
      start_row(row);
      add(entry.col, entry.value, unit);
    }
  }
  void read_arrays(const Block& block, const Unit& unit) {
    const Csr<T, std::uint32_t> arrays = block.to_csr<T>();
    for (std::uint64_t row = unit.cells.rows.begin; row < unit.cells.rows.end; ++row) {
      const std::uint64_t r = row - unit.block.pos.rx;
      start_row(row);
      for (std::uint64_t k = arrays.row_ptr[r]; k < arrays.row_ptr[r + 1]; ++k) {
        add(arrays.col_idx[k], arrays.values[k], unit);
      }
    }
  }

  void start_row(std::uint64_t row) {
    if (pixel_rows_.contains(row)) return;
    const std::size_t r = raster_.rows.pixel_of(row);
    pixel_rows_ = raster_.rows.pixel(r);
    row_ = patch_.row(r);
  }
  void add(std::uint32_t block_col, T value, const Unit& unit) {
    const std::uint64_t col = unit.block.pos.cx + block_col;
    if (!pixel_cols_.contains(col)) {
      if (block_col >= unit.block.cols) fail("column", block_col, unit);
      if (!unit.cells.cols.contains(col)) return;
      const std::size_t c = raster_.cols.pixel_of(col);
      pixel_cols_ = intersect(raster_.cols.pixel(c), unit.cells.cols);
      col_ = c - patch_.across().begin;
    }
    Pixel& pixel = row_[col_];
    const auto v = static_cast<double>(value);
    const bool number = v == v;
    pixel.nonzero += v != 0;
    pixel.nan += !number;
    pixel.sum += number ? v : 0;
    pixel.least = v < pixel.least ? v : pixel.least;
    pixel.most = v > pixel.most ? v : pixel.most;
  }
  static std::string name_of(const Unit& unit) {
    return "block (" + std::to_string(unit.block.pos.rx) + ", " +
           std::to_string(unit.block.pos.cx) + ")";
  }
  [[noreturn]] void fail(std::string_view what, std::uint32_t number, const Unit& unit) const {
    throw Error(Errc::corrupt, file_, unit.block.offset,
                name_of(unit) + " stores a value in " + std::string(what) + " " +
                    std::to_string(number) + ", outside its " + std::to_string(unit.block.rows) +
                    " x " + std::to_string(unit.block.cols) + " cells (R5)");
  }

  const Object& object_;
  const BlocksIn& blocks_;
  const Raster& raster_;
  const std::string& file_;
  Patch& patch_;
  // The pixel of the last entry, and which cells of this block it stands for.
  Range pixel_rows_, pixel_cols_;
  Pixel* row_ = nullptr;
  std::size_t col_ = 0;
  std::optional<std::uint64_t> csr_row_;  // that is read
};

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

  std::atomic<std::uint64_t> next{0};  // unit that no thread has taken
  std::atomic<bool> failed{false};
  std::mutex mutex;  // guards what follows, and the raster's pixels
  std::uint64_t done = 0;
};

/// Every thread walks over all units and reads those that it takes: a list of them would be as long
/// as the file has blocks.
void work(Scan& scan) {
  Patch patch(scan.raster);
  std::uint64_t number = 0, taken = scan.next++;
  for_each_unit(scan.blocks, scan.raster.region(), scan.has_rules, [&](const Unit& unit) {
    if (number++ != taken || scan.failed) return;
    patch.start(unit.cells);
    // Looking up statistics is much faster than finding the values of a tiny block.
    const auto known = !scan.has_rules && patch.is_one_pixel() && unit.cells == unit.block.cells()
                           ? known_pixel(base(scan.object), unit.block)
                           : std::nullopt;
    if (known) {
      patch.set(*known);
    } else if (unit.block.kind != BlockKind::empty || scan.has_rules) {
      visit_type(unit.block.value_type, [&](auto tag) {
        Reader<decltype(tag)>(scan.object, scan.blocks, scan.raster, scan.options.file, patch)
            .read(unit);
      });
    }
    const std::lock_guard lock(scan.mutex);
    patch.add_to(scan.raster);
    if (scan.options.progress && scan.total > 0) {
      scan.done += unit.block.kind == BlockKind::dense ? unit.cells.rows.size() * unit.block.cols
                                                       : unit.block.stored;
      scan.options.progress(std::min(scan.done, scan.total), scan.total);
    }
    taken = scan.next++;
  });
}

}  // namespace

void draw_cells(const Object& object, const BlocksIn& blocks, Raster& raster,
                const ScanOptions& options) {
  Scan scan(object, blocks, raster, options);
  scan.has_rules = needs_rules(object, raster.cols.cells());
  if (options.progress) scan.total = stored_in(blocks, raster.region());
  on_threads(options.threads, [&scan] {
    try {
      work(scan);
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
  visit_type(block.value_type, [&](auto tag) {
    using T = decltype(tag);
    std::vector<T> values(n);
    const Region cells{{row, row + 1}, {first, first + n}};
    std::visit([&](const auto& o) { o.read(cells, std::span(values)); }, object);
    RunTally<T> tally;
    tally.add(reinterpret_cast<const std::byte*>(values.data()), n);
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
