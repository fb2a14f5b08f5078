#include "lib/foreign/csv/csv_tiles.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/csv/csv_types.h"

namespace dapple::detail::csv {

namespace {

/// More rows than any text has.
constexpr std::uint64_t kManyRows = std::uint64_t{1} << 24;

ValueType slot_type(const ColumnCells& cells) noexcept {
  if (cells.as() == ColumnCells::As::floats) return ValueType::f64;
  return cells.large() ? ValueType::u64 : ValueType::i64;
}

/// What marks the missing cells of a column. The plan's mark is one of integers, which the column
/// may no longer hold.
std::uint64_t mark_of(const ColumnPlan& plan, std::optional<ValueType> given, bool as_nan,
                      const ColumnCells& cells) {
  if (plan.kind != MeaningKind::number) return missing_mark(plan.kind);
  const ValueType type = given.value_or(ValueType::f64);
  const bool floats = cells.as() == ColumnCells::As::floats;
  if (!as_nan) return floats ? usual_mark(type) : plan.mark.value_or(usual_mark(type));
  return type == ValueType::f32
             ? std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN())
             : std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Tiles::Tiles(texts::Import& import, const ScanInput& input, const Plan& plan)
    : import_(import),
      in_(input),
      plan_(plan),
      tile_rows_(default_tile(kManyRows, input.cols()).rows),
      types_(input.cols()),
      integers_(input.cols()),
      floats_(input.cols()) {
  for (std::size_t c = 0; c < input.cols(); ++c) cells_.emplace_back(plan.columns[c].as());
}

void Tiles::append(std::vector<ColumnCells>& cells, const std::vector<std::uint64_t>& offsets) {
  for (std::size_t begin = 0; begin < offsets.size();) {
    const std::size_t n = std::min<std::size_t>(tile_rows_ - rows(), offsets.size() - begin);
    for (std::size_t c = 0; c < cells.size(); ++c) cells_[c].append(cells[c], begin, begin + n);
    const auto from = offsets.begin() + static_cast<std::ptrdiff_t>(begin);
    offsets_.insert(offsets_.end(), from, from + static_cast<std::ptrdiff_t>(n));
    if (rows() == tile_rows_) {
      put();
      first_row_ += tile_rows_;
      offsets_.clear();
      for (ColumnCells& column : cells_) column.clear();
    }
    begin += n;
  }
}

void Tiles::finish() {
  if (rows() > 0) put();
  if (writer_ == nullptr) start();
}

/// The first row of tiles tells the shape of all.
void Tiles::start() {
  Schema schema;
  schema.kind = plan_.frame ? ObjectKind::frame : ObjectKind::matrix;
  schema.rows = std::max<std::uint64_t>(rows(), 1);
  schema.cols = in_.cols();
  for (std::size_t c = 0; plan_.frame && c < in_.cols(); ++c) {
    Column column{plan_.labels[c], plan_.columns[c].type};
    if (plan_.columns[c].has_words()) column.meaning.kind = MeaningKind::text;
    schema.columns.push_back(std::move(column));
  }
  const TileShape tile = default_tile(rows() == tile_rows_ ? kManyRows : schema.rows, schema.cols);
  schema.rows = texts::kUnknownRows;
  writer_ = &import_.start(std::move(schema), tile);
}

/// Marks the missing cells of a column, and tells the type that all are put as.
void Tiles::settle(std::size_t col) {
  ColumnCells& cells = cells_[col];
  const ColumnPlan& plan = plan_.columns[col];
  const bool number = plan.kind == MeaningKind::number && !in_.given[col];
  if (!cells.missing().empty()) {
    if (number && !plan.mark) cells.to_floats();
    const std::uint64_t mark = mark_of(plan, in_.given[col], in_.missing_as_nan, cells);
    for (const std::uint32_t i : cells.missing()) cells.set(i, mark);
  }
  if (number) (cells.as() == ColumnCells::As::floats ? floats_ : integers_)[col] = true;
  types_[col] = type_of(col);
}

/// What the cells of a settled column are put as.
ValueType Tiles::type_of(std::size_t col) const {
  const ColumnPlan& plan = plan_.columns[col];
  if (plan.kind == MeaningKind::number) {
    return in_.given[col] ? *in_.given[col] : slot_type(cells_[col]);
  }
  if (!plan.has_words()) return plan.type;
  const auto bits = cells_[col].bits();
  const std::uint64_t most = *std::max_element(bits.begin(), bits.end());
  return std::max(plan.type, code_type(most),
                  [](ValueType a, ValueType b) { return size_of(a) < size_of(b); });
}

/// The type that all columns of a matrix are put as.
ValueType Tiles::common_type() const {
  bool large = false;
  for (std::size_t c = 0; c < cells_.size(); ++c) large = large || types_[c] == ValueType::u64;
  std::vector<ValueType> types;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    // Beside integers that only u64 holds, those that are not negative are of that type, too.
    const bool fits = large && !in_.given[c] && !cells_[c].negative();
    const ValueType type = fits && types_[c] == ValueType::i64 ? ValueType::u64 : types_[c];
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return type_that_holds(types).value_or(ValueType::f64);
}

void Tiles::put() {
  for (std::size_t c = 0; c < cells_.size(); ++c) settle(c);
  if (writer_ == nullptr) start();
  if (!plan_.frame) {
    const ValueType type = common_type();
    for (const Range& strip : writer_->column_strips()) put_run(strip, type);
    return;
  }
  for (const Range& strip : writer_->column_strips()) {
    for (std::uint64_t begin = strip.begin, end; begin < strip.end; begin = end) {
      const ValueType type = types_[begin];
      for (end = begin + 1; end < strip.end && types_[end] == type;) ++end;
      put_run({begin, end}, type);
    }
  }
}

/// Puts neighbouring columns as a block.
void Tiles::put_run(Range cols, ValueType type) {
  const std::size_t size = size_of(type), step = cols.size() * size;
  memory_.resize(rows() * step);
  for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
    gather(c, types_[c], type, memory_.data() + (c - cols.begin) * size, step);
    writer_->declare(c, type);
  }
  writer_->put({first_row_, cols.begin}, {memory_.data(), type, static_cast<std::uint32_t>(rows()),
                                          static_cast<std::uint32_t>(cols.size()), step});
}

/// Throws for a number that its column was given a type for, and that the matrix cannot hold.
void Tiles::fail_cell(std::size_t row, std::size_t col, ValueType type) const {
  const char* p = in_.base + offsets_[row];
  std::optional<Field> field = find_field(p, in_.end, in_.dialect.delimiter);
  for (std::size_t c = 0; field && c < col; ++c) {
    p = field->end + 1;
    field = find_field(p, in_.end, in_.dialect.delimiter);
  }
  const auto offset = static_cast<std::uint64_t>(p - in_.base);
  fail_field({in_.file, offset, in_.line_at(offset), col, {}}, p, in_.end, in_.dialect, in_.missing,
             type, true);
}

void Tiles::gather(std::size_t col, ValueType from, ValueType to, std::byte* out,
                   std::size_t step) {
  const auto cells = cells_[col].bits();
  if (from == to) {
    return visit_bits(to, [&](auto low) {
      for (const std::uint64_t bits : cells) {
        store_le(out, static_cast<decltype(low)>(bits));
        out += step;
      }
    });
  }
  for (std::size_t r = 0; r < cells.size(); ++r, out += step) {
    std::uint64_t bits = cells[r];
    const bool given = in_.given[col].has_value();
    // Where nobody gave a type, the scan says which integers are rounded.
    if (!(given ? convert_cell(from, bits, to, bits) : convert_cell_lossy(from, bits, to, bits))) {
      fail_cell(r, col, to);
    }
    store_bits(to, out, bits);
  }
}

}  // namespace dapple::detail::csv
