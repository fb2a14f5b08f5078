#include "lib/foreign/futhark/decode.h"

#include <cstring>
#include <optional>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::futhark {

namespace {

/// Puts one value to a cell; `fail` is called when it does not fit.
template <class T, class Fail>
void put(T value, ValueType type, std::byte* cell, const Fail& fail) {
  if (type == value_type_of<T>()) {
    std::memcpy(cell, &value, sizeof value);
  } else if (convert_cells(value_type_of<T>(), reinterpret_cast<const std::byte*>(&value),
                           sizeof value, type, cell, sizeof(std::uint64_t), 1) == 0) {
    fail();
  }
}

/// Binary elements that are cells as they are.
void read_plain(const Store& store, const Entry& e, const Layout& layout, const Part& part,
                const Target& out) {
  const std::size_t size = size_of(e.value_type);
  const HeldBytes held = store.payload(e);
  const std::byte* first =
      held.data() + part.rows.begin * layout.row_bytes + part.cols.begin * size;
  const std::uint64_t rows = part.rows.size(), cols = part.cols.size();
  const std::uint64_t done = copy_rows(out, e.value_type, first, layout.row_bytes, rows, cols);
  if (done < rows * cols) {
    fail_misfit(store, e, {part.rows.begin + done / cols, part.cols.begin + done % cols},
                first + done / cols * layout.row_bytes + done % cols * size, out.type);
  }
}

/// Binary elements that cells are made of: halves, and Booleans, which must be 0 or 1.
template <class T, class Make>
void read_made(const Store& store, const Entry& e, const Layout& layout, const Part& part,
               const Target& out, const Make& make) {
  const std::size_t size = info(layout.element).size;
  const HeldBytes held = store.payload(e);
  const std::byte* block = held.data();
  for (std::uint64_t r = 0; r < part.rows.size(); ++r) {
    std::uint64_t at = (part.rows.begin + r) * layout.row_bytes + part.cols.begin * size;
    for (std::uint64_t c = 0; c < part.cols.size(); ++c, at += size) {
      const T value = make(block + at);
      put(value, out.type, out.cell(r, c), [&] {
        fail_misfit(store, e, {part.rows.begin + r, part.cols.begin + c},
                    reinterpret_cast<const std::byte*>(&value), out.type);
      });
    }
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  if (layout.element == ElementType::f16) {
    read_made<float>(store, e, layout, part, out,
                     [](const std::byte* p) { return half_to_float(load_le<std::uint16_t>(p)); });
  } else if (layout.element == ElementType::boolean) {
    const HeldBytes held = store.payload(e);
    const std::byte* block = held.data();
    read_made<std::uint8_t>(store, e, layout, part, out, [&](const std::byte* p) {
      const auto truth = static_cast<std::uint8_t>(*p);
      if (truth > 1) {
        store.fail(Errc::corrupt, e.offset + static_cast<std::uint64_t>(p - block),
                   std::to_string(truth) + " is no bool, which is 0 or 1");
      }
      return truth;
    });
  } else {
    read_plain(store, e, layout, part, out);
  }
}

std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  const bool made = layout.element == ElementType::f16 || layout.element == ElementType::boolean;
  if (made) return std::nullopt;
  return DensePlace{store.payload(e), layout.row_bytes};
}

}  // namespace

const Driver kDriver = {.format = "futhark", .read = read, .in_place = in_place};

}  // namespace dapple::detail::futhark
