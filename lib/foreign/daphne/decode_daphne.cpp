#include "lib/cells/convert_cells.h"
#include "lib/foreign/daphne/daphne.h"
#include "lib/foreign/daphne/daphne_blocks.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::daphne {

namespace {

void read_dense(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  if (part.rows.empty() || part.cols.empty()) return;
  const std::uint64_t row_step = store.state<RowStep>().row_step;
  const std::size_t size = size_of(entry.value_type);
  const HeldBytes held = store.payload(entry);
  const std::byte* const block = held.data();
  const auto cell = [&](std::uint64_t row, std::uint64_t col) {
    return block + (part.rows.begin + row) * row_step + (part.cols.begin + col) * size;
  };
  if (part.cols.size() == 1) {  // down the column in one go: frames interleave theirs
    const std::size_t done = convert_cells(entry.value_type, cell(0, 0), row_step, out.type,
                                           out.data, out.row_step, part.rows.size());
    if (done < part.rows.size()) {
      fail_misfit(store, entry, {part.rows.begin + done, part.cols.begin}, cell(done, 0), out.type);
    }
    return;
  }
  const std::uint64_t rows = part.rows.size(), cols = part.cols.size();
  const std::uint64_t done = copy_rows(out, entry.value_type, cell(0, 0), row_step, rows, cols);
  if (done < rows * cols) {
    fail_misfit(store, entry, {part.rows.begin + done / cols, part.cols.begin + done % cols},
                cell(done / cols, done % cols), out.type);
  }
}

std::optional<DensePlace> dense_in_place(const Store& store, const Entry& entry) {
  return DensePlace{store.payload(entry),
                    static_cast<std::size_t>(store.state<RowStep>().row_step)};
}

}  // namespace

const Driver kDenseDriver = {.format = "daphne", .read = read_dense, .in_place = dense_in_place};

}  // namespace dapple::detail::daphne
