#include "lib/foreign/mtx/mtx_entries.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/foreign/mtx/mtx_lines.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kStripEntries = std::uint64_t{64} << 10;  // on average, unless that
constexpr std::uint64_t kMostStrips = 4096;                       // takes more strips than this
constexpr std::size_t kBuffered = 1024;                           // records, for each strip

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

/// Distributes records over the strips; to a file a full buffer at a time.
class Scatter {
 public:
  Scatter(const Text& text, const Strips& strips)
      : text_(text),
        strips_(strips),
        out_(std::make_unique<Scratch>(strips.first.back() * sizeof(Record))),
        memory_(out_->memory()),
        buffers_(memory_ != nullptr ? 0 : strips.count() * kBuffered),
        held_(strips.count()),
        next_(strips.first) {}

  void put(std::uint64_t row, std::uint64_t col, std::uint64_t bits) {
    const std::uint64_t strip = row >> strips_.shift;
    const std::uint64_t first = strip << strips_.shift;
    const Record record{static_cast<std::uint32_t>(row - first), static_cast<std::uint32_t>(col),
                        bits};
    if (memory_ != nullptr) {
      if (next_[strip] == strips_.first[strip + 1]) fail_changed();
      std::memcpy(memory_ + next_[strip]++ * sizeof record, &record, sizeof record);
      return;
    }
    buffers_[strip * kBuffered + held_[strip]] = record;
    if (++held_[strip] == kBuffered) flush(strip);
  }

  std::unique_ptr<Scratch> finish() {
    for (std::uint64_t strip = 0; strip < strips_.count(); ++strip) {
      flush(strip);
      if (next_[strip] != strips_.first[strip + 1]) fail_changed();
    }
    return std::move(out_);
  }

 private:
  void flush(std::uint64_t strip) {
    const std::span held(&buffers_[strip * kBuffered], std::exchange(held_[strip], 0));
    if (held.size() > strips_.first[strip + 1] - next_[strip]) fail_changed();
    out_->write_at(next_[strip] * sizeof(Record), std::as_bytes(held));
    next_[strip] += held.size();
  }

  [[noreturn]] void fail_changed() const {
    throw Error(Errc::io, text_.file, std::nullopt,
                "the file changed since it was opened: it has other entries now");
  }

  const Text& text_;
  const Strips& strips_;
  std::unique_ptr<Scratch> out_;
  std::byte* memory_;                // of out_, if it has some; otherwise:
  Array<Record> buffers_;            // kBuffered for each strip,
  std::vector<std::uint32_t> held_;  // and how many of them are in use
  std::vector<std::uint64_t> next_;  // record to write next, of each strip
};

}  // namespace

Strips count_entries(const Text& text, const Header& header, Array<Record>& parsed) {
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
  // An entry takes at least four characters: what the header says is not believed beyond that.
  constexpr std::uint64_t kMostParsed = (std::uint64_t{256} << 20) / sizeof(Record);
  bool parses = header.entries <= kMostParsed &&
                header.entries <= static_cast<std::uint64_t>(text.end - text.base) / 4;
  if (parses) parsed.reset(header.entries);
  Record* record = parsed.data();
  for (Lines lines(text, header); lines.next();) {
    ++strips.first[(lines.row() >> strips.shift) + 1];
    if (lines.mirrored()) ++strips.first[(lines.col() >> strips.shift) + 1];
    if (parses) {
      parses = lines.find_value(record->bits);
      record->row = static_cast<std::uint32_t>(lines.row());
      record->col = static_cast<std::uint32_t>(lines.col());
      ++record;
    } else {
      lines.skip_value();
    }
  }
  if (!parses) parsed = {};
  for (std::size_t i = 1; i < strips.first.size(); ++i) strips.first[i] += strips.first[i - 1];
  return strips;
}

std::unique_ptr<Scratch> sort_entries(const Text& text, const Header& header, const Strips& strips,
                                      const Array<Record>& parsed) {
  Scatter scatter(text, strips);
  const auto put = [&](std::uint64_t row, std::uint64_t col, std::uint64_t bits) {
    scatter.put(row, col, bits);
    if (header.symmetry == Symmetry::general || row == col) return;
    const bool skew = header.symmetry == Symmetry::skew;
    scatter.put(col, row, skew ? negated(header.value_type, bits) : bits);
  };
  if (parsed.empty()) {
    for (Lines lines(text, header); lines.next();) {
      const std::uint64_t bits = lines.value();
      put(lines.row(), lines.col(), bits);
    }
  } else {
    for (const Record& entry : parsed) put(entry.row, entry.col, entry.bits);
  }
  std::unique_ptr<Scratch> out = scatter.finish();
  std::vector<Record> records, sorted;
  for (std::uint64_t strip = 0; strip < strips.count(); ++strip) {
    const std::uint64_t first_row = strip << strips.shift;
    const std::uint64_t rows = std::min(std::uint64_t{1} << strips.shift, header.rows - first_row);
    const std::uint64_t at = strips.first[strip] * sizeof(Record);
    records.resize(strips.first[strip + 1] - strips.first[strip]);
    out->read_at(at, std::as_writable_bytes(std::span(records)));
    if (find_not_ascending(records) == records.end()) continue;
    sort_strip(records, rows, sorted);
    const auto twice = find_not_ascending(sorted);
    if (twice != sorted.end()) fail_twice(text, header, first_row + twice->row, twice->col);
    out->write_at(at, std::as_bytes(std::span(sorted)));
  }
  return out;
}

}  // namespace dapple::detail::mtx
