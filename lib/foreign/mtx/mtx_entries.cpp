#include "lib/foreign/mtx/mtx_entries.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/foreign/mtx/mtx_lines.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kStripEntries = std::uint64_t{64} << 10;  // on average, unless that
constexpr std::uint64_t kMostStrips = 4096;                       // takes more strips than this
constexpr std::size_t kBuffered = 1024;                           // records, for each strip
constexpr std::uint64_t kMostParsed = (std::uint64_t{256} << 20) / sizeof(Record);
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;  // that a thread parses at once
constexpr std::size_t kFewestBytes = 4;                        // of an entry: "1 1\n"

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

std::uint64_t sort_key(const Record& r) noexcept { return std::uint64_t{r.row} << 32 | r.col; }

bool before(const Record& a, const Record& b) noexcept { return sort_key(a) < sort_key(b); }

/// The first record that does not come before the next one: a cell that is there twice once the
/// records are sorted.
template <class Records>
auto find_not_ascending(const Records& records) {
  return std::adjacent_find(records.begin(), records.end(),
                            [](const Record& a, const Record& b) { return !before(a, b); });
}

/// Puts the records of a strip of `rows` rows into `sorted`, sorted. Most files are sorted by
/// column, if not by row, and then dealing the records out to their rows is all it takes.
void sort_strip(std::span<const Record> records, std::uint64_t rows, std::vector<Record>& sorted) {
  if (rows > 4 * records.size()) {
    sorted.assign(records.begin(), records.end());
    std::sort(sorted.begin(), sorted.end(), before);
    return;
  }
  std::vector<std::uint64_t> next(rows + 1, 0);
  for (const Record& r : records) ++next[r.row + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  sorted.resize(records.size());
  for (const Record& r : records) sorted[next[r.row]++] = r;
  if (find_not_ascending(sorted) == sorted.end()) return;
  for (auto first = sorted.begin(); first != sorted.end();) {
    auto end = first;
    while (end != sorted.end() && end->row == first->row) ++end;
    std::sort(first, end, before);
    first = end;
  }
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

[[noreturn]] void fail_changed(const Text& text) {
  throw Error(Errc::io, text.file, std::nullopt,
              "the file changed since it was opened: it has other entries now");
}

/// Calls `put` with the entry, and with its mirror image where it has one.
template <class Put>
void put_mirrored(const Header& header, const Record& entry, const Put& put) {
  put(entry);
  if (header.symmetry == Symmetry::general || entry.row == entry.col) return;
  const bool skew = header.symmetry == Symmetry::skew;
  put(Record{entry.col, entry.row, skew ? negated(header.value_type, entry.bits) : entry.bits});
}

/// Distributes records over the strips of a file, a full buffer at a time.
class Scatter {
 public:
  Scatter(const Text& text, const Strips& strips, Scratch& out)
      : text_(text),
        strips_(strips),
        out_(out),
        buffers_(strips.count() * kBuffered),
        held_(strips.count()),
        next_(strips.first) {}

  void put(const Record& record) {
    const std::uint64_t strip = std::uint64_t{record.row} >> strips_.shift;
    Record& to = buffers_[strip * kBuffered + held_[strip]];
    to = record;
    to.row -= static_cast<std::uint32_t>(strip << strips_.shift);
    if (++held_[strip] == kBuffered) flush(strip);
  }

  void finish() {
    for (std::uint64_t strip = 0; strip < strips_.count(); ++strip) {
      flush(strip);
      if (next_[strip] != strips_.first[strip + 1]) fail_changed(text_);
    }
  }

 private:
  void flush(std::uint64_t strip) {
    const std::span held(&buffers_[strip * kBuffered], std::exchange(held_[strip], 0));
    if (held.size() > strips_.first[strip + 1] - next_[strip]) fail_changed(text_);
    out_.write_at(next_[strip] * sizeof(Record), std::as_bytes(held));
    next_[strip] += held.size();
  }

  const Text& text_;
  const Strips& strips_;
  Scratch& out_;
  Array<Record> buffers_;            // kBuffered for each strip,
  std::vector<std::uint32_t> held_;  // and how many of them are in use
  std::vector<std::uint64_t> next_;  // record to write next, of each strip
};

void sort_strips(const Text& text, const Header& header, const Strips& strips, unsigned threads,
                 Scratch& out) {
  struct Memory {
    std::vector<Record> records, sorted;
  };
  std::vector<Memory> memories(worker_limit(threads));
  parallel_for(strips.count(), threads, [&](std::uint64_t strip, unsigned worker) {
    auto& [records, sorted] = memories[worker];
    const std::uint64_t first_row = strip << strips.shift;
    const std::uint64_t rows = std::min(std::uint64_t{1} << strips.shift, header.rows - first_row);
    const std::uint64_t at = strips.first[strip] * sizeof(Record);
    records.resize(strips.first[strip + 1] - strips.first[strip]);
    out.read_at(at, std::as_writable_bytes(std::span(records)));
    if (find_not_ascending(records) == records.end()) return;
    sort_strip(records, rows, sorted);
    const auto twice = find_not_ascending(sorted);
    if (twice != sorted.end()) fail_twice(text, header, first_row + twice->row, twice->col);
    out.write_at(at, std::as_bytes(std::span(sorted)));
  });
}

/// Entries as the text has them, and how many there are in each strip: of the whole text, and of
/// each of the parts that threads deal out to the strips.
struct InMemory {
  Array<Record> records;
  std::vector<std::uint64_t> begin;                // of each part; then of all
  std::vector<std::vector<std::uint64_t>> counts;  // strips of each part
};

std::unique_ptr<Scratch> deal_out(const Header& header, const Strips& strips, unsigned threads,
                                  InMemory& from) {
  auto out = std::make_unique<Scratch>(strips.first.back() * sizeof(Record));
  std::byte* const memory = out->memory();
  std::vector<std::uint64_t> next = strips.first;
  for (std::vector<std::uint64_t>& counts : from.counts) {
    for (std::uint64_t strip = 0; strip < strips.count(); ++strip) {
      next[strip] += std::exchange(counts[strip], next[strip]);
    }
  }
  parallel_for(from.counts.size(), threads, [&](std::uint64_t part) {
    std::vector<std::uint64_t>& to = from.counts[part];
    const auto put = [&](Record record) {
      const std::uint64_t strip = std::uint64_t{record.row} >> strips.shift;
      record.row -= static_cast<std::uint32_t>(strip << strips.shift);
      std::memcpy(memory + to[strip]++ * sizeof record, &record, sizeof record);
    };
    for (std::uint64_t i = from.begin[part]; i < from.begin[part + 1]; ++i) {
      put_mirrored(header, from.records[i], put);
    }
  });
  return out;
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
  strips.first.assign(ceil_div(header.rows, rows) + 1, 0);
  return strips;
}

}  // namespace

Entries read_entries(const Text& text, const Header& header, unsigned threads) {
  Entries entries{cut_rows(text, header), nullptr};
  std::vector<std::uint64_t>& first = entries.strips.first;
  const auto bytes = static_cast<std::uint64_t>(text.end - text.base);
  bool parses = header.entries <= kMostParsed && header.entries <= bytes / kFewestBytes;
  InMemory memory;
  memory.begin.assign(1, 0);
  if (parses) memory.records.reset(header.entries);
  // Parts of about one size: one for each thread.
  const std::uint64_t parts = worker_limit(threads), part_size = header.entries / parts + 1;
  const auto start_part = [&](std::uint64_t at) {
    memory.begin.push_back(at);
    memory.counts.emplace_back(entries.strips.count());
  };
  start_part(0);
  const Values values = parses ? Values::found : Values::none;
  parse(text, header, values, threads, [&](const Piece& piece) {
    const std::span<const Record> records = piece.records();
    parses = parses && piece.sound();
    std::uint64_t& end = memory.begin.back();
    if (parses && !records.empty()) {
      std::memcpy(memory.records.data() + end, records.data(), records.size_bytes());
    }
    std::vector<std::uint64_t>& counts = memory.counts.back();
    for (const Record& record : records) {
      put_mirrored(header, record, [&](const Record& r) {
        ++counts[std::uint64_t{r.row} >> entries.strips.shift];
      });
    }
    end += records.size();
    if (end - memory.begin[memory.begin.size() - 2] >= part_size) start_part(end);
  });
  for (const std::vector<std::uint64_t>& counts : memory.counts) {
    for (std::uint64_t strip = 0; strip < counts.size(); ++strip) first[strip + 1] += counts[strip];
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  if (!parses || first.back() > kMostParsed) return entries;
  entries.records = deal_out(header, entries.strips, threads, memory);
  memory = {};
  sort_strips(text, header, entries.strips, threads, *entries.records);
  return entries;
}

std::unique_ptr<Scratch> sort_entries(const Text& text, const Header& header, const Strips& strips,
                                      unsigned threads) {
  auto out = std::make_unique<Scratch>(strips.first.back() * sizeof(Record));
  Scatter scatter(text, strips, *out);
  parse(text, header, Values::required, threads, [&](const Piece& piece) {
    for (const Record& record : piece.records()) {
      put_mirrored(header, record, [&](const Record& r) { scatter.put(r); });
    }
  });
  scatter.finish();
  sort_strips(text, header, strips, threads, *out);
  return out;
}

}  // namespace dapple::detail::mtx
