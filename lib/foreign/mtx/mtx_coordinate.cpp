#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/foreign/mtx/mtx_lines.h"
#include "lib/foreign/mtx/mtx_records.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kStripEntries = std::uint64_t{64} << 10;  // on average, unless that
constexpr std::uint64_t kMostStrips = 4096;                       // takes more strips than this
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;     // that a thread parses at once
constexpr std::size_t kFewestBytes = 4;                           // of an entry: "1 1\n"

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

/// The first record that does not come before the next one: a cell that is there twice once the
/// records are sorted.
auto find_not_ascending(const std::vector<Record>& records) {
  return std::adjacent_find(records.begin(), records.end(),
                            [](const Record& a, const Record& b) { return a.key() >= b.key(); });
}

/// Deals records out to the places of their keys, which are below `keys`; equal ones stay in order.
template <class Key>
void deal_out(std::vector<Record>& records, std::vector<Record>& spare, std::uint64_t keys,
              const Key& key) {
  std::vector<std::uint64_t> next(keys + 1, 0);
  for (const Record& r : records) ++next[key(r) + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  spare.resize(records.size());
  for (const Record& r : records) spare[next[key(r)]++] = r;
  records.swap(spare);
}

/// Sorts the records of a strip of `rows` rows. Most files are sorted by column, if not by row, and
/// then dealing the records out to their rows is all it takes.
void sort_strip(std::vector<Record>& records, std::uint64_t rows, std::vector<Record>& spare) {
  constexpr unsigned kDigit = 10;  // bits of a column's number that are sorted by at once
  constexpr std::uint64_t kDigits = 1 << kDigit;
  if (std::max(rows, kDigits) > 4 * records.size()) {
    std::sort(records.begin(), records.end(),
              [](const Record& a, const Record& b) { return a.key() < b.key(); });
    return;
  }
  const auto by_col = [](const Record& a, const Record& b) { return a.col < b.col; };
  if (!std::is_sorted(records.begin(), records.end(), by_col)) {
    std::uint32_t cols = 0;
    for (const Record& r : records) cols |= r.col;
    for (unsigned shift = 0; std::uint64_t{cols} >> shift != 0; shift += kDigit) {
      deal_out(records, spare, kDigits,
               [shift](const Record& r) { return std::uint64_t{r.col} >> shift & (kDigits - 1); });
    }
  }
  deal_out(records, spare, rows, [](const Record& r) { return r.row; });
}

/// Throws unsupported for the second line that holds this cell: the format does not say what it
/// means.
[[noreturn]] void fail_twice(const Text& text, const Header& header, std::uint64_t row,
                             std::uint64_t col) {
  if (header.symmetry != Symmetry::general && col > row) std::swap(row, col);
  bool seen = false;
  for (Lines lines(text, header); lines.next(); lines.value()) {
    if (lines.row() != row || lines.col() != col) continue;
    if (std::exchange(seen, true)) {
      text.fail(Errc::unsupported, lines.line(),
                "the cell in row " + std::to_string(row + 1) + ", column " +
                    std::to_string(col + 1) +
                    " is there twice; add such lines up first, as SciPy's sum_duplicates() does");
    }
  }
  throw Error(Errc::io, text.file, std::nullopt, "the file changes while it is read");
}

/// The entries of a piece of the text; rows count from the first of the matrix.
class Piece {
 public:
  /// Parses the lines that start in [begin, end), which may hold `most` entries. Throws corrupt,
  /// type_mismatch.
  void parse(const Text& text, const Header& header, const char* begin, const char* end,
             std::uint64_t most) {
    // An entry takes at least four characters, whatever the header says.
    records_.reset(static_cast<std::size_t>(end - begin) / kFewestBytes + 1);
    size_ = 0;
    for (Lines lines(text, header, begin, end, most); lines.next(); ++size_) {
      records_[size_] = {static_cast<std::uint32_t>(lines.row()),
                         static_cast<std::uint32_t>(lines.col()), lines.value()};
    }
  }
  std::span<const Record> records() const noexcept { return {records_.data(), size_}; }

 private:
  Array<Record> records_;
  std::size_t size_ = 0;
};

/// Parses the text with several threads, and calls take(piece) for its pieces in their order.
/// Throws the first error in the text.
template <class Take>
void parse(const Text& text, const Header& header, unsigned threads, const Take& take) {
  const char* const data = text.base + header.data;
  const auto bytes = static_cast<std::uint64_t>(text.end - data);
  const auto bound = [&](std::uint64_t i) { return data + std::min(bytes, i * kPieceBytes); };
  std::vector<Piece> pieces(worker_limit(threads));
  std::uint64_t left = header.entries;
  parallel_in_order(
      ceil_div(bytes, kPieceBytes), threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
        Piece& piece = pieces[worker];
        const char* const end = bound(i + 1);
        const char* const begin = i == 0 ? data : next_line(bound(i) - 1, end);
        bool right = true;
        try {
          piece.parse(text, header, begin, end, std::numeric_limits<std::uint64_t>::max());
        } catch (const Error&) {
          right = false;
        }
        turn.take([&] {
          // Says what is wrong, now that it is known how many entries there were before.
          if (!right || piece.records().size() > left) {
            piece.parse(text, header, begin, end, left);
          }
          left -= piece.records().size();
          take(piece);
        });
      });
  if (left == 0) return;
  throw Error(Errc::corrupt, text.file, text.offset(text.end),
              "the file ends after " + std::to_string(header.entries - left) + " of " +
                  std::to_string(header.entries) + " entries");
}

/// Calls put(strip, record) for each entry, and for its mirror image where it has one.
template <class Put>
void put_records(const Header& header, unsigned shift, std::span<const Record> entries,
                 const Put& put) {
  const auto put_one = [&](std::uint32_t row, std::uint32_t col, std::uint64_t bits) {
    const std::uint64_t strip = std::uint64_t{row} >> shift;
    put(strip, Record{row - static_cast<std::uint32_t>(strip << shift), col, bits});
  };
  const bool skew = header.symmetry == Symmetry::skew;
  for (const Record& entry : entries) {
    put_one(entry.row, entry.col, entry.bits);
    if (header.symmetry == Symmetry::general || entry.row == entry.col) continue;
    put_one(entry.col, entry.row, skew ? negated(header.value_type, entry.bits) : entry.bits);
  }
}

/// Strips of 2^shift rows.
unsigned shift_of(const Text& text, const Header& header) {
  if (header.rows > kMostIndex || header.cols > kMostIndex) {
    throw Error(Errc::unsupported, text.file, std::nullopt,
                "a matrix of " + extents_text(header.rows, header.cols) +
                    " is too large: at most " + std::to_string(kMostIndex) + " rows and columns");
  }
  const std::uint64_t strips =
      std::clamp<std::uint64_t>(header.entries / kStripEntries, 1, kMostStrips);
  const std::uint64_t rows = std::max<std::uint64_t>(1, ceil_div(header.rows, strips));
  return std::min(31U, static_cast<unsigned>(std::bit_width(rows - 1)));
}

/// Sorts the strips and puts them, a band of rows each.
void put_strips(const Text& text, const Header& header, unsigned shift, const StripRecords& all,
                unsigned threads, BlockWriter& writer) {
  struct Memory {
    std::vector<Record> records, spare;
    dbdf::ListedRows rows;
  };
  std::vector<Memory> memories(worker_limit(threads));
  parallel_in_order(all.strips(), threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
    auto& [records, spare, rows] = memories[worker];
    const std::uint64_t first = i << shift;
    const std::uint64_t height = std::min(std::uint64_t{1} << shift, header.rows - first);
    all.read(i, records);
    if (find_not_ascending(records) != records.end()) {
      sort_strip(records, height, spare);
      const auto twice = find_not_ascending(records);
      if (twice != records.end()) fail_twice(text, header, first + twice->row, twice->col);
    }
    std::erase_if(records, [](const Record& record) { return record.bits == 0; });
    if (records.empty()) return;
    const TileShape shape{static_cast<std::uint32_t>(height),
                          static_cast<std::uint32_t>(header.cols)};
    writer.put({first, 0}, rows.list(records, header.value_type, shape), &turn);
  });
}

}  // namespace

void parse_coordinate(const Text& text, const Header& header, unsigned threads,
                      texts::Import& import) {
  const unsigned shift = shift_of(text, header);
  const std::uint64_t each = header.symmetry == Symmetry::general ? 1 : 2;  // records, at most
  const auto bytes = static_cast<std::uint64_t>(text.end - text.base);
  const std::uint64_t most = std::min(header.entries, bytes / kFewestBytes + 1);
  StripRecords records(Packing(header, shift), ceil_div(header.rows, std::uint64_t{1} << shift),
                       each * most);
  parse(text, header, threads, [&](const Piece& piece) {
    put_records(header, shift, piece.records(),
                [&](std::uint64_t strip, const Record& record) { records.put(strip, record); });
  });
  Schema schema;
  schema.rows = header.rows;
  schema.cols = header.cols;
  schema.value_type = header.value_type;
  schema.storage = Storage::csr;
  const std::uint64_t height = std::min(std::uint64_t{1} << shift, header.rows);
  BlockWriter& writer =
      import.start(schema, {static_cast<std::uint32_t>(std::max<std::uint64_t>(1, height)),
                            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, header.cols))});
  if (header.cols > 0) put_strips(text, header, shift, records, threads, writer);
  import.finish(std::move(schema), {});
}

}  // namespace dapple::detail::mtx
