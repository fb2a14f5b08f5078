#include "lib/rows/gather.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail {

void fail_outside(const Store& store, const char* what, std::uint64_t number, std::size_t at,
                  std::uint64_t limit) {
  throw Error(Errc::out_of_range, store.known_as(), std::nullopt,
              std::string(what) + " " + std::to_string(number) + ", number " + std::to_string(at) +
                  " of the list, is outside the " + std::to_string(limit) + " " + what + "s");
}

void require_rows(const Store& store, std::span<const std::uint64_t> rows) {
  const std::uint64_t limit = store.schema().rows;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] >= limit) fail_outside(store, "row", rows[k], k, limit);
  }
}

Range require_columns(const Store& store, const GatherOptions& options) {
  const Range cols = options.cols.value_or(Range{0, store.schema().cols});
  store.require_inside({{0, 0}, cols});
  return cols;
}

void require_apart(const Store& store, const void* list, std::size_t list_bytes, const void* out,
                   std::size_t out_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(list), b = reinterpret_cast<std::uintptr_t>(out);
  if (list_bytes == 0 || out_bytes == 0 || (a < b ? b - a >= list_bytes : a - b >= out_bytes)) {
    return;
  }
  throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
              "the output overlaps the list of what to gather");
}

namespace {

void require_room(const Store& store, std::size_t size, std::uint64_t needed) {
  if (size >= needed) return;
  throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
              "the output has room for " + counted(size, "value") + ", " + std::to_string(needed) +
                  " are needed");
}

/// Dense cells of rows that one worker finds.
class CellGather {
 public:
  CellGather(const Store& store, Range cols, ValueType type, Absent absent)
      : finder_(store, cols, absent), store_(store), reader_(store, type), type_(type) {}

  RowFinder& finder() noexcept { return finder_; }

  /// Puts the cells of a part that was found to `out`.
  void put(const RowPart& part, const Target& out) {
    if (part.block->way == BlockRows::Way::dense) return put_dense(part, out);
    std::memset(out.data, 0, part.cols().size() * size_of(type_));
    if (part.stored == 0) return;
    cols_.reset(part.stored);
    values_.reset(part.stored * size_of(type_));
    RowSink<std::uint32_t> sink{cols_.data(), values_.data()};
    finder_.append<std::uint32_t>(part, reader_, 0, sink);
    visit_bits(type_, [&](auto tag) {
      using Bits = decltype(tag);
      for (std::uint64_t k = 0; k < sink.size; ++k) {
        store_le(out.data + cols_[k] * sizeof(Bits),
                 load_le<Bits>(values_.data() + k * sizeof(Bits)));
      }
    });
  }

 private:
  void put_dense(const RowPart& part, const Target& out) const {
    const ValueType stored = part.block->value_type;
    const Schema& schema = store_.schema();
    const std::size_t count = part.cols().size(), size = size_of(stored);
    // Values that may not fit what their columns declare need a closer look.
    if (part.at != nullptr && schema.kind == ObjectKind::matrix &&
        holds_all(schema.value_type, stored)) {
      if (stored == type_) {
        std::memcpy(out.data, part.at, count * size);
        return;
      }
      if (convert_cells(stored, part.at, size, type_, out.data, size_of(type_), count) == count) {
        return;
      }
    }
    store_.driver().read(store_, part.block->block.entry(), {part.rows(), part.cols()}, out);
  }

  RowFinder finder_;
  const Store& store_;
  RowReader<std::uint32_t> reader_;
  const ValueType type_;
  Array<std::uint32_t> cols_;
  Array<std::byte> values_;
};

/// Puts the cells of each item of a list of rows, in these columns, or of cells to target_of(k).
template <class T, class TargetOf>
void gather_each(const Store& store, std::span<const T> list, Range cols, ValueType type,
                 const GatherOptions& options, const TargetOf& target_of) {
  const bool has_gaps = !store.index().grid();
  if (has_gaps && options.absent == Absent::nan) {  // which only a read fills in
    for (std::size_t k = 0; k < list.size(); ++k) {
      report(options, 0, k, list.size());
      store.read(cells_of(list[k], cols), target_of(k), {options.absent, 1});
    }
    return;
  }
  std::vector<std::unique_ptr<CellGather>> workers;
  while (workers.size() < worker_limit(options.threads)) {
    workers.push_back(std::make_unique<CellGather>(store, cols, type, options.absent));
  }
  // Pieces of the list so large that a report between them is no burden.
  const std::uint64_t at_once =
      found_at_once(store, workers[0]->finder(), list, cols.size(), options.threads);
  const std::uint64_t chunks = list.size() / at_once + (list.size() % at_once != 0 ? 1 : 0);
  const std::size_t size = size_of(type);
  parallel_for(chunks, options.threads, [&](std::uint64_t i, unsigned worker) {
    const std::size_t first = i * at_once;
    report(options, worker, first, list.size());
    const auto chunk = list.subspan(first, std::min<std::size_t>(at_once, list.size() - first));
    CellGather& gather = *workers[worker];
    RowFinder& finder = gather.finder();
    store.watched([&] {
      const RowFinder::Hold hold(finder);
      finder.find(chunk);
      for (std::size_t k = 0; k < chunk.size(); ++k) {
        const std::size_t at = finder.at(k);
        finder.use(at);
        const Target to = target_of(first + at);
        if (has_gaps) std::memset(to.data, 0, cells_of(chunk[at], cols).cols.size() * size);
        for (const RowPart& part : finder.parts(at)) {
          gather.put(part, {to.cell(0, part.first), type, 0, size});
        }
      }
    });
  });
}

}  // namespace

void gather_rows_to(const BlockedObject& object, std::span<const std::uint64_t> rows, void* out,
                    std::size_t size, std::size_t row_stride, ValueType type,
                    const GatherOptions& options) {
  const Store& store = object.store();
  const Range cols = require_columns(store, options);
  require_rows(store, rows);
  const std::uint64_t stride = row_stride != 0 ? row_stride : cols.size();
  if (stride < cols.size()) {
    throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
                "rows of " + counted(cols.size(), "value") + " overlap when they are " +
                    counted(stride, "value") + " apart");
  }
  if (rows.empty() || cols.empty()) return;
  std::uint64_t needed = 0;
  if (!multiply(rows.size() - 1, stride, needed) || needed > ~cols.size()) needed = ~cols.size();
  require_room(store, size, needed + cols.size());
  const std::size_t value = size_of(type);
  require_apart(store, rows.data(), rows.size_bytes(), out, size * value);
  const Target target{static_cast<std::byte*>(out), type, stride * value, value};
  gather_each(store, rows, cols, type, options, [&](std::size_t k) {
    return Target{target.cell(k, 0), type, target.row_step, value};
  });
}

void gather_cells_to(const BlockedObject& object, std::span<const CellPos> cells, void* out,
                     std::size_t size, ValueType type, const GatherOptions& options) {
  const Store& store = object.store();
  const Schema& schema = store.schema();
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (cells[k].row >= schema.rows) fail_outside(store, "row", cells[k].row, k, schema.rows);
    if (cells[k].col >= schema.cols) fail_outside(store, "column", cells[k].col, k, schema.cols);
  }
  require_room(store, size, cells.size());
  require_apart(store, cells.data(), cells.size_bytes(), out, cells.size() * size_of(type));
  const std::size_t value = size_of(type);
  gather_each(store, cells, {0, 0}, type, options, [&](std::size_t k) {
    return Target{static_cast<std::byte*>(out) + k * value, type, value, value};
  });
}

}  // namespace dapple::detail

namespace dapple {

bool covers(const BlockedObject& object, Range rows, std::span<const std::uint64_t> cols) {
  const detail::Store& store = object.store();
  if (!std::is_sorted(cols.begin(), cols.end())) {
    throw Error(Errc::invalid_argument, "columns that may be absent must ascend");
  }
  store.require_inside({rows, {0, 0}});
  if (const auto limit = store.schema().cols; !cols.empty() && cols.back() >= limit) {
    detail::fail_outside(store, "column", cols.back(), cols.size() - 1, limit);
  }
  return store.watched([&] { return store.covers(rows, cols); });
}

std::size_t convert_values(ValueType from, std::span<const std::byte> values, ValueType to,
                           std::span<std::byte> out) {
  detail::require_known(from);
  detail::require_known(to);
  const std::size_t step = size_of(from), to_step = size_of(to), n = values.size() / step;
  if (out.size() / to_step < n) {
    throw Error(Errc::invalid_argument, "there is no room for " + detail::counted(n, "value"));
  }
  return detail::convert_cells(from, values.data(), step, to, out.data(), to_step, n);
}

}  // namespace dapple
