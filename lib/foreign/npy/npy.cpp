#include "lib/foreign/npy/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/npy/npy_header.h"
#include "lib/foreign/npy/npy_values.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::npy {

namespace {

struct NpyState final : DriverState {
  Layout layout;
  std::vector<std::shared_ptr<const FieldWords>> words;  // of each field; null: no texts
};

/// Values that lie evenly in the file: rows x cols of them.
struct Plane {
  const std::byte* data;
  std::size_t row_stride, col_stride;
  std::uint64_t rows, cols;
};

/// Copies a plane; `fail` is called with the row and column of a value that does not fit.
template <class Fail>
void copy_plane(const Field& field, const Plane& plane, const Target& out, const Fail& fail) {
  const std::size_t size = field.size;
  const std::uint64_t cells = plane.rows * plane.cols;
  const bool one_run = plane.col_stride == size && plane.row_stride == plane.cols * size &&
                       out.row_step == plane.cols * out.col_step;
  if (field.in_place() && plane.col_stride == size && (plane.cols > 1 || one_run)) {
    const std::uint64_t done =
        copy_rows(out, field.type, plane.data, plane.row_stride, plane.rows, plane.cols);
    if (done < cells) fail(done / plane.cols, done % plane.cols);
  } else if (one_run) {
    const std::size_t done =
        copy_values(field, plane.data, size, out.type, out.data, out.col_step, cells);
    if (done < cells) fail(done / plane.cols, done % plane.cols);
  } else if (plane.cols > 1 && (plane.col_stride <= plane.row_stride || plane.rows == 1)) {
    for (std::uint64_t row = 0; row < plane.rows; ++row) {
      const std::size_t done =
          copy_values(field, plane.data + row * plane.row_stride, plane.col_stride, out.type,
                      out.cell(row, 0), out.col_step, plane.cols);
      if (done < plane.cols) fail(row, done);
    }
  } else {
    // Column by column, in bands of so few rows that the lines of memory they end in stay in the
    // fastest cache.
    constexpr std::uint64_t band = 64;
    for (std::uint64_t row = 0; row < plane.rows; row += plane.cols == 1 ? plane.rows : band) {
      const std::uint64_t n = plane.cols == 1 ? plane.rows : std::min(band, plane.rows - row);
      for (std::uint64_t col = 0; col < plane.cols; ++col) {
        const std::size_t done =
            copy_values(field, plane.data + row * plane.row_stride + col * plane.col_stride,
                        plane.row_stride, out.type, out.cell(row, col), out.row_step, n);
        if (done < n) fail(row + done, col);
      }
    }
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const auto& words = store.state<NpyState>().words;
  if (!words.empty() && words[e.pos.cx] != nullptr) {
    return read_codes(store, e, *words[e.pos.cx], part, out);
  }
  const Layout& state = store.state<NpyState>().layout;
  const Field& field = state.field(e.pos.cx);
  const std::size_t size = field.size;
  const std::uint64_t cols = part.cols.size();
  const std::uint64_t first_col = e.pos.cx + part.cols.begin;
  for (std::uint64_t row = part.rows.begin; row < part.rows.end;) {
    const std::uint64_t absolute = e.pos.rx + row;
    const std::uint64_t rows = std::min(part.rows.end - row, state.even_rows(absolute));
    const std::uint64_t at = state.at(absolute, first_col);
    const std::uint64_t bytes =
        (rows - 1) * state.row_stride() + (cols - 1) * state.col_stride + size;
    const HeldBytes held = store.payload(e, {at - e.offset, at - e.offset + bytes});
    const Plane plane{held.data(), state.row_stride(), state.col_stride, rows, cols};
    Target target = out;
    target.data = out.cell(row - part.rows.begin, 0);
    copy_plane(field, plane, target, [&](std::uint64_t r, std::uint64_t c) {
      std::array<std::byte, 8> value;
      copy_values(field, plane.data + r * plane.row_stride + c * plane.col_stride, size, field.type,
                  value.data(), size_of(field.type), 1);
      fail_misfit(store, e, {row + r, part.cols.begin + c}, value.data(), out.type);
    });
    row += rows;
  }
}

/// Rows of the block in the file as they would lie in memory, unless bytes are swapped, values of
/// a row lie apart, or rows are not evenly spaced.
std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  const Layout& state = store.state<NpyState>().layout;
  const Field& field = state.field(e.pos.cx);
  const bool packed = e.cols == 1 || state.col_stride == size_of(field.type);
  if (!field.in_place() || !packed || state.even_rows(e.pos.rx) < e.rows) return std::nullopt;
  return DensePlace{store.payload(e), state.row_stride()};
}

constexpr Driver kDriver{.format = "npy", .read = read, .in_place = in_place};

Schema schema_of(const Header& header, const std::string& file) {
  Schema schema;
  const std::size_t row_dims =
      header.records || header.shape.size() < 2 ? header.shape.size() : header.shape.size() - 1;
  schema.rows = 1;
  for (std::size_t i = 0; i < row_dims; ++i) {
    if (!multiply(schema.rows, header.shape[i], schema.rows)) {
      throw Error(Errc::corrupt, file, header.data, "the array has 2^64 rows or more");
    }
  }
  if (header.records) {
    schema.kind = ObjectKind::frame;
    schema.cols = header.fields.size();
    for (const Field& field : header.fields)
      schema.columns.push_back({field.label, field.type, field.meaning});
  } else {
    schema.cols = header.shape.size() < 2 ? 1 : header.shape.back();
    schema.value_type = header.fields[0].type;
  }
  return schema;
}

/// Where cells lie. REQUIRES at least one, so that no stride overflows.
void place_cells(const Header& header, Layout& state) {
  std::vector<Dimension> dimensions;
  for (const std::uint64_t extent : header.shape) dimensions.push_back({extent, 0});
  std::uint64_t stride = header.item_size;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    Dimension& d = dimensions[header.fortran ? i : dimensions.size() - 1 - i];
    d.stride = stride;
    stride *= d.extent;
  }
  if (!header.records && dimensions.size() > 1) {
    state.col_stride = dimensions.back().stride;
    dimensions.pop_back();
  }
  // Neighbouring dimensions that run on at one stride are one: in C order, all of them.
  for (const Dimension& d : dimensions) {
    if (d.extent == 1) continue;
    if (!state.rows.empty() && state.rows.back().stride == d.extent * d.stride) {
      state.rows.back() = {state.rows.back().extent * d.extent, d.stride};
    } else {
      state.rows.push_back(d);
    }
  }
  if (state.rows.empty()) state.rows.push_back({1, 0});
}

EntryTable blocks_of(const Schema& schema, const Layout& state, std::uint64_t bytes) {
  EntryTable entries;
  if (bytes == 0) return entries;
  const arrays::Tile most{arrays::kMostSide, state.records ? 1 : arrays::kMostSide};
  arrays::for_each_dense({{0, schema.rows}, {0, schema.cols}}, most, [&](Entry e) {
    const Field& field = state.field(e.pos.cx);
    e.value_type = field.type;
    if (state.even_rows(e.pos.rx) >= e.rows) {
      e.offset = state.at(e.pos.rx, e.pos.cx);
      e.bytes = (e.rows - 1) * state.row_stride() + (e.cols - 1) * state.col_stride + field.size;
    } else {
      e.offset = state.data;
      e.bytes = bytes;
    }
    entries.push_back(e);
  });
  return entries;
}

std::string note_of(const Header& header, const Schema& schema, std::uint64_t surplus) {
  std::string note;
  if (header.shape.size() > (header.records ? 1U : 2U)) {
    note = "an array of shape (";
    for (std::size_t i = 0; i < header.shape.size(); ++i) {
      note += (i == 0 ? "" : ", ") + std::to_string(header.shape[i]);
    }
    note += "), shown as " + counted(schema.rows, "row") + " of " + std::to_string(schema.cols);
  }
  if (surplus > 0) {
    note += note.empty() ? "" : "; ";
    note += "left alone: " + counted(surplus, "byte") + " behind the array";
  }
  return note;
}

}  // namespace

Match recognise_npy(const Probe& probe) {
  const bool magic = probe.head.size() >= kMagic.size() &&
                     std::memcmp(probe.head.data(), kMagic.data(), kMagic.size()) == 0;
  if (magic) return Match::by_content;
  return probe.extension == ".npy" ? Match::by_name : Match::no;
}

std::shared_ptr<Store> open_member(std::shared_ptr<ByteSource> file, Range within) {
  const Header header = parse_header(*file, within);
  Schema schema = schema_of(header, file->name());
  std::uint64_t items = 0;
  if (!multiply(schema.rows, header.records ? 1 : schema.cols, items)) {
    throw Error(Errc::corrupt, file->name(), header.data, "the array has 2^64 items or more");
  }
  const std::uint64_t bytes = array_bytes(header, items, *file, within);
  auto state = std::make_unique<NpyState>();
  Layout& layout = state->layout;
  layout.data = header.data;
  layout.fields = header.fields;
  layout.records = header.records;
  if (bytes > 0) place_cells(header, layout);
  for (std::uint64_t col = 0; header.records && col < schema.cols; ++col) {
    state->words.emplace_back();
    if (!header.fields[col].has_words()) continue;
    const std::uint64_t rows = bytes > 0 ? schema.rows : 0;
    Layout alone = {layout.data, layout.rows, 0, {layout.fields[col]}, true};
    state->words[col] = std::make_shared<FieldWords>(file, std::move(alone), rows);
    schema.columns[col].meaning = meaning_of_text(state->words[col]);
    schema.columns[col].meaning.missing.reset();  // NumPy has none
  }
  EntryTable blocks = blocks_of(schema, layout, bytes);
  const std::string note = note_of(header, schema, within.end - header.data - bytes);
  auto store =
      make_store(std::move(file), std::move(schema), std::move(blocks), kDriver, std::move(state));
  store->set_note(note);
  return store;
}

std::shared_ptr<const Store> open_npy(std::shared_ptr<ByteSource> file, const OpenOptions&) {
  const Range whole{0, file->size()};
  return open_member(std::move(file), whole);
}

namespace {

[[noreturn]] void fail_missing(const Source& source, const Column& column, const char* what) {
  throw Error(
      Errc::unsupported, source.store().file().name(), std::nullopt,
      "column " + shown(column.label) + " has missing cells, and NumPy has no missing " + what,
      "stored_numbers");
}

/// Throws unsupported for cells of a piece that NumPy cannot hold.
void require_present(const Source& source, const Column& column, const std::byte* cells,
                     std::uint64_t rows, std::size_t row_bytes) {
  const Meaning& meaning = column.meaning;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t bits = load_bits(column.value_type, cells + row * row_bytes);
    if (is_missing(meaning, bits)) {
      fail_missing(source, column, meaning.has_words() ? "texts" : "numbers or Booleans");
    }
  }
}

/// Whether the cells of a column are the bytes that NumPy wants for what they mean.
bool is_stored_alike(const Column& column) {
  const Meaning& meaning = column.meaning;
  if (meaning.has_words()) return false;
  const bool own_mark = meaning.has_time() && meaning.missing == kMissingTick;
  return !meaning.missing || own_mark || is_float(column.value_type);
}

/// Records in which some columns are texts, or must not have missing cells.
void write_records(const Source& source, std::span<const std::uint64_t> widths, ByteSink& sink) {
  const Schema& schema = source.schema();
  const std::size_t row_bytes = source.packed_row();
  std::size_t record_bytes = 0;
  for (std::uint64_t col = 0; col < schema.cols; ++col) {
    record_bytes += widths[col] > 0 ? widths[col] * 4 : size_of(schema.type_of(col));
  }
  // A word of many characters makes every record as long.
  constexpr std::size_t kBytes = 4 << 20;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kBytes / record_bytes);
  std::vector<std::byte> cells, records;
  const auto write = [&](const Region& piece) {
    const std::uint64_t rows = piece.rows.size();
    cells.resize(rows * row_bytes);
    source.read_packed(piece, cells.data(), source.threads());
    std::size_t at = 0, record = 0;
    records.resize(rows * record_bytes);
    for (std::uint64_t col = 0; col < schema.cols; ++col) {
      const Column& column = schema.columns[col];
      const std::size_t size = size_of(column.value_type);
      if (!is_stored_alike(column)) {
        require_present(source, column, cells.data() + at, rows, row_bytes);
      }
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::byte* const from = cells.data() + row * row_bytes + at;
        std::byte* const to = records.data() + row * record_bytes + record;
        if (widths[col] == 0) {
          std::memcpy(to, from, size);
        } else {
          std::string word;
          append_text(column, load_bits(column.value_type, from), word);
          put_characters(to, word, widths[col]);
        }
      }
      at += size;
      record += widths[col] > 0 ? widths[col] * 4 : size;
    }
    sink.write(records);
  };
  source.for_each_piece(write, at_once * row_bytes);
}

}  // namespace

void write_npy(const Source& source, ByteSink& sink, const ConvertOptions& options) {
  const Schema& schema = source.schema();
  std::vector<std::uint64_t> widths(schema.columns.size());
  const bool meanings = !options.stored_numbers;
  bool alike = true;
  for (std::size_t col = 0; meanings && col < schema.columns.size(); ++col) {
    const Meaning& meaning = schema.columns[col].meaning;
    if (meaning.has_words()) widths[col] = width_of(schema.columns[col]);
    alike = alike && is_stored_alike(schema.columns[col]);
  }
  sink.write(emit_header(schema, meanings, widths));
  if (!alike) return write_records(source, widths, sink);
  source.for_each_packed(sink.size(), [&](const Region&, auto cells) { sink.write(cells); });
}

}  // namespace dapple::detail::npy
