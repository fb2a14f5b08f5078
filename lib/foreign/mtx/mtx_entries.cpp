#include "lib/foreign/mtx/mtx_entries.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/foreign/mtx/mtx_lines.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kStripEntries = std::uint64_t{32} << 10;  // on average, unless that
constexpr std::uint64_t kMostStrips = 4096;                       // takes more strips than this
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;     // that a thread parses at once
constexpr std::size_t kFewestBytes = 4;                           // of an entry: "1 1\n"

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

std::uint64_t sort_key(const Record& r) noexcept { return std::uint64_t{r.row} << 32 | r.col; }

/// The first record that does not come before the next one: a cell that is there twice once the
/// records are sorted.
auto find_not_ascending(const std::vector<Record>& records) {
  return std::adjacent_find(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return sort_key(a) >= sort_key(b);
  });
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
              [](const Record& a, const Record& b) { return sort_key(a) < sort_key(b); });
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

/// Throws corrupt for the second line that holds this cell.
[[noreturn]] void fail_twice(const Text& text, const Header& header, std::uint64_t row,
                             std::uint64_t col) {
  if (header.symmetry != Symmetry::general && col > row) std::swap(row, col);
  bool seen = false;
  for (Lines lines(text, header); lines.next(); lines.skip_value()) {
    if (lines.row() != row || lines.col() != col) continue;
    if (std::exchange(seen, true)) {
      text.fail(Errc::corrupt, lines.line(),
                "the cell in row " + std::to_string(row + 1) + ", column " +
                    std::to_string(col + 1) + " is there twice (R5)");
    }
  }
  throw Error(Errc::io, text.file, std::nullopt, "the file changed since it was opened");
}

enum class Values : std::uint8_t {
  none,      // are not looked at
  found,     // a wrong one makes its piece unsound
  required,  // a wrong one is an error
};

/// The entries of a piece of the text; rows count from the first of the matrix.
class Piece {
 public:
  /// Parses the lines that start in [begin, end), which may hold `most` entries. Throws corrupt,
  /// type_mismatch.
  void parse(const Text& text, const Header& header, Values values, const char* begin,
             const char* end, std::uint64_t most) {
    // An entry takes at least four characters, whatever the header says.
    records_.reset(static_cast<std::size_t>(end - begin) / kFewestBytes + 1);
    size_ = 0;
    sound_ = true;
    for (Lines lines(text, header, begin, end, most); lines.next(); ++size_) {
      Record& record = records_[size_];
      record = {static_cast<std::uint32_t>(lines.row()), static_cast<std::uint32_t>(lines.col()),
                0};
      if (values == Values::required) {
        record.bits = lines.value();
      } else if (values == Values::none || !sound_) {
        lines.skip_value();
      } else {
        sound_ = lines.find_value(record.bits);
      }
    }
  }

  std::span<const Record> records() const noexcept { return {records_.data(), size_}; }
  bool sound() const noexcept { return sound_; }

 private:
  Array<Record> records_;
  std::size_t size_ = 0;
  bool sound_ = true;
};

/// Parses the text with several threads, and calls take(piece) for its pieces in their order.
/// Throws the first error in the text.
template <class Take>
void parse(const Text& text, const Header& header, Values values, unsigned threads,
           const Take& take) {
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
          piece.parse(text, header, values, begin, end, std::numeric_limits<std::uint64_t>::max());
        } catch (const Error&) {
          right = false;
        }
        turn.take([&] {
          // Says what is wrong, now that it is known how many entries there were before.
          if (!right || piece.records().size() > left) {
            piece.parse(text, header, values, begin, end, left);
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
void put_records(const Header& header, const Strips& strips, std::span<const Record> entries,
                 const Put& put) {
  const auto put_one = [&](std::uint32_t row, std::uint32_t col, std::uint64_t bits) {
    const std::uint64_t strip = std::uint64_t{row} >> strips.shift;
    put(strip, Record{row - static_cast<std::uint32_t>(strip << strips.shift), col, bits});
  };
  const bool skew = header.symmetry == Symmetry::skew;
  for (const Record& entry : entries) {
    put_one(entry.row, entry.col, entry.bits);
    if (header.symmetry == Symmetry::general || entry.row == entry.col) continue;
    put_one(entry.col, entry.row, skew ? negated(header.value_type, entry.bits) : entry.bits);
  }
}

void sort_strips(const Text& text, const Header& header, const Strips& strips, unsigned threads,
                 StripRecords& all) {
  struct Memory {
    std::vector<Record> records, spare;
  };
  std::vector<Memory> memories(worker_limit(threads));
  parallel_for(strips.count(), threads, [&](std::uint64_t strip, unsigned worker) {
    auto& [records, spare] = memories[worker];
    const std::uint64_t first_row = strip << strips.shift;
    const std::uint64_t rows = std::min(std::uint64_t{1} << strips.shift, header.rows - first_row);
    all.read(strip, records);
    if (find_not_ascending(records) == records.end()) return;
    sort_strip(records, rows, spare);
    const auto twice = find_not_ascending(records);
    if (twice != records.end()) fail_twice(text, header, first_row + twice->row, twice->col);
    all.write(strip, records);
  });
}

/// How many strips there are, and of how many rows each is.
Strips cut_rows(const Text& text, const Header& header) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (header.rows > kMost || header.cols > kMost) {
    throw Error(Errc::unsupported, text.file, std::nullopt,
                "a matrix of " + std::to_string(header.rows) + " x " + std::to_string(header.cols) +
                    " is too large: at most 4294967295 rows and columns");
  }
  Strips strips;
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(header.entries / kStripEntries, 1, kMostStrips);
  const std::uint64_t rows =
      std::bit_ceil(std::max<std::uint64_t>(1, ceil_div(header.rows, wanted)));
  strips.shift = static_cast<unsigned>(std::countr_zero(rows));
  strips.entries.assign(ceil_div(header.rows, rows), 0);
  return strips;
}

}  // namespace

Entries read_entries(const Text& text, const Header& header, unsigned threads) {
  Entries all{cut_rows(text, header), nullptr};
  Strips& strips = all.strips;
  const auto bytes = static_cast<std::uint64_t>(text.end - text.base);
  const std::uint64_t each = header.symmetry == Symmetry::general ? 1 : 2;  // records, at most
  const Packing packing(header, strips.shift);
  if (header.entries <= StripRecords::most_in_memory(packing, strips.count()) / each &&
      header.entries <= bytes / kFewestBytes) {
    all.records =
        std::make_unique<StripRecords>(text, packing, strips.count(), each * header.entries);
  }
  const auto count_records = [&] {
    for (std::uint64_t strip = 0; strip < strips.count(); ++strip) {
      strips.entries[strip] = all.records->size(strip);
    }
  };
  const Values values = all.records != nullptr ? Values::found : Values::none;
  parse(text, header, values, threads, [&](const Piece& piece) {
    if (all.records != nullptr && !piece.sound()) {
      count_records();
      all.records.reset();
    }
    if (all.records != nullptr) {
      put_records(header, strips, piece.records(), [&](std::uint64_t strip, const Record& record) {
        all.records->put(strip, record);
      });
    } else {
      put_records(header, strips, piece.records(),
                  [&](std::uint64_t strip, const Record&) { ++strips.entries[strip]; });
    }
  });
  if (all.records == nullptr) return all;
  count_records();
  all.records->finish();
  sort_strips(text, header, strips, threads, *all.records);
  return all;
}

std::unique_ptr<StripRecords> sort_entries(const Text& text, const Header& header,
                                           const Strips& strips, unsigned threads) {
  const std::uint64_t most =
      std::accumulate(strips.entries.begin(), strips.entries.end(), std::uint64_t{0});
  auto out =
      std::make_unique<StripRecords>(text, Packing(header, strips.shift), strips.count(), most);
  parse(text, header, Values::required, threads, [&](const Piece& piece) {
    put_records(header, strips, piece.records(),
                [&](std::uint64_t strip, const Record& record) { out->put(strip, record); });
  });
  out->finish();
  for (std::uint64_t strip = 0; strip < strips.count(); ++strip) {
    if (out->size(strip) != strips.entries[strip]) fail_changed(text.file);
  }
  sort_strips(text, header, strips, threads, *out);
  return out;
}

}  // namespace dapple::detail::mtx
