#include "dapple/frame.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/closest.h"
#include "lib/base/text.h"
#include "lib/base/value_types.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/column_codes.h"
#include "lib/object/groups.h"
#include "lib/object/store.h"
#include "lib/rows/csr.h"

namespace dapple {

namespace {

/// The stored values of rows of a column, each in the low bytes.
std::vector<std::uint64_t> stored_bits(const Frame& frame, std::uint64_t col, Range rows,
                                       const ReadOptions& options) {
  std::vector<std::uint64_t> bits;
  visit_type(frame.column_type(col), [&](auto tag) {
    const auto values = frame.read_column<decltype(tag)>(col, rows, options);
    bits.reserve(values.size());
    for (const auto& value : values) {
      bits.push_back(detail::load_bits(value_type_of<decltype(tag)>(),
                                       reinterpret_cast<const std::byte*>(&value)));
    }
  });
  return bits;
}

}  // namespace

const std::string& Frame::label(std::uint64_t col) const& { return column_info(col).label; }

const Column& Frame::column_info(std::uint64_t col) const& {
  column_type(col);  // throws out_of_range
  return store_->schema().columns[col];
}

std::optional<std::uint64_t> Frame::find_column(std::string_view label) const noexcept {
  return store_->find_column(label);
}

std::uint64_t Frame::column(std::string_view label) const {
  if (const auto found = find_column(label)) return *found;
  constexpr std::uint64_t kMost = 10000;  // labels are compared
  const auto meant =
      detail::closest(label, std::min(cols(), kMost),
                      [this](std::uint64_t k) -> std::string_view { return this->label(k); });
  std::string text = "no column \"" + std::string(label) + "\"";
  if (meant) {
    throw Error(Errc::absent, store_->known_as(), std::nullopt,
                text + "; did you mean \"" + this->label(*meant) + "\"?");
  }
  constexpr std::size_t kLongest = 200;  // a list of all labels
  std::string all;
  for (std::uint64_t k = 0; k < cols() && all.size() <= kLongest; ++k) {
    all += (k == 0 ? "; there are \"" : ", \"") + this->label(k) + "\"";
  }
  const bool few = all.size() <= kLongest && cols() > 0;
  throw Error(Errc::absent, store_->known_as(), std::nullopt, few ? text + all : text,
              few ? "" : "columns");
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
    std::vector<T> out(detail::count_of_cells(*store_, region));
    read_column(col, rows, std::span<T>(out), options);
    return out;
  });
}

std::vector<std::uint8_t> Frame::read_valid(std::uint64_t col, Range rows,
                                            const ReadOptions& options) const {
  const Meaning& meaning = column_info(col).meaning;
  return detail::fill_memory(*store_, {rows, {col, col + 1}}, [&] {
    const std::vector<std::uint64_t> stored = stored_bits(*this, col, rows, options);
    std::vector<std::uint8_t> valid(stored.size());
    std::transform(stored.begin(), stored.end(), valid.begin(),
                   [&](std::uint64_t bits) { return is_missing(meaning, bits) ? 0 : 1; });
    return valid;
  });
}

std::vector<std::optional<std::string_view>> Frame::read_words(std::uint64_t col, Range rows,
                                                               const ReadOptions& options) const& {
  const Column& column = column_info(col);
  if (!column.meaning.has_words()) {
    throw Error(Errc::type_mismatch, store_->known_as(), std::nullopt,
                "column " + detail::shown(column.label) + " holds no words: it is a " +
                    std::string(name(column.meaning.kind)) + " column");
  }
  return detail::fill_memory(*store_, {rows, {col, col + 1}}, [&] {
    const std::vector<std::uint64_t> codes = stored_bits(*this, col, rows, options);
    const Dictionary& words = *column.meaning.words;
    std::vector<std::optional<std::string_view>> out(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == kMissingCode) continue;
      if (codes[i] > words.size()) {
        detail::fail_code(store_->file().name(), column, codes[i], rows.begin + i);
      }
      out[i] = words[codes[i] - 1];
    }
    return out;
  });
}

void Frame::read_rows(Range rows, std::span<const ColumnBuffer> columns,
                      const ReadOptions& options) const {
  store_->read_rows(rows, columns, options);
}

#define DAPPLE_INSTANTIATE(T) \
  template std::vector<T> Frame::read_column(std::uint64_t, Range, const ReadOptions&) const;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
