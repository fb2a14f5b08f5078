// Door: packed payloads. The input is a shape and a payload. It decodes or is corrupt, the second
// reader agrees, and what is read in parts is what is read in whole.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "lib/codec/packed/packed_block.h"
#include "tests/fuzz/target.h"
#include "tests/packed_reader.h"

namespace dapple::fuzz::packed_target {

namespace {

using detail::packed::BlockReader;
using detail::packed::Shape;
using Bytes = std::vector<std::byte>;

void read_cells(const Shape& shape, const BlockReader& reader, const Bytes& whole) {
  const std::size_t size = size_of(shape.value_type), step = shape.cols * size;
  const Range rows{shape.rows / 3, shape.rows - shape.rows / 4};
  const Range cols{shape.cols / 4, shape.cols - shape.cols / 3};
  Bytes part(rows.size() * cols.size() * size);
  reader.cells(rows, cols, part.data(), cols.size() * size);
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const std::byte* const expected = whole.data() + row * step + cols.begin * size;
    const std::byte* const got = part.data() + (row - rows.begin) * cols.size() * size;
    require(std::equal(got, got + cols.size() * size, expected), "cells");
  }
}

void read_rows(const Shape& shape, std::span<const std::byte> packed, const BlockReader& reader,
               const Bytes& whole) {
  const std::size_t size = size_of(shape.value_type);
  const std::byte* at = whole.data();
  BlockReader::Kept kept;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    std::uint32_t starts[2];
    reader.row_starts(row, row + 1, starts, kept);
    const std::uint32_t count = starts[1] - starts[0];
    require(count == detail::load_le<std::uint32_t>(at), "count");
    at += 4;
    std::vector<std::uint32_t> cols(count);
    Bytes values(count * size);
    for (const auto part : reader.bytes_of(starts[0], starts[1])) {
      require(part.size() <= packed.size(), "bytes of a row");
    }
    reader.columns(starts, cols.data(), kept);
    reader.values(starts[0], starts[1], values.data(), kept);
    for (std::uint32_t i = 0; i < count; ++i, at += 4 + size) {
      require(cols[i] == detail::load_le<std::uint32_t>(at), "column");
      require(std::equal(at + 4, at + 4 + size, values.data() + i * size), "value");
    }
  }
}

}  // namespace

FUZZ_TARGET(packed) {
  // Kind, type, rows, columns, stored values / 4.
  if (size < 5 || size > 4096) return 0;
  const ValueType type = kValueTypes[data[1] % kValueTypes.size()];
  Shape shape{static_cast<BlockKind>(1 + data[0] % 3), type, data[2], data[3],
              std::uint64_t{data[4]} * 4};
  if (shape.kind == BlockKind::dense) shape.stored = std::uint64_t{shape.rows} * shape.cols;
  const auto packed = std::as_bytes(std::span(data + 5, size - 5));
  static const std::string name = "packed.dbdf";
  Bytes whole(detail::packed::plain_bytes(shape).value());
  try {
    const BlockReader reader(shape, {packed, 0, &name});
    reader.decode(whole.data());
    if (shape.kind == BlockKind::dense) read_cells(shape, reader, whole);
    if (shape.kind == BlockKind::csr) read_rows(shape, packed, reader, whole);
  } catch (const Error& e) {
    require(e.code() == Errc::corrupt && e.offset().value_or(size) <= packed.size(), "error");
    return 0;
  }
  const Bytes again =
      test::read_packed(shape.kind, type, shape.rows, shape.cols, shape.stored, packed);
  require(again == whole, "answer of one of the readers");
  return 0;
}

}  // namespace dapple::fuzz::packed_target
