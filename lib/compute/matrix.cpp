#include "dapple/matrix.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dapple/frame.h"
#include "lib/base/closest.h"
#include "lib/base/value_types.h"
#include "lib/object/groups.h"
#include "lib/object/store.h"
#include "lib/rows/csr.h"

namespace dapple {

namespace detail {

namespace {

// Number of values of a region.
std::size_t cells_of(const Store& store, const Region& region) {
  store.require_inside(region);
  std::uint64_t cells;
  if (!multiply(region.rows.size(), region.cols.size(), cells)) throw std::bad_alloc();
  return cells;
}

}  // namespace

}  // namespace detail

ValueType Matrix::value_type() const noexcept { return store_->schema().value_type; }
Storage Matrix::storage() const noexcept { return store_->schema().storage; }
const ColumnGroup* Matrix::group() const& noexcept { return store_->schema().group.get(); }

template <Value T>
std::vector<T> Matrix::read(const Region& region, const ReadOptions& options) const {
  return detail::fill_memory(*store_, region, [&] {
    std::vector<T> out(detail::cells_of(*store_, region));
    read(region, std::span<T>(out), 0, options);
    return out;
  });
}

template <Value T, class Col>
Csr<T, Col> Matrix::read_csr(const Region& region, const ReadOptions& options) const {
  Csr<T, Col> out;
  detail::read_csr(*store_, region, options, out);
  return out;
}

const std::string& Frame::label(std::uint64_t col) const& { return column_info(col).label; }

const Column& Frame::column_info(std::uint64_t col) const& {
  column_type(col);  // throws out_of_range
  return store_->schema().columns[col];
}

std::optional<std::uint64_t> Frame::find_column(std::string_view label) const noexcept {
  const auto& columns = store_->schema().columns;
  for (std::uint64_t k = 0; k < columns.size(); ++k) {
    if (columns[k].label == label) return k;
  }
  return std::nullopt;
}

std::uint64_t Frame::column(std::string_view label) const {
  if (const auto found = find_column(label)) return *found;
  constexpr std::uint64_t kMost = 10000;  // labels are compared
  const auto meant =
      detail::closest(label, std::min(cols(), kMost),
                      [this](std::uint64_t k) -> std::string_view { return this->label(k); });
  std::string detail = "no column \"" + std::string(label) + "\"";
  if (meant) detail += "; did you mean \"" + this->label(*meant) + "\"?";
  throw Error(Errc::absent, store_->file().name(), std::nullopt, std::move(detail),
              meant ? Remedy::none : Remedy::list_columns);
}

std::vector<Range> Frame::groups() const { return detail::all_groups(store_->schema().columns); }

std::optional<Range> Frame::find_group(std::string_view name) const {
  std::optional<Range> found;
  for (const Range& group : groups()) {
    if (column_info(group.begin).group->name == name) found = group;
  }
  return found;
}

template <Value T>
std::vector<T> Frame::read_column(std::uint64_t col, Range rows, const ReadOptions& options) const {
  const Region region{rows, {col, col + 1}};
  return detail::fill_memory(*store_, region, [&] {
    std::vector<T> out(detail::cells_of(*store_, region));
    read_column(col, rows, std::span<T>(out), options);
    return out;
  });
}

void Frame::read_rows(Range rows, std::span<const ColumnBuffer> columns,
                      const ReadOptions& options) const {
  store_->read_rows(rows, columns, options);
}

#define DAPPLE_INSTANTIATE(T)                                                               \
  template std::vector<T> Matrix::read(const Region&, const ReadOptions&) const;            \
  template Csr<T, std::uint32_t> Matrix::read_csr(const Region&, const ReadOptions&) const; \
  template Csr<T, std::uint64_t> Matrix::read_csr(const Region&, const ReadOptions&) const; \
  template std::vector<T> Frame::read_column(std::uint64_t, Range, const ReadOptions&) const;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
