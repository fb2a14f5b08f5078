// Telling the runtime's files from those of the published format (FORMAT.md). The answer hangs on
// lengths: for one code, the two give values of different sizes.

#include "lib/base/bytes.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/foreign/daphne/daphne.h"

namespace dapple::detail::daphne {

namespace {

[[noreturn]] void fail_either(const Probe& probe) {
  throw Error(Errc::not_recognised, probe.file.name(), std::nullopt,
              "this could be the published DAPHNE format (dbdf) as well as the DAPHNE runtime's "
              "(daphne)",
              "format");
}

/// Blocks with cells that the published format finds from byte `body` on; 0 when it finds the
/// bytes corrupt.
std::uint64_t published_blocks(const Probe& probe, std::uint64_t body, std::uint64_t rows,
                               std::uint64_t cols) {
  Schema schema;
  schema.rows = rows;
  schema.cols = cols;
  try {
    return dbdf::scan(probe.file, body, schema).index.size();
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    return 0;
  }
}

/// True when an auxiliary block of the published format starts at `offset`. Values of the runtime
/// that look like one do not occur by chance: 25 bytes would have to agree.
bool auxiliary_at(const Probe& probe, std::uint64_t offset) {
  constexpr std::size_t head = dbdf::kPosition + dbdf::kDenseHeader;
  if (offset > probe.file.size() || probe.file.size() - offset < head) return false;
  const std::byte* p = probe.file.at(offset, head);
  return load_le<std::uint64_t>(p) == dbdf::kAuxiliary &&
         load_le<std::uint64_t>(p + 8) == dbdf::kAuxiliary &&
         static_cast<BlockKind>(p[dbdf::kPosition + 8]) == BlockKind::dense &&
         static_cast<ValueType>(p[dbdf::kPosition + 9]) == ValueType::u8;
}

/// Header fields of a matrix, once its only block is known to be the whole object.
struct Matrix {
  std::uint64_t rows, cols;
  std::size_t published_size;  // of one value
  std::size_t runtime_size;
};

Match recognise_dense(const Probe& probe, const Matrix& m) {
  const std::uint64_t left = probe.file.size() - at::dense_values;
  std::uint64_t cells, bytes;
  if (!multiply(m.rows, m.cols, cells) || !multiply(cells, m.runtime_size, bytes)) {
    return Match::no;
  }
  if (bytes != left) return Match::no;
  if (cells == 0) fail_either(probe);
  // A longer published reading needs blocks that hold no cells; only dapple's own are real ones.
  if (m.published_size < m.runtime_size &&
      auxiliary_at(probe, at::dense_values + cells * m.published_size)) {
    return Match::no;
  }
  return Match::by_size;
}

/// Row offsets start at 0 and end at `nnz`; with `all`, none is below the one before.
bool row_offsets_fit(const ByteSource& file, std::uint64_t rows, std::uint64_t nnz, bool all) {
  const auto offset_of = [&](std::uint64_t row) {
    return load_le<std::uint64_t>(file.at(at::csr_row_offsets + row * kIndexBytes, kIndexBytes));
  };
  if (offset_of(0) != 0 || offset_of(rows) != nnz) return false;
  if (!all) return true;
  std::uint64_t before = 0;
  for (std::uint64_t row = 1; row < rows; ++row) {
    const std::uint64_t offset = offset_of(row);
    if (offset < before || offset > nnz) return false;
    before = offset;
  }
  return true;
}

Match recognise_csr(const Probe& probe, const Matrix& m) {
  const ByteSource& file = probe.file;
  if (file.size() < at::csr_row_offsets) return Match::no;
  const auto nnz = load_le<std::uint64_t>(file.at(at::csr_nnz, 8));
  const std::uint64_t left = file.size() - at::csr_row_offsets;
  if (m.rows >= left / kIndexBytes) return Match::no;
  const std::uint64_t arrays = left - (m.rows + 1) * kIndexBytes;
  const std::uint64_t entry = kIndexBytes + m.runtime_size;
  if (nnz > arrays / entry || arrays % entry != 0) return Match::no;
  // The published form of the same block is always shorter, so this does not wrap.
  if (auxiliary_at(probe, at::csr_row_offsets + 4 * m.rows + nnz * (4 + m.published_size))) {
    return Match::no;
  }
  const bool slack = nnz < arrays / entry;
  const bool fits = row_offsets_fit(file, m.rows, nnz, slack);
  if (!slack && fits) return Match::by_size;
  if (slack && !fits) return Match::no;
  const bool published = published_blocks(probe, dbdf::kHeaderStart + 1, m.rows, m.cols) > 0;
  if (slack && published) fail_either(probe);
  return published ? Match::no : Match::by_size;
}

Match recognise_matrix(const Probe& probe) {
  if (probe.head.size() < at::dense_values) return Match::no;
  const std::byte* const head = probe.head.data();
  const auto u64 = [head](std::size_t offset) { return load_le<std::uint64_t>(head + offset); };
  const auto u32 = [head](std::size_t offset) { return load_le<std::uint32_t>(head + offset); };
  const auto code = load_le<std::uint8_t>(head + at::value_type);
  const bool whole_object =
      u64(at::rx) == 0 && u64(at::cx) == 0 && u32(at::block_rows) == u32(at::rows) &&
      u32(at::block_cols) == u32(at::cols) && head[at::block_type] == head[at::object] &&
      head[at::block_value_type] == head[at::value_type];
  const auto runtime = type_of_code(code);
  if (!whole_object || !runtime) return Match::no;
  const auto published = value_type_of_code(code);
  if (!published) return Match::by_size;
  const Matrix m{u64(at::rows), u64(at::cols), size_of(*published), size_of(*runtime)};
  const bool dense = static_cast<Object>(head[at::object]) == Object::dense;
  return dense ? recognise_dense(probe, m) : recognise_csr(probe, m);
}

Match recognise_frame(const Probe& probe) {
  const ByteSource& file = probe.file;
  if (file.size() < at::frame_types) return Match::no;
  const auto rows = load_le<std::uint64_t>(probe.head.data() + at::rows);
  const auto cols = load_le<std::uint64_t>(probe.head.data() + at::cols);
  if (cols > (file.size() - at::frame_types) / 3) return Match::no;  // a code and a length each
  std::uint64_t record = 0;
  bool runtime_only = false;
  for (const std::byte b : file.bytes(at::frame_types, cols)) {
    const auto code = static_cast<std::uint8_t>(b);
    const auto type = type_of_code(code);
    if (!type) return Match::no;
    record += size_of(*type);
    runtime_only = runtime_only || !value_type_of_code(code);
  }
  std::uint64_t bytes = 0;
  const bool countable = multiply(rows, record, bytes) && bytes <= file.size();
  if (!runtime_only && !countable) return Match::no;
  std::uint64_t body = at::frame_types + cols;
  for (std::uint64_t col = 0; col < cols; ++col) {
    if (file.size() - body < 2) return Match::no;
    body += 2;
    const auto length = load_le<std::uint16_t>(file.at(body - 2, 2));
    if (file.size() - body < length) return Match::no;
    body += length;
  }
  if (file.size() - body < kPosition) return Match::no;
  const std::byte* const position = file.at(body, kPosition);
  if (load_le<std::uint64_t>(position) != 0 || load_le<std::uint64_t>(position + 8) != 0) {
    return Match::no;
  }
  const bool fits = countable && bytes == file.size() - body - kPosition;
  if (fits && runtime_only) return Match::by_size;
  if (!fits && !runtime_only) return Match::no;
  // Rows that read as blocks with cells are blocks; a code that only the runtime has may also be a
  // damaged one of a published file.
  return published_blocks(probe, body, rows, cols) > 0 ? Match::no : Match::by_size;
}

}  // namespace

Match recognise_daphne(const Probe& probe) {
  if (probe.head.size() <= at::object ||
      load_le<std::uint8_t>(probe.head.data() + at::version) != kVersion) {
    return Match::no;
  }
  switch (static_cast<Object>(probe.head[at::object])) {
    case Object::dense:
    case Object::csr:
      return recognise_matrix(probe);
    case Object::frame:
      return recognise_frame(probe);
    case Object::scalar:
      return Match::by_size;
  }
  return Match::no;
}

}  // namespace dapple::detail::daphne
