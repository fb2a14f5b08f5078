#include "lib/foreign/futhark/decode.h"

#include <optional>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::futhark {

namespace {

/// Elements that are no cells as they are, but are made into those that follow each other.
bool is_made(ElementType element) noexcept {
  return element == ElementType::f16 || element == ElementType::boolean;
}

/// Makes the cells of `n` elements: f32 of halves, u8 of Booleans, which must be 0 or 1.
void make_cells(const Store& store, const Entry& e, ElementType element, const std::byte* block,
                std::uint64_t at, std::uint64_t n, std::byte* cells) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (element == ElementType::f16) {
      const std::byte* const half = block + at + i * sizeof(std::uint16_t);
      store_le(cells + i * sizeof(float), half_to_float(load_le<std::uint16_t>(half)));
      continue;
    }
    cells[i] = block[at + i];
    if (const auto truth = std::to_integer<unsigned>(cells[i]); truth > 1) {
      store.fail(Errc::corrupt, e.offset + at + i,
                 std::to_string(truth) + " is no bool, which is 0 or 1");
    }
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  const HeldBytes held = store.payload(e);
  const std::size_t size = size_of(e.value_type);
  const std::uint64_t cols = part.cols.size();
  // Copies rows, the first of which is row `row` of the part.
  const auto copy = [&](std::uint64_t row, std::uint64_t rows, const std::byte* cells,
                        std::uint64_t row_bytes) {
    Target target = out;
    target.data = out.cell(row, 0);
    const std::uint64_t done = copy_rows(target, e.value_type, cells, row_bytes, rows, cols);
    if (done == rows * cols) return;
    fail_misfit(store, e, {part.rows.begin + row + done / cols, part.cols.begin + done % cols},
                cells + done / cols * row_bytes + done % cols * size, out.type);
  };
  std::uint64_t at =
      part.rows.begin * layout.row_bytes + part.cols.begin * info(layout.element).size;
  if (!is_made(layout.element)) {
    return copy(0, part.rows.size(), held.data() + at, layout.row_bytes);
  }
  std::vector<std::byte> cells(cols * size);
  for (std::uint64_t row = 0; row < part.rows.size(); ++row, at += layout.row_bytes) {
    make_cells(store, e, layout.element, held.data(), at, cols, cells.data());
    copy(row, 1, cells.data(), cells.size());
  }
}

std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  if (is_made(layout.element)) return std::nullopt;
  return DensePlace{store.payload(e), layout.row_bytes};
}

}  // namespace

const Driver kDriver = {.format = "futhark", .read = read, .in_place = in_place};

}  // namespace dapple::detail::futhark
