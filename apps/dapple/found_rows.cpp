#include "found_rows.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dapple/csv.h"
#include "dapple/gather.h"
#include "text.h"

namespace dapple::cli {

namespace {

/// The bits of cell `k` of a column, in the low bytes.
std::uint64_t bits_at(const std::vector<std::byte>& cells, std::size_t size, std::size_t k) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    bits |= std::to_integer<std::uint64_t>(cells[k * size + i]) << (8 * i);
  }
  return bits;
}

/// A cell as JSON.
std::string json_value(const Column& column, std::uint64_t bits) {
  const Meaning& meaning = column.meaning;
  std::string text;
  append_text(column, bits, text);
  if (is_missing(meaning, bits)) return "null";
  if (meaning.has_words() || meaning.has_time()) return json_string(text);
  return meaning.kind == MeaningKind::boolean ? text : json_number(text);
}

}  // namespace

FoundRows::FoundRows(const Frame& frame, std::vector<ShownColumn> columns, RowNumbers numbers,
                     Console& console, const TextOptions& options)
    : frame_(frame),
      columns_(std::move(columns)),
      numbers_(numbers),
      console_(console),
      options_(options),
      safe_(console.out.is_terminal()),
      cells_(columns_.size()),
      texts_(columns_.size()) {
  for (const ShownColumn& column : columns_) keys_.push_back(json_string(label(column)) + ':');
}

const std::string& FoundRows::label(const ShownColumn& column) const {
  return column.is_text ? frame_.text_columns()[column.number].label : frame_.label(column.number);
}

void FoundRows::begin() {
  if (begun_ || console_.json) return;
  begun_ = true;
  text_ = numbers_ == RowNumbers::yes ? "row" : "";
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0 || numbers_ == RowNumbers::yes) text_ += ',';
    std::string shown;
    append_csv_label(label(columns_[c]), shown);
    text_ += safe_ ? printable(shown) : shown;
  }
  console_.out.write(text_ + "\n");
}

void FoundRows::print(std::span<const std::uint64_t> rows) {
  constexpr std::size_t kAtOnce = 4096;
  begin();
  for (std::size_t first = 0; first < rows.size(); first += kAtOnce) {
    const auto some = rows.subspan(first, std::min(kAtOnce, rows.size() - first));
    load(some);
    text_.clear();
    for (std::size_t k = 0; k < some.size(); ++k) add_row(some[k], k);
    console_.out.write(text_);
  }
}

void FoundRows::load(std::span<const std::uint64_t> rows) {
  std::vector<ColumnBuffer> buffers;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::uint64_t number = columns_[c].number;
    if (columns_[c].is_text) {
      // Text is read in order: as rows ascend, each is gone over once.
      texts_[c].clear();
      frame_.read_text(number, {rows.front(), rows.back() + 1},
                       [&](std::uint64_t row, std::string_view text) {
                         if (row == rows[texts_[c].size()]) texts_[c].emplace_back(text);
                       });
      continue;
    }
    const ValueType type = frame_.column_info(number).value_type;
    cells_[c].resize(rows.size() * size_of(type));
    buffers.push_back({number, type, cells_[c].data(), size_of(type)});
  }
  gather_rows(frame_, rows, buffers, options_.reading);
}

void FoundRows::add_row(std::uint64_t row, std::size_t place) {
  const bool json = console_.json;
  if (json) text_ += '{';
  if (numbers_ == RowNumbers::yes) text_ += (json ? "\"row\":" : "") + std::to_string(row);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0 || numbers_ == RowNumbers::yes) text_ += ',';
    if (json) text_ += keys_[c];
    if (columns_[c].is_text) {
      add_text(texts_[c][place]);
    } else {
      const Column& column = frame_.column_info(columns_[c].number);
      add_number(column, bits_at(cells_[c], size_of(column.value_type), place));
    }
  }
  text_ += json ? "}\n" : "\n";
}

void FoundRows::add_text(const std::string& text) {
  if (console_.json) {
    text_ += json_string(text);
    return;
  }
  std::string field;
  append_csv_word(text, field);
  text_ += safe_ ? printable(field) : field;
}

void FoundRows::add_number(const Column& column, std::uint64_t bits) {
  const Meaning& meaning = column.meaning;
  if (options_.short_floats && column.value_type == ValueType::f32 &&
      meaning.kind == MeaningKind::number && !is_missing(meaning, bits)) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const std::string number = cell_text(value, true);
    text_ += console_.json ? json_number(number) : number;
    return;
  }
  if (console_.json) {
    text_ += json_value(column, bits);
    return;
  }
  std::string field;
  append_csv(column, bits, field);
  text_ += safe_ ? printable(field) : field;
}

}  // namespace dapple::cli
