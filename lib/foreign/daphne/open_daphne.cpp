#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/daphne/daphne.h"
#include "lib/foreign/meta/daphne_meta.h"
#include "lib/object/copy_rows.h"

namespace dapple::detail::daphne {

namespace {

constexpr std::uint64_t kMostPerBlock = std::numeric_limits<std::uint32_t>::max();

/// Reads header fields and compares them with what the runtime writes.
class HeaderReader {
 public:
  explicit HeaderReader(const ByteSource& file)
      : file_(file),
        reader_(file.bytes(0, std::min<std::uint64_t>(file.size(), at::csr_row_offsets)), 0,
                file.name()) {}

  template <Number T>
  T read(std::string_view what) {
    return reader_.le<T>(what);
  }

  template <Number T>
  void expect(T wanted, std::string_view what) {
    const std::uint64_t offset = reader_.offset();
    const T got = reader_.le<T>(what);
    if (got != wanted) {
      fail(offset, std::string(what) + " should be " + std::to_string(wanted) + ", not " +
                       std::to_string(got));
    }
  }

  ValueType value_type() {
    const std::uint64_t offset = reader_.offset();
    return type_at(offset, reader_.le<std::uint8_t>("a value type"));
  }

  ValueType type_at(std::uint64_t offset, std::uint8_t code) const {
    const auto type = type_of_code(code);
    if (!type) {
      fail(offset, "there is no value type " + std::to_string(code) + ", only 0 to 7");
    }
    return *type;
  }

  [[noreturn]] void fail(std::uint64_t offset, std::string detail) const {
    throw Error(Errc::corrupt, file_.name(), offset, std::move(detail));
  }

 private:
  const ByteSource& file_;
  ByteReader reader_;
};

std::string do_not_fit(std::uint64_t left) {
  return " do not fit the " + counted(left, "byte") + " up to the end of the file";
}

/// The header of a dense or CSR matrix, up to and with the block's value type.
Schema read_matrix_header(HeaderReader& header, Object object) {
  Schema schema;
  schema.kind = ObjectKind::matrix;
  schema.storage = object == Object::csr ? Storage::csr : Storage::dense;
  schema.rows = header.read<std::uint64_t>("the number of rows");
  schema.cols = header.read<std::uint64_t>("the number of columns");
  schema.value_type = header.value_type();
  header.expect<std::uint64_t>(0, "the block's row");
  header.expect<std::uint64_t>(0, "the block's column");
  // The runtime keeps only the low halves here.
  header.expect(static_cast<std::uint32_t>(schema.rows), "the block's number of rows");
  header.expect(static_cast<std::uint32_t>(schema.cols), "the block's number of columns");
  header.expect(static_cast<std::uint8_t>(object), "the block type");
  header.expect(*code_of_type(schema.value_type), "the block's value type");
  return schema;
}

/// Values of one type in columns [cols.begin, cols.end), row after row, `row_step` bytes apart,
/// the first at byte `offset`.
void add_dense_blocks(EntryTable& entries, std::uint64_t rows, Range cols, ValueType type,
                      std::uint64_t row_step, std::uint64_t offset) {
  arrays::for_each_dense({{0, rows}, cols}, {kMostPerBlock, kMostPerBlock}, [&](Entry entry) {
    entry.value_type = type;
    entry.offset = offset + entry.pos.rx * row_step + (entry.pos.cx - cols.begin) * size_of(type);
    entry.bytes = (entry.rows - 1) * row_step + entry.cols * size_of(type);
    entries.push_back(entry);
  });
}

/// Dense matrices, scalars, frames: bytes from one row to the next.
struct RowStep : DriverState {
  explicit RowStep(std::uint64_t step) noexcept : row_step(step) {}
  std::uint64_t row_step;
};

std::optional<DensePlace> in_place(const Store& store, const Entry& entry) {
  return DensePlace{store.payload(entry),
                    static_cast<std::size_t>(store.state<RowStep>().row_step)};
}

constexpr Driver kDenseDriver = {.format = "daphne", .read = read_in_place, .in_place = in_place};

std::shared_ptr<Store> make_dense(std::shared_ptr<ByteSource> file, Schema schema,
                                  EntryTable entries, std::uint64_t row_step) {
  return make_store(std::move(file), std::move(schema), std::move(entries), kDenseDriver,
                    std::make_unique<RowStep>(row_step));
}

std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file, HeaderReader& header) {
  Schema schema = read_matrix_header(header, Object::dense);
  const std::uint64_t left = file->size() - at::dense_values;
  const std::size_t size = size_of(schema.value_type);
  std::uint64_t cells, bytes;
  if (!multiply(schema.rows, schema.cols, cells) || !multiply(cells, size, bytes) ||
      bytes != left) {
    header.fail(at::dense_values, extents_text(schema.rows, schema.cols) + " values of " +
                                      std::string(name(schema.value_type)) + do_not_fit(left));
  }
  EntryTable entries;
  const std::uint64_t row_step = cells == 0 ? 0 : schema.cols * size;
  if (cells > 0) {
    add_dense_blocks(entries, schema.rows, {0, schema.cols}, schema.value_type, row_step,
                     at::dense_values);
  }
  return make_dense(std::move(file), std::move(schema), std::move(entries), row_step);
}

std::shared_ptr<Store> open_scalar(std::shared_ptr<ByteSource> file, HeaderReader& header) {
  header.read<std::uint64_t>("16 unused bytes");
  header.read<std::uint64_t>("16 unused bytes");
  Schema schema;
  schema.rows = schema.cols = 1;
  schema.value_type = header.value_type();
  const std::size_t size = size_of(schema.value_type);
  if (file->size() - at::scalar_value != size) {
    header.fail(at::scalar_value, "one value of " + std::string(name(schema.value_type)) +
                                      do_not_fit(file->size() - at::scalar_value));
  }
  EntryTable entries;
  add_dense_blocks(entries, 1, {0, 1}, schema.value_type, size, at::scalar_value);
  auto store = make_dense(std::move(file), std::move(schema), std::move(entries), size);
  store->set_note("a scalar, read as a matrix of one cell");
  return store;
}

/// Lengths of the arrays, before any of them is looked at.
std::unique_ptr<arrays::SparseArrays> read_csr_layout(const ByteSource& file, HeaderReader& header,
                                                      const Schema& schema) {
  const auto nnz = header.read<std::uint64_t>("the number of values");
  const std::uint64_t left = file.size() - at::csr_row_offsets;
  if (schema.rows >= left / kIndexBytes) {
    header.fail(at::csr_row_offsets,
                "the offsets of " + std::to_string(schema.rows) + " rows" + do_not_fit(left));
  }
  const std::uint64_t offsets = (schema.rows + 1) * kIndexBytes;
  const std::size_t size = size_of(schema.value_type);
  const std::uint64_t entry = kIndexBytes + size;
  // Memory that a matrix had allocated beyond its values may have been written after them.
  if (nnz > (left - offsets) / entry || (left - offsets) % entry != 0) {
    header.fail(at::csr_row_offsets + offsets,
                std::to_string(nnz) + " column indices and values of " +
                    std::string(name(schema.value_type)) + do_not_fit(left - offsets));
  }
  auto csr = std::make_unique<arrays::SparseArrays>();
  std::uint64_t offset = at::csr_row_offsets;
  const auto place = [&](std::uint64_t items, std::size_t width) {
    const arrays::Items placed{items, width, file.at(offset, items * width), offset};
    offset += items * width;
    return placed;
  };
  csr->pointers = place(schema.rows + 1, kIndexBytes);
  csr->indices = place(nnz, kIndexBytes);
  csr->values = place(nnz, size);
  return csr;
}

std::shared_ptr<Store> open_csr(std::shared_ptr<ByteSource> file, HeaderReader& header) {
  static constexpr arrays::Drivers kDrivers("daphne");
  Schema schema = read_matrix_header(header, Object::csr);
  auto csr = read_csr_layout(*file, header, schema);
  const std::uint64_t last_at = csr->indices.offset - kIndexBytes, nnz = csr->values.size;
  if (const auto last = load_le<std::uint64_t>(file->at(last_at, kIndexBytes)); last != nnz) {
    header.fail(last_at, "the last row offset should be " + std::to_string(nnz) + ", not " +
                             std::to_string(last));
  }
  const std::uint64_t slack = file->size() - csr->values.byte_of(nnz);
  auto store = arrays::make_store(std::move(file), std::move(schema), std::move(csr), kDrivers);
  if (slack > 0) {
    store->set_note(counted(slack, "byte") + " of unused capacity after the last value");
  }
  return store;
}

/// Columns with their types; the labels that the file brings along are not text (FORMAT.md).
std::vector<Column> read_columns(const ByteSource& file, const HeaderReader& header,
                                 std::uint64_t cols) {
  // Each column takes a value type and the length of a label at least.
  const std::uint64_t most = (file.size() - at::frame_types) / 3;
  if (cols > most) {
    header.fail(at::cols, std::to_string(cols) + " columns do not fit a file of " +
                              counted(file.size(), "byte"));
  }
  std::vector<Column> columns;
  columns.reserve(cols);
  const std::span<const std::byte> codes = file.bytes(at::frame_types, cols);
  for (std::uint64_t col = 0; col < cols; ++col) {
    const auto code = static_cast<std::uint8_t>(codes[col]);
    columns.push_back({"col_" + std::to_string(col), header.type_at(at::frame_types + col, code)});
  }
  return columns;
}

/// Skips labels and position; returns where the rows start.
std::uint64_t read_frame_body(const ByteSource& file, const HeaderReader& header,
                              std::uint64_t cols) {
  const std::uint64_t begin = at::frame_types + cols;
  ByteReader reader(file.bytes(begin, file.size() - begin), begin, file.name());
  for (std::uint64_t col = 0; col < cols; ++col) {
    reader.take(reader.le<std::uint16_t>("the length of a label"), "a label");
  }
  for (const std::string_view what : {"row", "column"}) {
    const std::uint64_t offset = reader.offset();
    const auto got = reader.le<std::uint64_t>("the position of the block");
    if (got != 0) {
      header.fail(offset,
                  "the block's " + std::string(what) + " should be 0, not " + std::to_string(got));
    }
  }
  return reader.offset();
}

/// Gives the columns of a frame the labels of FILE.meta, if there is one with labels. Throws
/// corrupt when it speaks of another frame.
void take_labels_beside(const ByteSource& file, Schema& schema) {
  auto meta = find_daphne_meta(file);
  if (!meta || meta->kind != ObjectKind::frame) return;
  const auto fail = [&](const std::string& says, const std::string& has) {
    throw Error(Errc::corrupt, file.name() + ".meta", std::nullopt,
                "says " + says + ", but the frame has " + has);
  };
  if (meta->rows != schema.rows || meta->cols != schema.cols) {
    fail("the shape is " + extents_text(meta->rows, meta->cols),
         extents_text(schema.rows, schema.cols));
  }
  for (std::uint64_t col = 0; col < schema.cols; ++col) {
    const ValueType type = schema.columns[col].value_type;
    const Column& column = meta->columns[col];
    if (column.value_type != type || column.meaning.has_words()) {
      fail("column " + std::to_string(col) + " is " +
               (column.meaning.has_words() ? "str" : std::string(name(column.value_type))),
           std::string(name(type)));
    }
  }
  schema.columns = std::move(meta->columns);
}

std::shared_ptr<Store> open_frame(std::shared_ptr<ByteSource> file, HeaderReader& header) {
  Schema schema;
  schema.kind = ObjectKind::frame;
  schema.rows = header.read<std::uint64_t>("the number of rows");
  schema.cols = header.read<std::uint64_t>("the number of columns");
  schema.columns = read_columns(*file, header, schema.cols);
  const std::uint64_t body = read_frame_body(*file, header, schema.cols);

  std::uint64_t record = 0;
  for (const Column& column : schema.columns) record += size_of(column.value_type);
  std::uint64_t bytes;
  if (!multiply(schema.rows, record, bytes) || bytes != file->size() - body) {
    header.fail(body, std::to_string(schema.rows) + " rows of " + counted(record, "byte") +
                          do_not_fit(file->size() - body));
  }
  EntryTable entries;
  std::uint64_t at_column = body;
  for (std::uint64_t first = 0; first < schema.cols && schema.rows > 0;) {
    const ValueType type = schema.columns[first].value_type;
    std::uint64_t end = first + 1;
    while (end < schema.cols && schema.columns[end].value_type == type) ++end;
    add_dense_blocks(entries, schema.rows, {first, end}, type, record, at_column);
    at_column += (end - first) * size_of(type);
    first = end;
  }
  take_labels_beside(*file, schema);
  return make_dense(std::move(file), std::move(schema), std::move(entries), record);
}

}  // namespace

std::shared_ptr<const Store> open_daphne(std::shared_ptr<ByteSource> file, const OpenOptions&) {
  HeaderReader header(*file);
  header.expect<std::uint8_t>(kVersion, "the version");
  const auto object = header.read<std::uint8_t>("a data type");
  switch (static_cast<Object>(object)) {
    case Object::dense:
      return open_dense(std::move(file), header);
    case Object::csr:
      return open_csr(std::move(file), header);
    case Object::frame:
      return open_frame(std::move(file), header);
    case Object::scalar:
      return open_scalar(std::move(file), header);
  }
  header.fail(at::object, "there is no data type " + std::to_string(object) + ", only 1 to 4");
}

}  // namespace dapple::detail::daphne
