// What a source stores, as rows.
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/source.h"
#include "lib/rows/row_stream.h"

namespace dapple::detail {

void Source::for_each_band(const Region& region, std::optional<ValueType> type,
                           const TakeRows& take) const {
  if (region.empty()) return;
  std::vector<ColumnRun> columns;
  Range rows{0, 0};  // of the object
  for_each_run(region, [&](const Region& from, std::uint64_t at) {
    columns.push_back({from.cols, region.cols.begin + at});
    rows = from.rows;
  });
  const bool converts = options_.value_type.has_value();
  std::optional<ValueType> stored = type;
  if (converts) {
    stored.reset();
  } else if (!type && schema_.kind == ObjectKind::matrix) {
    stored = schema_.value_type;
  }
  RowStream stream(*store_, rows, std::move(columns), stored, options_.absent);
  std::vector<SourceRows> results(worker_limit(options_.threads));
  stream.for_each<std::uint64_t>(
      options_.threads, [&](BandArrays<std::uint64_t>& band, unsigned worker, Turn& turn) {
        SourceRows& result = results[worker];
        std::swap<BandArrays<std::uint64_t>>(result, band);
        result.rows = {region.rows.begin + result.rows.begin, region.rows.begin + result.rows.end};
        result.type = stored.value_or(ValueType::u64);
        if (converts) convert_values(result);
        take(result, worker, turn);
      });
}

/// Words with values of the object's types become words with values of the output's.
void Source::convert_values(SourceRows& rows) const {
  const auto convert = options_.allow_loss ? convert_cell_lossy : convert_cell;
  std::uint64_t k = 0, kept = 0;
  for (std::uint64_t row = 0; row < rows.rows.size(); ++row) {
    for (const std::uint64_t end = rows.row_ptr[row + 1]; k < end; ++k) {
      const std::uint64_t col = object_col(rows.col_idx[k]);
      const ValueType stored = store_->schema().type_of(col);
      const auto before = load_le<std::uint64_t>(rows.values.data() + k * sizeof(std::uint64_t));
      std::uint64_t bits = 0;
      const Column* const column = changes_marks_ ? &store_->schema().columns[col] : nullptr;
      if (column != nullptr && float_mark(*column) && is_missing(column->meaning, before)) {
        bits = *float_mark(*column);
      } else if (!convert(stored, before, *options_.value_type, bits)) {
        fail_value(rows_.begin + rows.rows.begin + row, col, stored, before);
      }
      if (bits == 0) continue;  // rounded to zero
      rows.col_idx[kept] = rows.col_idx[k];
      store_le(rows.values.data() + kept * sizeof bits, bits);
      ++kept;
    }
    rows.row_ptr[row + 1] = kept;
  }
}

void Source::entries(const Region& region, const CellRun::Take& take) const {
  std::vector<std::vector<StoredCell>> cells(worker_limit(options_.threads));
  for_each_band(region, {}, [&](const SourceRows& band, unsigned worker, Turn& turn) {
    std::vector<StoredCell>& run = cells[worker];
    run.resize(band.entries());
    visit_bits(band.type, [&](auto tag) {
      for (std::uint64_t row = 0; row < band.rows.size(); ++row) {
        for (std::uint64_t k = band.row_ptr[row]; k < band.row_ptr[row + 1]; ++k) {
          run[k] = {band.rows.begin + row, band.col_idx[k],
                    load_le<decltype(tag)>(band.values.data() + k * sizeof tag)};
        }
      }
    });
    turn.take([&] {
      if (!run.empty()) take(run);
    });
  });
}

}  // namespace dapple::detail
