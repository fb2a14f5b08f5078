#include "unit_reader.h"

#include <optional>
#include <vector>

#include "column_rules.h"
#include "column_types.h"
#include "counts.h"
#include "tally.h"

namespace dapple::picture {

namespace {

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
         const std::string& file, Patch& patch, PixelsOfColumns& pixel_of)
      : object_(object),
        blocks_(blocks),
        raster_(raster),
        file_(file),
        patch_(patch),
        pixel_of_(pixel_of) {}

  void read(const ScanUnit& unit) {
    try {
      read_block(unit);
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      // Views know neither their file nor their place in it.
      const std::string row = csr_row_ ? ", row " + std::to_string(*csr_row_) : "";
      throw error.retold(file_, unit.block.offset, name_of(unit) + row + ": " + error.detail());
    }
  }

 private:
  void read_block(const ScanUnit& unit) {
    const Block block = blocks_.fetch(unit.block);
    const auto rules = column_rules<T>(object_, unit.cells.cols);
    if (!rules.empty()) return read_by(rules, unit);
    if (unit.block.kind == BlockKind::dense) {
      with_view([&] { read_view(block.dense_view<T>(), unit); }, [&] { read_copy(unit); });
      return;
    }
    pixel_of_.start(raster_.cols, unit);
    tallies_.resize(patch_.across().end - patch_.across().begin);
    tallied_ = {tallies_.size(), 0};
    if (unit.block.kind == BlockKind::csr) {
      with_view([&] { read_rows(block.csr_view<T>(), unit); }, [&] { read_arrays(block, unit); });
    } else if (unit.block.kind == BlockKind::coo) {
      with_view([&] { read_entries(block.coo_view<T>(), unit); },
                [&] { read_arrays(block, unit); });
    }
    end_row();
  }
  void read_view(const DenseView<T>& view, const ScanUnit& unit) {
    const std::uint64_t skipped = (unit.cells.cols.begin - unit.block.pos.cx) * sizeof(T);
    read_dense(
        unit, [&](std::uint64_t row) { return view.row_bytes(row - unit.block.pos.rx) + skipped; });
  }
  std::vector<T> copy_of(const ScanUnit& unit) const {
    std::vector<T> cells(unit.cells.rows.size() * unit.cells.cols.size());
    std::visit([&](const auto& o) { o.read(unit.cells, std::span(cells)); }, object_);
    return cells;
  }
  void read_by(const std::vector<ColumnRule<T>>& rules, const ScanUnit& unit) {
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
  void read_copy(const ScanUnit& unit) {
    const std::uint64_t wide = unit.cells.cols.size();
    const std::vector<T> cells = copy_of(unit);
    read_dense(unit, [&](std::uint64_t row) {
      return reinterpret_cast<const std::byte*>(cells.data() +
                                                (row - unit.cells.rows.begin) * wide);
    });
  }
  /// `bytes_of(row)`: of the unit's cells in that row.
  template <class BytesOf>
  void read_dense(const ScanUnit& unit, const BytesOf& bytes_of) {
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

  void read_rows(const CsrView<T>& view, const ScanUnit& unit) {
    std::uint64_t& row = csr_row_.emplace(unit.block.pos.rx);
    for (const CsrRow<T> entries : view) {
      if (row >= unit.cells.rows.end) break;
      if (row >= unit.cells.rows.begin) {
        start_row(row);
        tallied_ = {0, tallies_.size()};
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
          add(entries.col(i), entries.value(i), unit);
        }
      }
      ++row;
    }
  }
  void read_entries(const CooView<T>& view, const ScanUnit& unit) {
    for (const Triplet<T> entry : view) {
      if (entry.row >= unit.block.rows) fail("row", entry.row, unit);
      const std::uint64_t row = unit.block.pos.rx + entry.row;
      if (!unit.cells.rows.contains(row)) continue;
      start_row(row);
      const std::uint64_t c = add(entry.col, entry.value, unit);
      if (c == PixelsOfColumns::kOutside) continue;
      // Entries may be in any order, so that a row may have to be ended after each.
      tallied_ = {std::min(tallied_.begin, c), std::max(tallied_.end, c + 1)};
    }
  }
  void read_arrays(const Block& block, const ScanUnit& unit) {
    const Csr<T, std::uint32_t> arrays = block.to_csr<T>();
    for (std::uint64_t row = unit.cells.rows.begin; row < unit.cells.rows.end; ++row) {
      const std::uint64_t r = row - unit.block.pos.rx;
      start_row(row);
      tallied_ = {0, tallies_.size()};
      for (std::uint64_t k = arrays.row_ptr[r]; k < arrays.row_ptr[r + 1]; ++k) {
        add(arrays.col_idx[k], arrays.values[k], unit);
      }
    }
  }

  void start_row(std::uint64_t row) {
    if (pixel_rows_.contains(row)) return;
    end_row();
    const std::size_t r = raster_.rows.pixel_of(row);
    pixel_rows_ = raster_.rows.pixel(r);
    row_ = patch_.row(r);
  }
  /// Adds what was tallied of a row of pixels.
  void end_row() {
    for (; tallied_.begin < tallied_.end; ++tallied_.begin) {
      Tally<T>& tally = tallies_[tallied_.begin];
      tally.add_to(row_[tallied_.begin]);
      tally = {};
    }
    tallied_ = {tallies_.size(), 0};
  }
  /// Returns the pixel, or PixelsOfColumns::kOutside.
  std::uint32_t add(std::uint32_t block_col, T value, const ScanUnit& unit) {
    if (block_col >= unit.block.cols) fail("column", block_col, unit);
    const std::uint32_t c = pixel_of_(block_col);
    if (c != PixelsOfColumns::kOutside) tallies_[c].add(value);
    return c;
  }
  static std::string name_of(const ScanUnit& unit) {
    return "block (" + std::to_string(unit.block.pos.rx) + ", " +
           std::to_string(unit.block.pos.cx) + ")";
  }
  [[noreturn]] void fail(std::string_view what, std::uint32_t number, const ScanUnit& unit) const {
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
  // The pixels of the last entry's row, and which rows of this block they stand for.
  Range pixel_rows_;
  Pixel* row_ = nullptr;
  PixelsOfColumns& pixel_of_;             // of the entries of a sparse block
  std::vector<Tally<T>> tallies_;         // of these, in a row of pixels,
  Range tallied_{0, 0};                   //   and which of them hold something
  std::optional<std::uint64_t> csr_row_;  // that is read
};

}  // namespace

UnitReader::UnitReader(const Object& object, const BlocksIn& blocks, const Raster& raster,
                       const std::string& file, bool has_rules)
    : object_(object),
      blocks_(blocks),
      raster_(raster),
      file_(file),
      has_rules_(has_rules),
      patch_(raster) {}

void UnitReader::read(const ScanUnit& unit) {
  patch_.start(unit.cells);
  // Looking up statistics is much faster than finding the values of a tiny block.
  const auto known = !has_rules_ && patch_.is_one_pixel() && unit.cells == unit.block.cells()
                         ? known_pixel(base(object_), unit.block)
                         : std::nullopt;
  if (known) return patch_.set(*known);
  if (unit.block.kind == BlockKind::empty && !has_rules_) {
    static_cast<void>(blocks_.fetch(unit.block));  // which compares the entry with the block
    return;
  }
  each_type(object_, unit.block, unit.cells.cols, [&](auto tag, Range cols) {
    Reader<decltype(tag)>(object_, blocks_, raster_, file_, patch_, pixel_of_)
        .read({unit.block, {unit.cells.rows, cols}});
  });
}

}  // namespace dapple::picture
