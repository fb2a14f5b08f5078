#include "lib/dbdf/header.h"

#include <algorithm>
#include <cstring>

#include "lib/base/bytes.h"

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
  return "block " + text(e.pos) + " of " + extents_text(e.rows, e.cols) +
         " cells is not inside the " + extents_text(rows, cols) + " object (R2)";
}

namespace {

enum class Flaw : std::uint8_t { none, cut, kind, type, encoding, size, outside };

// The rest of the header of an encoded block, whose block type is at `p`.
Flaw parse_encoded(const std::byte* p, std::uint64_t remaining, Entry& e) noexcept {
  const auto kind = std::to_integer<std::uint8_t>(p[1]);
  const auto type = value_type_of_code(std::to_integer<std::uint8_t>(p[2]));
  e.codec = std::to_integer<std::uint8_t>(p[3]);
  e.stored = load_le<std::uint64_t>(p + 5);
  const auto size = load_le<std::uint64_t>(p + 13);
  const std::uint64_t cells = std::uint64_t{e.rows} * e.cols;
  if (kind < 1 || kind > 3 || !type || e.codec == 0 || p[4] != std::byte{0}) return Flaw::encoding;
  e.kind = static_cast<BlockKind>(kind);
  e.value_type = *type;
  std::uint64_t decoded = 0;
  if ((e.kind == BlockKind::dense ? e.stored != cells : e.stored > cells) ||
      !block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, decoded) ||
      decoded > kMostDecoded) {
    return Flaw::encoding;
  }
  if (__builtin_add_overflow(size, kEncodedHeader, &e.bytes)) return Flaw::encoding;
  return size > remaining ? Flaw::size : Flaw::none;
}

// The first rule that a header breaks, as far as it has been read into `item`.
Flaw parse(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t rows,
           std::uint64_t cols, std::uint64_t remaining, Item& item) noexcept {
  if (bytes.size() < kShortestItem) return Flaw::cut;
  const std::byte* p = bytes.data();
  Entry& e = item.entry;
  e.pos = {load_le<std::uint64_t>(p), load_le<std::uint64_t>(p + 8)};
  e.offset = at + kPosition;
  e.hash = 0;
  p += kPosition;
  e.rows = load_le<std::uint32_t>(p);
  e.cols = load_le<std::uint32_t>(p + 4);
  const auto kind = static_cast<std::uint8_t>(p[8]);
  e.codec = 0;
  item.auxiliary = false;
  if (kind == kEncodedType) {
    if (bytes.size() < kPosition + kEncodedHeader) return Flaw::cut;
    const Flaw flaw = parse_encoded(p + 8, remaining - kPosition - kEncodedHeader, e);
    if (flaw != Flaw::none) return flaw;
    return is_inside(item, rows, cols) ? Flaw::none : Flaw::outside;
  }
  if (kind > 3) return Flaw::kind;
  e.kind = static_cast<BlockKind>(kind);
  e.value_type = ValueType::u8;
  e.stored = 0;
  if (e.kind != BlockKind::empty) {
    if (bytes.size() < kPosition + header_size(e.kind)) return Flaw::cut;
    const auto type = value_type_of_code(static_cast<std::uint8_t>(p[kBlockStart]));
    if (!type) return Flaw::type;
    e.value_type = *type;
    e.stored = e.kind == BlockKind::dense ? std::uint64_t{e.rows} * e.cols
               : e.kind == BlockKind::csr ? load_le<std::uint64_t>(p + kDenseHeader)
                                          : load_le<std::uint32_t>(p + kDenseHeader);
  }
  item.auxiliary =
      e.pos == kAuxiliaryPos && e.kind == BlockKind::dense && e.value_type == ValueType::u8;
  e.bytes = 0;
  if (!block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, e.bytes) ||
      e.bytes > remaining - kPosition) {
    return Flaw::size;
  }
  return is_inside(item, rows, cols) ? Flaw::none : Flaw::outside;
}

[[noreturn, gnu::noinline]] void fail(Flaw flaw, std::span<const std::byte> bytes, std::uint64_t at,
                                      std::uint64_t rows, std::uint64_t cols,
                                      std::uint64_t remaining, const std::string& file,
                                      const Item& item) {
  const auto code = [&](std::size_t i) {
    return std::to_string(std::to_integer<unsigned>(bytes[kPosition + i]));
  };
  std::string detail = "the file ends inside the header of a block (R4)";
  if (flaw == Flaw::kind) {
    at += kPosition + kBlockStart - 1;
    detail = "block type " + code(kBlockStart - 1) + " is unknown (R1)";
  } else if (flaw == Flaw::type) {
    at += kPosition + kBlockStart;
    detail = "value type " + code(kBlockStart) + " is unknown (R1)";
  } else if (flaw == Flaw::encoding) {
    at += kPosition + kBlockStart;
    detail = "block " + text(item.entry.pos) +
             " is encoded, and its header is none that an encoded block can have (R1)";
  } else if (flaw == Flaw::size) {
    at += kPosition;
    const Entry& e = item.entry;
    std::uint64_t size = e.bytes;
    detail = (e.pos == kAuxiliaryPos ? "an auxiliary block" : "block " + text(e.pos)) +
             (e.codec != 0 || block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, size)
                  ? " ends " + counted(size - (remaining - kPosition), "byte") +
                        " after the file does (R4)"
                  : " has more than 2^64 bytes (R4)");
  } else if (flaw == Flaw::outside) {
    detail = outside(item, rows, cols);
  }
  throw Error(Errc::corrupt, file, at, std::move(detail));
}

}  // namespace

void read_item_header(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t rows,
                      std::uint64_t cols, std::uint64_t remaining, const std::string& file,
                      Item& item) {
  const Flaw flaw = parse(bytes, at, rows, cols, remaining, item);
  if (flaw != Flaw::none) fail(flaw, bytes, at, rows, cols, remaining, file, item);
}

bool has_tag(const ByteSource& file, const Entry& item, const char* tag) {
  return item.bytes >= kDenseHeader + kTag &&
         std::memcmp(file.at(item.offset + kDenseHeader, kTag), tag, kTag) == 0;
}

std::span<const std::byte> first_look(const ByteSource& file) {
  // A frame's header needs a byte, a length and a label per column.
  constexpr std::uint64_t kFirstLook = 128;
  const std::uint64_t size = std::min(file.size(), kFirstLook);
  if (!file.fetches() || size < kMatrixHeader) return file.bytes(0, size);
  if (const auto known = file.presumed(); !known.empty()) return known;
  const auto start = file.bytes(0, kMatrixHeader);  // which may be presumed
  const bool frame = start[1] == static_cast<std::byte>(DataType::frame);
  return frame ? file.bytes(0, size) : start;
}

namespace {

ValueType read_type(ByteReader& reader) {
  const std::uint64_t at = reader.offset();
  const auto code = reader.le<std::uint8_t>("a value type");
  const auto type = value_type_of_code(code);
  if (!type) {
    reader.fail(at, "value type " + std::to_string(code) + " is unknown (R1)");
  }
  return *type;
}

// Reads a frame's header from after the column count and returns where it ends. `head` is its
// start.
std::uint64_t read_columns(const ByteSource& file, std::span<const std::byte> head,
                           Schema& schema) {
  // A column takes at least three bytes. Compared before anything is allocated.
  if (schema.cols > (file.size() - kHeaderStart) / 3) {
    ByteReader(head, 0, file.name())
        .fail(kHeaderStart, "the file is too short for the types and labels of " +
                                counted(schema.cols, "column") + " (R4)");
  }
  // Find the end of the header without reading much more of the file.
  const auto look_to = [&](std::uint64_t end) {
    if (end <= head.size()) return;
    head = file.bytes(0, std::min(file.size(), std::max<std::uint64_t>(end, 2 * head.size())));
  };
  std::uint64_t end = kHeaderStart + schema.cols;
  // All types are checked before anything is allocated.
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

bool is_text(std::byte byte) noexcept {
  const auto c = std::to_integer<unsigned char>(byte);
  return (c >= ' ' && c != 127) || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

Schema read_header(const ByteSource& file, std::uint64_t& body) {
  const auto head = first_look(file);
  ByteReader reader(head, 0, file.name());
  Schema schema;
  const auto version = reader.le<std::uint8_t>("a format version");
  if (version != kVersion) {
    const bool text = head.size() >= 4 && std::all_of(head.begin(), head.begin() + 4, is_text);
    throw Error(Errc::corrupt, file.name(), 0,
                "format version " + std::to_string(version) + " is unknown (R1)" +
                    (text ? "; the file begins with text, and may be CSV" : ""),
                text ? "format=csv" : "");
  }
  const auto data_type = reader.le<std::uint8_t>("a data type");
  if (data_type < 1 || data_type > 3) {
    reader.fail(1, "data type " + std::to_string(data_type) + " is unknown (R1)");
  }
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
  if (e.codec != 0) {
    p[8] = static_cast<std::byte>(kEncodedType);
    p[9] = static_cast<std::byte>(e.kind);
    p[10] = static_cast<std::byte>(e.value_type);
    p[11] = static_cast<std::byte>(e.codec);
    p[12] = std::byte{0};
    store_le(p + 13, e.stored);
    store_le(p + 21, e.bytes - kEncodedHeader);
    return kPosition + kEncodedHeader;
  }
  p[8] = static_cast<std::byte>(e.kind);
  if (e.kind != BlockKind::empty) p[9] = static_cast<std::byte>(e.value_type);
  if (e.kind == BlockKind::csr) store_le(p + kDenseHeader, e.stored);
  if (e.kind == BlockKind::coo) store_le(p + kDenseHeader, static_cast<std::uint32_t>(e.stored));
  return kPosition + header_size(e.kind);
}

}  // namespace dapple::detail::dbdf
