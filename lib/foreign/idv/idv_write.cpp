#include <algorithm>
#include <string>

#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_encode.h"
#include "lib/foreign/idv/idv_options.h"
#include "lib/foreign/idv/idv_plan.h"
#include "lib/foreign/idv/idv_primitives.h"
#include "lib/io/output_file.h"

namespace dapple::detail::idv {
namespace {

constexpr std::uint64_t kMostBlockRows = 8192;  // as ML.NET writes them
constexpr std::uint64_t kBandBytes = std::uint64_t{16} << 20;

/// Below this part of cells that are not zero, a matrix is read entry by entry.
constexpr double kSparse = 1.0 / 16;

/// One block on its way to the file.
struct Block {
  std::span<const std::byte> raw;
  std::vector<std::byte> encoded;  // where the raw bytes are of our own making
  std::vector<std::byte> deflated;
  bool missing_texts = false;
};

/// Cells of some bands of rows, as the blocks want them.
struct Cells {
  std::vector<std::byte>
      dense;  // a matrix row by row, or column by column; vectors row by row (OutColumn::by_row)
  std::vector<std::size_t> column_at;  // of a frame: where each column of the source starts
  std::vector<StoredCell> stored;      // of a sparse matrix, ascending
};

class Writer {
 public:
  Writer(const Source& source, const std::filesystem::path& path, const ConvertOptions& options)
      : source_(source),
        plan_(plan_columns(source, options)),
        deflate_(read_options(options.format_options).deflate),
        sparse_(is_sparse(source)),
        missing_texts_(plan_.size()),
        deflaters_(worker_limit(source.threads())),
        places_(plan_.size()),
        out_(path, options.write.overwrite) {
    row_bytes_ = source.kind() == ObjectKind::matrix ? source.packed_row() : 0;
    for (const OutColumn& column : plan_) {
      if (source.kind() == ObjectKind::matrix) break;
      for (std::uint64_t col = column.cols.begin; col < column.cols.end; ++col) {
        types_.push_back(column.cell_type(source.schema().type_of(col)));
        row_bytes_ += size_of(types_.back());
      }
    }
  }

  WriteSummary run(bool sync, const TakeNote& note);

 private:
  static bool is_sparse(const Source& source);
  std::uint64_t choose_block_rows() const;
  double sparse_bytes(Range rows) const;
  void read(Range rows);
  void encode(Range rows, std::uint64_t first_row, std::size_t column, Block& block) const;
  void encode(const OutColumn& column, Range rows, std::uint64_t first_row, Block& block) const;
  void encode_matrix(Range rows, std::uint64_t first_row, Block& block) const;
  void encode_vectors(const OutColumn& column, const std::byte* cells, std::uint64_t n,
                      std::vector<std::byte>& out) const;
  void encode_pairs(const OutColumn& column, Range rows, std::uint64_t first_row,
                    std::vector<std::byte>& out) const;
  void encode_described(const OutColumn& column, Range rows, std::uint64_t first_row,
                        Block& block) const;
  const std::byte* cells_at(std::uint64_t col, std::uint64_t row, std::uint64_t first_row) const;
  [[noreturn]] void fail_cell(const OutColumn& column, std::uint64_t row,
                              const std::string& wrong) const;
  void write(const Block& block, std::size_t column);
  void finish();
  void note_missing(const TakeNote& note) const;

  const Source& source_;
  std::vector<OutColumn> plan_;
  std::vector<ValueType> types_;  // of the cells of a frame's columns, as they are wanted
  std::size_t row_bytes_ = 0;     // of all of them, or of a matrix
  bool deflate_;
  bool sparse_;
  std::vector<bool> missing_texts_;  // of each column
  Cells cells_;
  std::vector<Block> blocks_;
  std::vector<Deflater> deflaters_;              // one per worker
  std::vector<std::vector<BlockPlace>> places_;  // of each column
  OutputFile out_;
};

WriteSummary Writer::run(bool sync, const TakeNote& note) {
  out_.append(std::vector<std::byte>(kHeaderBytes));  // its fields are known last
  const std::uint64_t block_rows = choose_block_rows();
  for (OutColumn& column : plan_) {
    column.toc.compression = deflate_ ? Compression::deflate : Compression::none;
    column.toc.block_rows = block_rows;
  }
  // As many bands at once as give every worker a block.
  const std::uint64_t bands =
      plan_.empty() ? 1 : std::max<std::uint64_t>(1, deflaters_.size() / plan_.size());
  source_.progress(0);
  for (std::uint64_t row = 0; row < source_.rows() && !plan_.empty();) {
    const Range rows{row, row + std::min(block_rows * bands, source_.rows() - row)};
    read(rows);
    blocks_.resize(block_count(rows.size(), block_rows) * plan_.size());
    parallel_for(blocks_.size(), source_.threads(), [&](std::uint64_t i, unsigned worker) {
      const std::uint64_t begin = rows.begin + i / plan_.size() * block_rows;
      const Range band{begin, std::min(begin + block_rows, rows.end)};
      encode(band, rows.begin, i % plan_.size(), blocks_[i]);
      if (deflate_) deflaters_[worker].deflate(blocks_[i].raw, blocks_[i].deflated);
    });
    for (std::size_t i = 0; i < blocks_.size(); ++i) write(blocks_[i], i % plan_.size());
    row = rows.end;
    source_.progress(row);
  }
  finish();
  if (note) note_missing(note);
  out_.publish(sync);
  return {{}, out_.appended()};
}

bool Writer::is_sparse(const Source& source) {
  if (source.kind() != ObjectKind::matrix || source.rows() == 0) return false;
  const Source::Load load = source.load({{0, source.rows()}, {0, source.cols()}});
  return load.stored < load.area * kSparse;
}

/// Entries of vectors that are all sparse, as far as the index tells.
double Writer::sparse_bytes(Range rows) const {
  const double stored = source_.load({rows, {0, source_.cols()}}).stored;
  const auto item = static_cast<double>(4 + size_of(source_.schema().value_type));
  return stored * item;
}

std::uint64_t Writer::choose_block_rows() const {
  if (source_.rows() == 0 || plan_.empty()) return 1;
  const std::uint64_t most = std::min(kMostBlockRows, source_.rows());
  if (!sparse_) return std::clamp<std::uint64_t>(kBandBytes / row_bytes_, 1, most);
  // Half as many as long as some band is too large: rows may differ a lot. Many bands without much
  // in them are looked at together: there may be rows without number.
  const auto most_bytes = static_cast<double>(kBandBytes - 4 * most);
  std::uint64_t block_rows = most, bands = 1;
  for (std::uint64_t row = 0; row < source_.rows() && block_rows > 1;) {
    const std::uint64_t left = source_.rows() - row;
    const std::uint64_t size = bands > left / block_rows ? left : bands * block_rows;
    if (sparse_bytes({row, row + size}) <= most_bytes) {
      row += size;
      if (bands <= left / block_rows) bands *= 2;
    } else if (bands > 1) {
      bands /= 2;
    } else {
      block_rows = (block_rows + 1) / 2;
    }
  }
  return block_rows;
}

void Writer::read(Range rows) {
  const Region region{rows, {0, source_.cols()}};
  if (sparse_) {
    cells_.stored.clear();
    source_.entries(region, [&](const StoredCell& cell) { cells_.stored.push_back(cell); });
    return;
  }
  cells_.dense.resize(rows.size() * row_bytes_);
  if (source_.kind() == ObjectKind::matrix) {
    source_.read_packed(region, cells_.dense.data(), source_.threads());
    return;
  }
  std::vector<ColumnBuffer> columns;
  cells_.column_at.clear();
  std::size_t at = 0;
  for (const OutColumn& out : plan_) {
    const std::size_t step = out.by_row() ? out.cols.size() : 1;
    for (std::uint64_t col = out.cols.begin; col < out.cols.end; ++col) {
      const std::size_t size = size_of(types_[col]);
      columns.push_back({col, types_[col], cells_.dense.data() + at, step * size});
      cells_.column_at.push_back(at);
      at += out.by_row() ? size : rows.size() * size;
    }
    if (out.by_row()) at += (rows.size() - 1) * step * size_of(types_[out.cols.begin]);
  }
  source_.read_columns(rows, columns, source_.threads());
}

const std::byte* Writer::cells_at(std::uint64_t col, std::uint64_t row,
                                  std::uint64_t first_row) const {
  const std::size_t size = size_of(types_[col]);
  return cells_.dense.data() + cells_.column_at[col] + (row - first_row) * size;
}

void Writer::encode(Range rows, std::uint64_t first_row, std::size_t number, Block& block) const {
  const OutColumn& column = plan_[number];
  try {
    encode(column, rows, first_row, block);
  } catch (const Error& e) {
    if (e.code() != Errc::invalid_argument) throw;
    throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt,
                "column " + shown(column.toc.name) + ": " + e.detail(), "stored_numbers");
  }
}

void Writer::encode(const OutColumn& column, Range rows, std::uint64_t first_row,
                    Block& block) const {
  block.encoded.clear();
  block.missing_texts = false;
  if (source_.kind() == ObjectKind::matrix) {
    encode_matrix(rows, first_row, block);
  } else if (column.vector() && !column.by_row()) {
    encode_pairs(column, rows, first_row, block.encoded);
  } else if (column.vector()) {
    const std::size_t row_bytes = column.cols.size() * size_of(types_[column.cols.begin]);
    const std::byte* const cells = cells_.dense.data() + cells_.column_at[column.cols.begin];
    encode_vectors(column, cells + (rows.begin - first_row) * row_bytes, rows.size(),
                   block.encoded);
  } else if (column.described != nullptr || column.item().layout != Layout::number) {
    encode_described(column, rows, first_row, block);
  } else {
    const std::uint64_t col = column.cols.begin;
    block.raw = {cells_at(col, rows.begin, first_row), rows.size() * size_of(types_[col])};
    return;
  }
  block.raw = block.encoded;
}

void Writer::encode_vectors(const OutColumn& column, const std::byte* cells, std::uint64_t n,
                            std::vector<std::byte>& out) const {
  const ValueType type = column.cell_type(source_.schema().type_of(column.cols.begin));
  const std::size_t row_bytes = column.cols.size() * size_of(type);
  VectorEncoder encoder(column.item().layout, type, column.cols.size());
  for (std::uint64_t row = 0; row < n; ++row) encoder.add(cells + row * row_bytes);
  encoder.finish(out);
}

void Writer::encode_pairs(const OutColumn& column, Range rows, std::uint64_t first_row,
                          std::vector<std::byte>& out) const {
  const auto bits = [&](std::uint64_t col, std::uint64_t row) {
    return load_bits(types_[col], cells_at(col, row, first_row));
  };
  std::vector<Pair> items(column.toc.codec.size);
  VectorEncoder encoder(column.item().layout, ValueType::u64, items.size());
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    for (std::size_t slot = 0; slot < items.size(); ++slot) {
      const std::uint64_t col = column.cols.begin + slot;
      items[slot] = {bits(col, row), bits(col + items.size(), row)};
    }
    encoder.add(reinterpret_cast<const std::byte*>(items.data()));
  }
  encoder.finish(out);
}

void Writer::encode_matrix(Range rows, std::uint64_t first_row, Block& block) const {
  if (!sparse_) {
    encode_vectors(plan_[0], cells_.dense.data() + (rows.begin - first_row) * row_bytes_,
                   rows.size(), block.encoded);
    return;
  }
  VectorEncoder encoder(plan_[0].item().layout, source_.schema().value_type, source_.cols());
  auto cell = std::lower_bound(cells_.stored.begin(), cells_.stored.end(), rows.begin,
                               [](const StoredCell& c, std::uint64_t r) { return c.row < r; });
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const auto first = cell;
    while (cell != cells_.stored.end() && cell->row == row) ++cell;
    encoder.add(std::span(first, cell));
  }
  encoder.finish(block.encoded);
}

void Writer::fail_cell(const OutColumn& column, std::uint64_t row, const std::string& wrong) const {
  throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt,
              "row " + std::to_string(row) + " of column " + shown(column.toc.name) + wrong,
              "stored_numbers");
}

/// Words, times and truth values, and items of two parts.
void Writer::encode_described(const OutColumn& column, Range rows, std::uint64_t first_row,
                              Block& block) const {
  std::vector<std::byte>& out = block.encoded;
  const std::uint64_t n = rows.size(), col = column.cols.begin;
  const ValueType type = types_[col];
  const std::byte* const cells = cells_at(col, rows.begin, first_row);
  const auto bits = [&](std::uint64_t i) { return load_bits(type, cells + i * size_of(type)); };
  const Meaning meaning = column.described != nullptr ? column.described->meaning : Meaning();
  const auto ticks_at = [&](std::uint64_t i) {
    const auto ticks = column.scale.to_file(static_cast<std::int64_t>(bits(i)));
    if (is_missing(meaning, bits(i))) {
      fail_cell(column, rows.begin + i, " is missing, which no time of ML.NET is");
    }
    if (!ticks || (meaning.kind == MeaningKind::timestamp && (*ticks < 0 || *ticks > kMostTicks))) {
      fail_cell(column, rows.begin + i,
                " is no time of ML.NET, which has steps of 100 ns and the years 1 to 9999");
    }
    return *ticks;
  };
  switch (column.item().layout) {
    case Layout::text: {
      TextEncoder texts;
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t code = bits(i);
        if (is_missing(meaning, code)) {
          texts.add_missing();
          block.missing_texts = !column.own;
        } else if (code == kMissingCode || code > meaning.words->size()) {
          fail_cell(column, rows.begin + i, " has no word in the dictionary");
        } else {
          texts.add((*meaning.words)[code - 1]);
        }
      }
      return texts.finish(out);
    }
    case Layout::bits: {
      std::vector<std::byte> truths(n);
      for (std::uint64_t i = 0; i < n; ++i) {
        truths[i] = static_cast<std::byte>(std::min<std::uint64_t>(bits(i), kMissingBoolean));
      }
      return put_bits(out, truths);
    }
    case Layout::zoned:
    case Layout::wide: {
      const bool zoned = column.item().layout == Layout::zoned;
      const std::byte* const second =
          column.cols.size() > 1 ? cells_at(col + 1, rows.begin, first_row) : nullptr;
      std::vector<Pair> items(n);
      for (std::uint64_t i = 0; i < n; ++i) {
        items[i].first = zoned ? static_cast<std::uint64_t>(ticks_at(i)) : bits(i);
        if (second == nullptr) continue;
        items[i].second = load_bits(types_[col + 1], second + i * size_of(types_[col + 1]));
      }
      return put_pairs(out, column.item().layout, items);
    }
    case Layout::number:
    case Layout::bits2:
      for (std::uint64_t i = 0; i < n; ++i) append_le(out, ticks_at(i));
  }
}

void Writer::write(const Block& block, std::size_t column) {
  const std::span<const std::byte> bytes = deflate_ ? std::span(block.deflated) : block.raw;
  if (block.raw.size() > kMaxInt || bytes.size() > kMaxInt) {
    throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt,
                "a row is larger than 2147483647 bytes, the most that an ML.NET file holds");
  }
  if (block.missing_texts) missing_texts_[column] = true;
  places_[column].push_back({out_.appended(), bytes.size(), block.raw.size()});
  out_.append(bytes);
}

/// Lookup tables, table of contents, tail, and then the header.
void Writer::finish() {
  std::vector<std::byte> bytes;
  for (std::size_t c = 0; c < plan_.size(); ++c) {
    TocColumn& toc = plan_[c].toc;
    toc.lookup_offset = out_.appended();
    bytes.clear();
    for (const BlockPlace& place : places_[c]) put_place(bytes, place);
    out_.append(bytes);
    const auto metadata = put_metadata(plan_[c], deflate_ ? &deflaters_[0] : nullptr, out_);
    toc.metadata_offset = metadata.empty() ? 0 : out_.appended();
    out_.append(metadata);
  }
  Header header;
  header.rows = source_.rows();
  header.columns = static_cast<std::uint32_t>(plan_.size());
  header.toc_offset = out_.appended();
  bytes.clear();
  for (const OutColumn& column : plan_) put_toc_column(bytes, column.toc);
  out_.append(bytes);
  header.tail_offset = out_.appended();
  out_.append(tail_bytes());
  out_.write_at(0, header_bytes(header));
}

void Writer::note_missing(const TakeNote& note) const {
  std::vector<std::string_view> names;
  for (std::size_t c = 0; c < plan_.size(); ++c) {
    if (missing_texts_[c]) names.push_back(plan_[c].toc.name);
  }
  note_named("column", names, "ML.NET reads missing texts as empty ones", note);
}

}  // namespace

WriteSummary write_idv(const Source& source, const std::filesystem::path& path,
                       const ConvertOptions& options) {
  return Writer(source, path, options).run(options.write.sync, options.note);
}

}  // namespace dapple::detail::idv
