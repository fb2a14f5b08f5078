#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/base/utf8.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_deflate.h"
#include "lib/foreign/idv/idv_encode.h"
#include "lib/foreign/idv/idv_lookup.h"
#include "lib/foreign/idv/idv_primitives.h"

namespace dapple::detail::idv {
namespace {

constexpr std::uint64_t kMostBlockRows = 8192;  // as ML.NET writes them
constexpr std::uint64_t kBandBytes = std::uint64_t{16} << 20;

/// Below this part of cells that are not zero, a matrix is read entry by entry.
constexpr double kSparse = 1.0 / 16;

constexpr std::string_view kMatrixColumn = "Features";

std::vector<TocColumn> columns_of(const Source& source, const ConvertOptions& options) {
  TocColumn column;
  column.compression = options.idv.deflate ? Compression::deflate : Compression::none;
  std::vector<TocColumn> toc;
  const Schema& schema = source.schema();
  const auto fail = [&](const std::string& detail) {
    throw Error(Errc::unsupported, source.store().file().name(), std::nullopt, detail);
  };
  if (schema.kind == ObjectKind::matrix) {
    if (schema.cols < 1 || schema.cols > kMaxInt) {
      fail("a matrix of " + std::to_string(schema.cols) +
           " columns makes no vector of ML.NET, which has 1 to 2147483647 slots");
    }
    column.name = kMatrixColumn;
    column.codec.item = &number_item(schema.value_type);
    column.codec.vector = true;
    column.codec.size = schema.cols;
    toc.push_back(std::move(column));
    return toc;
  }
  for (const Column& c : schema.columns) {
    if (c.label.empty()) {  // the format could hold it; ML.NET refuses the file
      fail("column " + std::to_string(toc.size()) +
           " has no label, which ML.NET needs for every column");
    }
    if (!is_utf8(c.label)) {
      fail("the label of column " + std::to_string(toc.size()) +
           " is not UTF-8, as labels in an ML.NET file must be");
    }
    column.name = c.label;
    column.codec.item = &number_item(c.value_type);
    toc.push_back(column);
  }
  if (toc.size() > kMaxInt) fail("an ML.NET file has at most 2147483647 columns");
  return toc;
}

/// One block on its way to the file.
struct Block {
  std::span<const std::byte> raw;
  std::vector<std::byte> encoded;  // where the raw bytes are of our own making
  std::vector<std::byte> deflated;
};

/// Cells of some bands of rows, as the blocks want them.
struct Cells {
  std::vector<std::byte> dense;        // a matrix row by row, or column by column
  std::vector<std::size_t> column_at;  // of a frame: where each column starts
  std::vector<StoredCell> stored;      // of a sparse matrix, ascending
};

class Writer {
 public:
  Writer(const Source& source, const std::filesystem::path& path, const ConvertOptions& options)
      : source_(source),
        toc_(columns_of(source, options)),
        deflate_(options.idv.deflate),
        sparse_(is_sparse(source)),
        deflaters_(worker_limit(source.threads())),
        places_(toc_.size()),
        out_(path, options.write.overwrite) {}

  WriteSummary run(bool sync);

 private:
  static bool is_sparse(const Source& source);
  std::uint64_t choose_block_rows() const;
  double sparse_bytes(Range rows) const;
  void read(Range rows);
  void encode(Range rows, std::uint64_t first_row, std::size_t column, Block& block) const;
  void encode_vectors(Range rows, std::uint64_t first_row, Block& block) const;
  void write(const Block& block, std::size_t column);
  void finish();

  const Source& source_;
  std::vector<TocColumn> toc_;
  bool deflate_;
  bool sparse_;
  Cells cells_;
  std::vector<Block> blocks_;
  std::vector<Deflater> deflaters_;              // one per worker
  std::vector<std::vector<BlockPlace>> places_;  // of each column
  OutputFile out_;
};

WriteSummary Writer::run(bool sync) {
  out_.append(std::vector<std::byte>(kHeaderBytes));  // its fields are known last
  const std::uint64_t block_rows = choose_block_rows();
  for (TocColumn& column : toc_) column.block_rows = block_rows;
  // As many bands at once as give every worker a block.
  const std::uint64_t bands =
      toc_.empty() ? 1 : std::max<std::uint64_t>(1, deflaters_.size() / toc_.size());
  source_.progress(0);
  for (std::uint64_t row = 0; row < source_.rows() && !toc_.empty();) {
    const Range rows{row, row + std::min(block_rows * bands, source_.rows() - row)};
    read(rows);
    blocks_.resize(block_count(rows.size(), block_rows) * toc_.size());
    parallel_for(blocks_.size(), source_.threads(), [&](std::uint64_t i, unsigned worker) {
      const std::uint64_t begin = rows.begin + i / toc_.size() * block_rows;
      const Range band{begin, std::min(begin + block_rows, rows.end)};
      encode(band, rows.begin, i % toc_.size(), blocks_[i]);
      if (deflate_) deflaters_[worker].deflate(blocks_[i].raw, blocks_[i].deflated);
    });
    for (std::size_t i = 0; i < blocks_.size(); ++i) write(blocks_[i], i % toc_.size());
    row = rows.end;
    source_.progress(row);
  }
  finish();
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
  if (source_.rows() == 0 || toc_.empty()) return 1;
  const std::uint64_t most = std::min(kMostBlockRows, source_.rows());
  if (!sparse_) return std::clamp<std::uint64_t>(kBandBytes / source_.packed_row(), 1, most);
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
  cells_.dense.resize(rows.size() * source_.packed_row());
  if (source_.kind() == ObjectKind::matrix) {
    source_.read_packed(region, cells_.dense.data(), source_.threads());
    return;
  }
  std::vector<ColumnBuffer> columns;
  cells_.column_at.clear();
  std::size_t at = 0;
  for (std::uint64_t col = 0; col < source_.cols(); ++col) {
    const ValueType type = source_.schema().type_of(col);
    columns.push_back({col, type, cells_.dense.data() + at, size_of(type)});
    cells_.column_at.push_back(at);
    at += rows.size() * size_of(type);
  }
  source_.read_columns(rows, columns, source_.threads());
}

void Writer::encode(Range rows, std::uint64_t first_row, std::size_t column, Block& block) const {
  if (source_.kind() == ObjectKind::matrix) {
    encode_vectors(rows, first_row, block);
  } else {
    const std::size_t size = size_of(source_.schema().type_of(column));
    block.raw = std::span(cells_.dense)
                    .subspan(cells_.column_at[column] + (rows.begin - first_row) * size,
                             rows.size() * size);
  }
}

void Writer::encode_vectors(Range rows, std::uint64_t first_row, Block& block) const {
  VectorEncoder encoder(source_.schema().value_type, source_.cols());
  if (sparse_) {
    auto cell = std::lower_bound(cells_.stored.begin(), cells_.stored.end(), rows.begin,
                                 [](const StoredCell& c, std::uint64_t r) { return c.row < r; });
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      const auto first = cell;
      while (cell != cells_.stored.end() && cell->row == row) ++cell;
      encoder.add(std::span(first, cell));
    }
  } else {
    const std::size_t row_bytes = source_.packed_row();
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      encoder.add(cells_.dense.data() + (row - first_row) * row_bytes);
    }
  }
  block.encoded.clear();
  encoder.finish(block.encoded);
  block.raw = block.encoded;
}

void Writer::write(const Block& block, std::size_t column) {
  const std::span<const std::byte> bytes = deflate_ ? std::span(block.deflated) : block.raw;
  if (block.raw.size() > kMaxInt || bytes.size() > kMaxInt) {
    throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt,
                "a row is larger than 2147483647 bytes, the most that an ML.NET file holds");
  }
  places_[column].push_back({out_.appended(), bytes.size(), block.raw.size()});
  out_.append(bytes);
}

/// Lookup tables, table of contents, tail, and then the header.
void Writer::finish() {
  std::vector<std::byte> bytes;
  for (std::size_t c = 0; c < toc_.size(); ++c) {
    toc_[c].lookup_offset = out_.appended();
    bytes.clear();
    for (const BlockPlace& place : places_[c]) put_place(bytes, place);
    out_.append(bytes);
  }
  Header header;
  header.rows = source_.rows();
  header.columns = static_cast<std::uint32_t>(toc_.size());
  header.toc_offset = out_.appended();
  bytes.clear();
  for (const TocColumn& column : toc_) put_toc_column(bytes, column);
  out_.append(bytes);
  header.tail_offset = out_.appended();
  out_.append(tail_bytes());
  out_.write_at(0, header_bytes(header));
}

}  // namespace

WriteSummary write_idv(const Source& source, const std::filesystem::path& path,
                       const ConvertOptions& options) {
  return Writer(source, path, options).run(options.write.sync);
}

}  // namespace dapple::detail::idv
