// Writing matrices and frames, in rectangles of any size that are cut into tiles.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/c/handles.h"
#include "lib/c/options.h"

namespace dapple::detail::c {

namespace {

/// The rectangle that a caller puts.
struct Put {
  dapple_writer& to;
  Region cells;  // of the object
  ValueType type;
};

Put put_of(dapple_writer* writer, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
           std::uint64_t cols, std::int32_t type) {
  dapple_writer& to = checked(writer);
  if (row > to.rows || rows > to.rows - row || col > to.cols || cols > to.cols - col) {
    const auto shape = [](std::uint64_t r, std::uint64_t c) {
      return std::to_string(r) + " x " + std::to_string(c);
    };
    throw Error(Errc::out_of_range, shape(rows, cols) + " cells from row " + std::to_string(row) +
                                        ", column " + std::to_string(col) + " on are not all in " +
                                        shape(to.rows, to.cols));
  }
  if (rows == 0 || cols == 0) fail_argument("there are no cells to put");
  return {to, {{row, row + rows}, {col, col + cols}}, value_type(type)};
}

/// The bytes from the first cell to the end of the last. Throws invalid_argument beyond 2^64.
std::size_t bytes_of(const Put& put, const Strides& strides) {
  const std::size_t size = size_of(put.type);
  std::uint64_t down = 0, right = 0;
  if (!multiply(put.cells.rows.size() - 1, std::uint64_t{strides.row}, down) ||
      !multiply(put.cells.cols.size() - 1, std::uint64_t{strides.col}, right) ||
      right > ~std::size_t{0} - size || down > ~std::size_t{0} - size - right) {
    fail_argument("with these strides, the cells end beyond 2^64 bytes");
  }
  return down + right + size;
}

std::string_view text_of(const char* text) { return text != nullptr ? text : ""; }

std::shared_ptr<const Dictionary> words_of(const dapple_frame_column& column) {
  DictionaryBuilder words;
  array(column.words, column.n_words, "words");
  for (std::uint64_t k = 0; k < column.n_words; ++k) {
    const std::string_view word = &needed(column.words[k], "a word");
    if (words.add(word) > k) continue;
    fail_argument("column " + shown(column.label) + " has the word " + shown(word) + " twice");
  }
  return words.finish();
}

Column column_of(const dapple_frame_column& given) {
  Column column{.label = &needed(given.label, "a label"), .value_type = value_type(given.type)};
  const auto fail = [&](const std::string& why) {
    fail_argument("column " + shown(column.label) + " " + why);
  };
  for (const std::int32_t reserved : given.reserved) {
    if (reserved != 0) fail("has reserved bytes that are not 0");
  }
  if (given.meaning < DAPPLE_NUMBER || given.meaning > DAPPLE_WORDS) {
    fail("has no meaning with number " + std::to_string(given.meaning));
  }
  Meaning& meaning = column.meaning;
  meaning.kind = static_cast<MeaningKind>(given.meaning);
  if (meaning.has_time()) {
    if (given.unit < DAPPLE_DAY || given.unit > DAPPLE_NANOSECOND) {
      fail("has no unit with number " + std::to_string(given.unit));
    }
    meaning.unit = static_cast<TimeUnit>(given.unit);
  }
  meaning.ordered = given.ordered != 0;
  meaning.zone = text_of(given.zone);
  if (given.has_missing != 0) meaning.missing = given.missing;
  if (!meaning.has_words() && given.n_words > 0) fail("has words, and a meaning without any");
  if (meaning.has_words()) meaning.words = words_of(given);
  return column;
}

}  // namespace

extern "C" {

int32_t dapple_create(const char* path, uint64_t rows, uint64_t cols, int32_t type,
                      const char* const* options, dapple_writer** writer, dapple_error* error) {
  return guarded(error, [&] {
    needed(writer, "writer");
    const CreateOptions how = create_options(options, Creates::matrix);
    auto created = MatrixWriter::create(&needed(path, "path"), rows, cols, value_type(type),
                                        how.write, how.storage);
    *writer = new dapple_writer{.rows = rows, .cols = cols, .writer = std::move(created)};
  });
}

int32_t dapple_create_frame(const char* path, uint64_t rows, const dapple_frame_column* columns,
                            size_t n_columns, const char* const* options, dapple_writer** writer,
                            dapple_error* error) {
  return guarded(error, [&] {
    needed(writer, "writer");
    const CreateOptions how = create_options(options, Creates::frame);
    array(columns, n_columns, "columns");
    std::vector<Column> made;
    for (std::size_t k = 0; k < n_columns; ++k) made.push_back(column_of(columns[k]));
    auto created = FrameWriter::create(&needed(path, "path"), rows, std::move(made), how.write);
    *writer = new dapple_writer{.rows = rows, .cols = n_columns, .writer = std::move(created)};
  });
}

int32_t dapple_put(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
                   int32_t type, const void* cells, size_t row_stride, size_t col_stride,
                   dapple_error* error) {
  return guarded(error, [&] {
    const Put put = put_of(writer, row, col, rows, cols, type);
    const auto* const first = static_cast<const std::byte*>(array(cells, rows, "cells"));
    const std::size_t right = col_stride != 0 ? col_stride : size_of(put.type);
    const Strides strides{row_stride != 0 ? row_stride : right * cols, right};
    put.to.writer.put_region(put.cells, put.type, {first, bytes_of(put, strides)}, strides);
  });
}

int32_t dapple_put_sparse(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows,
                          uint64_t cols, int32_t type, const uint64_t* ptr, const uint64_t* idx,
                          const void* values, dapple_error* error) {
  return guarded(error, [&] {
    const Put put = put_of(writer, row, col, rows, cols, type);
    needed(ptr, "ptr");
    if (ptr[0] > ptr[rows]) fail_argument("ptr ends before it begins");
    const std::uint64_t entries = ptr[rows] - ptr[0];
    array(idx, entries, "idx");
    array(values, entries, "values");
    visit_type(put.type, [&]<Value T>(T) {
      put.to.writer.put_region(
          {row, col}, CsrRef<T, std::uint64_t>{rows,
                                               cols,
                                               {ptr, rows + 1},
                                               {idx + ptr[0], entries},
                                               {static_cast<const T*>(values) + ptr[0], entries}});
    });
  });
}

int32_t dapple_finish(dapple_writer* writer, dapple_error* error) {
  return guarded(error, [&] { checked(writer).writer.finish(); });
}

void dapple_abandon(dapple_writer** writer) { end_handle(writer); }

}  // extern "C"

}  // namespace dapple::detail::c
