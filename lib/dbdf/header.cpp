#include "lib/dbdf/header.h"

#include <algorithm>
#include <cstring>

namespace dapple::detail::dbdf {

bool block_size(BlockKind kind, std::uint32_t rows, std::uint32_t cols, ValueType type,
                std::uint64_t stored, std::uint64_t& bytes) noexcept {
  std::uint64_t payload = 0;
  switch (kind) {
    case BlockKind::empty:
      break;
    case BlockKind::dense:
      if (!multiply(std::uint64_t{rows} * cols, size_of(type), payload)) return false;
      break;
    case BlockKind::csr:
    case BlockKind::coo:
      if (!multiply(stored, entry_size(kind, cols, type), payload)) return false;
      if (kind == BlockKind::csr &&
          __builtin_add_overflow(payload, 4 * std::uint64_t{rows}, &payload)) {
        return false;
      }
      break;
  }
  return !__builtin_add_overflow(payload, header_size(kind), &bytes);
}

bool is_inside(const Item& item, std::uint64_t rows, std::uint64_t cols) noexcept {
  const Entry& e = item.entry;
  return !item.holds_cells() || (e.pos.rx < rows && e.rows <= rows - e.pos.rx && e.pos.cx < cols &&
                                 e.cols <= cols - e.pos.cx);
}

std::string outside(const Item& item, std::uint64_t rows, std::uint64_t cols) {
  const Entry& e = item.entry;
  return "expected a block inside " + std::to_string(rows) + " x " + std::to_string(cols) +
         " cells (R2), got " + std::to_string(e.rows) + " x " + std::to_string(e.cols) + " at " +
         text(e.pos);
}

namespace {

bool is_auxiliary(const Entry& e) noexcept {
  return e.pos == kAuxiliaryPos && e.kind == BlockKind::dense && e.value_type == ValueType::u8;
}

// Reads a header of which kLongestItemHeader bytes are there. False when a rule is broken: which
// one is told by the function below, which takes three times as long.
bool read_sound_header(const std::byte* p, std::uint64_t at, std::uint64_t rows, std::uint64_t cols,
                       std::uint64_t remaining, Item& item) noexcept {
  Entry& e = item.entry;
  e.pos = {load_le<std::uint64_t>(p), load_le<std::uint64_t>(p + 8)};
  e.offset = at + kPosition;
  e.hash = 0;
  p += kPosition;
  e.rows = load_le<std::uint32_t>(p);
  e.cols = load_le<std::uint32_t>(p + 4);
  const auto kind = static_cast<std::uint8_t>(p[8]), code = static_cast<std::uint8_t>(p[9]);
  if (kind > 3) return false;
  e.kind = static_cast<BlockKind>(kind);
  e.value_type = ValueType::u8;
  e.stored = 0;
  if (e.kind != BlockKind::empty) {
    const auto type = value_type_of_code(code);
    if (!type) return false;
    e.value_type = *type;
    e.stored = e.kind == BlockKind::dense ? std::uint64_t{e.rows} * e.cols
               : e.kind == BlockKind::csr ? load_le<std::uint64_t>(p + kDenseHeader)
                                          : load_le<std::uint32_t>(p + kDenseHeader);
  }
  item.auxiliary = is_auxiliary(e);
  return block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, e.bytes) &&
         e.bytes <= remaining - kPosition && is_inside(item, rows, cols);
}

[[gnu::noinline]] Item read_header_with_care(ByteReader& reader, std::uint64_t rows,
                                             std::uint64_t cols, std::uint64_t remaining) {
  const std::uint64_t start = reader.offset();
  Item item;
  Entry& e = item.entry;
  e.pos.rx = reader.le<std::uint64_t>("a block's rx");
  e.pos.cx = reader.le<std::uint64_t>("a block's cx");
  e.offset = reader.offset();
  e.rows = reader.le<std::uint32_t>("a block's row count");
  e.cols = reader.le<std::uint32_t>("a block's column count");
  const std::uint64_t kind_at = reader.offset();
  const auto kind = reader.le<std::uint8_t>("a block type");
  if (kind > 3) {
    reader.fail(kind_at, "expected a block type of 0 to 3 (R1), got " + std::to_string(kind));
  }
  e.kind = static_cast<BlockKind>(kind);
  if (e.kind != BlockKind::empty) {
    const std::uint64_t type_at = reader.offset();
    const auto code = reader.le<std::uint8_t>("a block's value type");
    const auto type = value_type_of_code(code);
    if (!type) {
      reader.fail(type_at, "expected a value type of 1 to 10 (R1), got " + std::to_string(code));
    }
    e.value_type = *type;
  }
  switch (e.kind) {
    case BlockKind::empty:
      break;
    case BlockKind::dense:
      e.stored = std::uint64_t{e.rows} * e.cols;
      break;
    case BlockKind::csr:
      e.stored = reader.le<std::uint64_t>("a CSR block's entry count");
      break;
    case BlockKind::coo:
      e.stored = reader.le<std::uint32_t>("a COO block's entry count");
      break;
  }
  const std::uint64_t left = remaining - (e.offset - start);
  const bool sized = block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, e.bytes);
  if (!sized || e.bytes > left) {
    reader.fail(e.offset, "expected " + (sized ? std::to_string(e.bytes) : "more than 2^64") +
                              " bytes of block " + text(e.pos) + " (R4), got " +
                              std::to_string(left));
  }
  item.auxiliary = is_auxiliary(e);
  if (!is_inside(item, rows, cols)) reader.fail(start, outside(item, rows, cols));
  return item;
}

}  // namespace

// Into the caller's item: to copy one whose fields were just written waits for them (10^6 headers:
// 27 ms).
void read_item_header(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t rows,
                      std::uint64_t cols, std::uint64_t remaining, const std::string& file,
                      Item& item) {
  if (bytes.size() >= kLongestItemHeader &&
      read_sound_header(bytes.data(), at, rows, cols, remaining, item)) {
    return;
  }
  ByteReader reader(bytes, at, file);
  item = read_header_with_care(reader, rows, cols, remaining);
}

std::span<const std::byte> first_look(const MappedFile& file) {
  // Most headers are 19 bytes; a frame's needs a byte, a length and a label per column.
  constexpr std::uint64_t kFirstLook = 128;
  return file.bytes(0, std::min(file.size(), kFirstLook));
}

namespace {

// A byte of the header that is none of those that it may be.
[[noreturn, gnu::noinline]] void fail_byte(ByteReader& reader, std::uint64_t at, const char* wanted,
                                           std::uint8_t got) {
  reader.fail(at,
              std::string("expected ").append(wanted).append(" (R1), got ") + std::to_string(got));
}

ValueType read_type(ByteReader& reader) {
  const std::uint64_t at = reader.offset();
  const auto code = reader.le<std::uint8_t>("a value type");
  const auto type = value_type_of_code(code);
  if (!type) fail_byte(reader, at, "a value type of 1 to 10", code);
  return *type;
}

// A frame's header from behind the column count; returns where it ends. `head` is its start.
[[gnu::noinline]] std::uint64_t read_columns(const MappedFile& file,
                                             std::span<const std::byte> head, Schema& schema) {
  // Each column has a type of one byte and a label length of two: what the file cannot hold is
  // refused before any memory is taken.
  if (schema.cols > (file.size() - kHeaderStart) / 3) {
    ByteReader(head, 0, file.name())
        .fail(kHeaderStart, "expected at least " + std::to_string(schema.cols) +
                                " value types and label lengths (R4), got " +
                                std::to_string(file.size() - kHeaderStart) + " bytes");
  }
  // Hops over the labels to find the header's end, looking at as little as that takes.
  const auto look_to = [&](std::uint64_t end) {
    if (end <= head.size()) return;
    head = file.bytes(0, std::min(file.size(), std::max<std::uint64_t>(end, 2 * head.size())));
  };
  std::uint64_t end = kHeaderStart + schema.cols;
  // All types are looked at before labels are passed over, and memory is taken for them.
  look_to(end);
  ByteReader types(head, 0, file.name());
  types.take(kHeaderStart, "a header");
  for (std::uint64_t k = 0; k < schema.cols; ++k) read_type(types);

  for (std::uint64_t k = 0; k < schema.cols && end <= file.size() - 2; ++k) {
    look_to(end + 2);
    end += 2 + load_le<std::uint16_t>(head.data() + end);
    if (end > file.size()) break;
  }
  look_to(std::min(end, file.size()));

  ByteReader columns(head, 0, file.name());
  columns.take(kHeaderStart, "a header");
  schema.columns.reserve(schema.cols);
  for (std::uint64_t k = 0; k < schema.cols; ++k) {
    schema.columns.push_back({{}, read_type(columns)});
  }
  for (Column& column : schema.columns) {
    const auto length = columns.le<std::uint16_t>("a label's length");
    const auto label = columns.take(length, "a label");
    column.label.assign(reinterpret_cast<const char*>(label.data()), label.size());
  }
  return columns.offset();
}

}  // namespace

Schema read_header(const MappedFile& file, std::uint64_t& body) {
  const auto head = first_look(file);
  ByteReader reader(head, 0, file.name());
  Schema schema;
  const auto version = reader.le<std::uint8_t>("a format version");
  if (version != kVersion) fail_byte(reader, 0, "format version 1", version);
  const auto data_type = reader.le<std::uint8_t>("a data type");
  if (data_type < 1 || data_type > 3) fail_byte(reader, 1, "a data type of 1 to 3", data_type);
  schema.rows = reader.le<std::uint64_t>("a row count");
  schema.cols = reader.le<std::uint64_t>("a column count");
  if (static_cast<DataType>(data_type) == DataType::frame) {
    schema.kind = ObjectKind::frame;
    body = read_columns(file, head, schema);
    return schema;
  }
  schema.kind = ObjectKind::matrix;
  schema.storage =
      static_cast<DataType>(data_type) == DataType::dense_matrix ? Storage::dense : Storage::csr;
  schema.value_type = read_type(reader);
  body = reader.offset();
  return schema;
}

std::vector<std::byte> emit_header(const Schema& schema) {
  const bool frame = schema.kind == ObjectKind::frame;
  std::size_t size = kHeaderStart + 1;
  if (frame) {
    size = kHeaderStart;
    for (const Column& column : schema.columns) size += 1 + 2 + column.label.size();
  }
  std::vector<std::byte> bytes(size);
  std::byte* p = bytes.data();
  const DataType data_type = frame                              ? DataType::frame
                             : schema.storage == Storage::dense ? DataType::dense_matrix
                                                                : DataType::csr_matrix;
  p[0] = std::byte{kVersion};
  p[1] = static_cast<std::byte>(data_type);
  store_le(p + 2, schema.rows);
  store_le(p + 10, schema.cols);
  p += kHeaderStart;
  if (!frame) {
    *p = static_cast<std::byte>(schema.value_type);
    return bytes;
  }
  for (const Column& column : schema.columns) *p++ = static_cast<std::byte>(column.value_type);
  for (const Column& column : schema.columns) {
    store_le(p, static_cast<std::uint16_t>(column.label.size()));
    std::memcpy(p + 2, column.label.data(), column.label.size());
    p += 2 + column.label.size();
  }
  return bytes;
}

std::size_t emit_item_header(std::byte* p, const Entry& e) noexcept {
  store_le(p, e.pos.rx);
  store_le(p + 8, e.pos.cx);
  p += kPosition;
  store_le(p, e.rows);
  store_le(p + 4, e.cols);
  p[8] = static_cast<std::byte>(e.kind);
  if (e.kind != BlockKind::empty) p[9] = static_cast<std::byte>(e.value_type);
  if (e.kind == BlockKind::csr) store_le(p + kDenseHeader, e.stored);
  if (e.kind == BlockKind::coo) store_le(p + kDenseHeader, static_cast<std::uint32_t>(e.stored));
  return kPosition + header_size(e.kind);
}

}  // namespace dapple::detail::dbdf
