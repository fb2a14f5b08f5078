#include <filesystem>
#include <span>
#include <string>

#include "lib/base/bytes.h"
#include "lib/foreign/daphne/daphne.h"
#include "lib/foreign/meta/daphne_meta.h"
#include "lib/io/output_file.h"
#include "lib/io/piece_buffer.h"

namespace dapple::detail::daphne {

namespace {

/// Writes numbers one after the other, starting at some byte of the file.
class Cursor {
 public:
  Cursor(const OutputFile& file, std::uint64_t offset)
      : write_([&file](std::uint64_t at, auto piece) { file.write_at(at, piece); }) {
    buffer_.start(offset, write_);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  void put(std::span<const std::byte> bytes) { buffer_.put(bytes); }
  template <Number T>
  void put(T value) {
    store_le(buffer_.claim(sizeof value), value);
  }

  /// Byte of the file after the last number.
  std::uint64_t offset() const noexcept { return buffer_.offset(); }

  /// REQUIRED before the cursor ends.
  void flush() { buffer_.flush(); }

 private:
  TakePiece write_;
  PieceBuffer buffer_;
};

/// How many value types an object has: one for each column of a frame.
std::uint64_t types_of(const Schema& schema) {
  return schema.kind == ObjectKind::frame ? schema.cols : 1;
}

/// The first of the runtime's types that holds all values of an object, as advice; "" for none.
std::string advice(const Schema& schema) {
  for (const ValueType wide : {ValueType::u32, ValueType::i32, ValueType::i64, ValueType::f64}) {
    bool holds = true;
    for (std::uint64_t col = 0; holds && col < types_of(schema); ++col) {
      holds = holds_all(wide, schema.type_of(col));
    }
    if (holds) return "; " + std::string(name(wide)) + " would hold its values";
  }
  return "";
}

std::uint8_t code_of(const Schema& schema, std::uint64_t col) {
  const ValueType type = schema.type_of(col);
  const auto code = code_of_type(type);
  if (!code) {
    const bool frame = schema.kind == ObjectKind::frame;
    throw Error(Errc::unsupported,
                "the DAPHNE runtime has no value type " + std::string(name(type)) +
                    (frame ? " in column " + std::to_string(col) : std::string()) + advice(schema));
  }
  return *code;
}

void put_object_header(const Schema& schema, Object object, Cursor& out) {
  out.put(kVersion);
  out.put(static_cast<std::uint8_t>(object));
  out.put(schema.rows);
  out.put(schema.cols);
}

void put_position(Cursor& out) {
  out.put(std::uint64_t{0});
  out.put(std::uint64_t{0});
}

void put_matrix_header(const Schema& schema, Object object, Cursor& out) {
  const std::uint8_t code = code_of(schema, 0);
  put_object_header(schema, object, out);
  out.put(code);
  put_position(out);
  out.put(static_cast<std::uint32_t>(schema.rows));  // the low halves, as the runtime does
  out.put(static_cast<std::uint32_t>(schema.cols));
  out.put(static_cast<std::uint8_t>(object));
  out.put(code);
}

/// Labels of no bytes: the runtime would read them over its string objects.
void put_frame_header(const Schema& schema, Cursor& out) {
  put_object_header(schema, Object::frame, out);
  for (std::uint64_t col = 0; col < schema.cols; ++col) out.put(code_of(schema, col));
  for (std::uint64_t col = 0; col < schema.cols; ++col) out.put(std::uint16_t{0});
  put_position(out);
}

/// All cells row after row, each as its column's type: the body of dense matrices and of frames.
void put_rows(const Source& source, Cursor& out) {
  source.for_each_packed(out.offset(), [&](const Region&, auto cells) { out.put(cells); });
}

/// Where the arrays of columns and values start is known only when all entries have been counted,
/// so the source is read twice; memory stays bounded. Returns the length of the file, and puts the
/// number of values to `nnz`.
std::uint64_t write_csr(const Source& source, const OutputFile& file, std::uint64_t& nnz) {
  const Schema& schema = source.schema();
  const Region all{{0, schema.rows}, {0, schema.cols}};
  Cursor header(file, 0);
  put_matrix_header(schema, Object::csr, header);

  Cursor offsets(file, at::csr_row_offsets);
  std::uint64_t row = 0;
  nnz = 0;
  source.entries(all, [&](const StoredCell& cell) {
    for (; row <= cell.row; ++row) offsets.put(nnz);
    ++nnz;
  });
  for (; row < schema.rows; ++row) offsets.put(nnz);
  offsets.put(nnz);
  offsets.flush();
  header.put(nnz);
  header.flush();

  const std::size_t size = size_of(schema.value_type);
  Cursor columns(file, offsets.offset());
  Cursor values(file, offsets.offset() + nnz * kIndexBytes);
  source.entries(all, [&](const StoredCell& cell) {
    columns.put(cell.col);
    values.put(std::as_bytes(std::span(&cell.bits, 1)).first(size));
  });
  columns.flush();
  values.flush();
  source.progress(schema.rows);
  return values.offset();
}

std::uint64_t write_dense(const Source& source, const OutputFile& file) {
  Cursor out(file, 0);
  if (source.kind() == ObjectKind::frame) {
    put_frame_header(source.schema(), out);
  } else {
    put_matrix_header(source.schema(), Object::dense, out);
  }
  put_rows(source, out);
  out.flush();
  return out.offset();
}

bool wants_csr(const Schema& schema, const ConvertOptions& options) {
  if (schema.kind == ObjectKind::frame) return false;
  switch (options.write.kind) {
    case KindChoice::csr:
      return true;
    case KindChoice::dense:
      return false;
    case KindChoice::automatic:
      return schema.storage == Storage::csr;
    case KindChoice::coo:
      break;
  }
  throw Error(Errc::unsupported,
              "the DAPHNE runtime has no matrices of kind coo, only dense and csr");
}

/// Publishes both files so that a new one is never beside an old one, whose labels would be shown
/// over other cells.
void publish(OutputFile& file, const std::filesystem::path& path, OutputFile& meta,
             const WriteOptions& options) {
  // What takes long and may fail comes before either has its name.
  if (options.sync) {
    file.sync();
    meta.sync();
  }
  std::error_code reason;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, reason))) {
    std::filesystem::remove(meta.name(), reason);
    if (reason) throw_io(meta.name(), "replace", reason.value());
    file.publish(options.sync);
    meta.publish(options.sync);
    return;
  }
  // Once a new data file has its name, both are there.
  meta.publish(options.sync);
  try {
    file.publish(options.sync);
  } catch (...) {
    std::filesystem::remove(meta.name(), reason);
    throw;
  }
}

}  // namespace

WriteSummary write_daphne(const Source& source, const std::filesystem::path& path,
                          const ConvertOptions& options) {
  const WriteOptions& write = options.write;
  const Schema& schema = source.schema();
  const bool csr = wants_csr(schema, options);
  for (std::uint64_t col = 0; col < types_of(schema); ++col) code_of(schema, col);  // or refuses
  std::string meta_text = daphne_meta_text(schema);                                 // or refuses
  require_meta_unread(path, source.store().file());

  OutputFile file(path, write.overwrite);
  OutputFile meta(daphne_meta_path(path), write.overwrite);
  std::uint64_t bytes = 0;
  if (csr) {
    // By their number DAPHNE's compiler decides to read a CSR matrix; without it, it expects a
    // dense one and fails.
    std::uint64_t nnz = 0;
    bytes = write_csr(source, file, nnz);
    meta_text = daphne_meta_text(schema, nnz);
  } else {
    bytes = write_dense(source, file);
  }
  meta.append(std::as_bytes(std::span(meta_text)));
  publish(file, path, meta, write);
  return {{}, bytes};
}

}  // namespace dapple::detail::daphne
