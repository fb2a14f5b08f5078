#include "lib/foreign/mtx/mtx_entries.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "lib/foreign/mtx/mtx_lines.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::uint64_t kStripEntries = std::uint64_t{64} << 10;  // on average, while there are
constexpr std::uint64_t kMostStrips = 4096;                       // no more strips than this
constexpr std::size_t kBuffered = 1024;                           // records, for each strip

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

std::uint64_t sort_key(const Record& r) noexcept { return std::uint64_t{r.row} << 32 | r.col; }

bool before(const Record& a, const Record& b) noexcept { return sort_key(a) < sort_key(b); }

/// Sorts the records of a strip. Most files are sorted by column or by row, and then putting the
/// rows together in the order of the text is all it takes.
void sort_strip(std::vector<Record>& records, std::vector<Record>& spare, std::uint64_t rows) {
  if (std::is_sorted(records.begin(), records.end(), before)) return;
  if (rows > 4 * records.size()) {
    std::sort(records.begin(), records.end(), before);
    return;
  }
  std::vector<std::uint64_t> next(rows + 1, 0);
  for (const Record& r : records) ++next[r.row + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  spare.resize(records.size());
  for (const Record& r : records) spare[next[r.row]++] = r;
  records.swap(spare);
  for (auto first = records.begin(); first != records.end();) {
    auto end = first;
    while (end != records.end() && end->row == first->row) ++end;
    if (!std::is_sorted(first, end, before)) std::sort(first, end, before);
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
      text.fail(
          Errc::corrupt, lines.line(), "every cell once (R5)",
          "row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) + " again");
    }
  }
  throw Error(Errc::io, text.file, std::nullopt, "expected the file that was opened, got another");
}

/// Distributes records over the strips, a full buffer at a time.
class Scatter {
 public:
  Scatter(const Text& text, const Strips& strips)
      : text_(text),
        strips_(strips),
        out_(std::make_unique<Scratch>(strips.first.back() * sizeof(Record))),
        buffers_(strips.count()),
        next_(strips.first) {}

  void put(std::uint64_t row, std::uint64_t col, std::uint64_t bits) {
    const std::uint64_t strip = row >> strips_.shift;
    std::vector<Record>& buffer = buffers_[strip];
    if (buffer.capacity() == 0) buffer.reserve(kBuffered);
    const std::uint64_t first = strip << strips_.shift;
    buffer.push_back(
        {static_cast<std::uint32_t>(row - first), static_cast<std::uint32_t>(col), bits});
    if (buffer.size() == kBuffered) flush(strip);
  }

  std::unique_ptr<Scratch> finish() {
    for (std::uint64_t strip = 0; strip < buffers_.size(); ++strip) {
      flush(strip);
      if (next_[strip] != strips_.first[strip + 1]) fail_changed();
    }
    return std::move(out_);
  }

 private:
  void flush(std::uint64_t strip) {
    std::vector<Record>& buffer = buffers_[strip];
    if (buffer.size() > strips_.first[strip + 1] - next_[strip]) fail_changed();
    out_->write_at(next_[strip] * sizeof(Record), std::as_bytes(std::span(buffer)));
    next_[strip] += buffer.size();
    buffer.clear();
  }

  [[noreturn]] void fail_changed() const {
    throw Error(Errc::io, text_.file, std::nullopt,
                "expected the entries that were counted when the file was opened, got others");
  }

  const Text& text_;
  const Strips& strips_;
  std::unique_ptr<Scratch> out_;
  std::vector<std::vector<Record>> buffers_;
  std::vector<std::uint64_t> next_;  // record to write next, of each strip
};

}  // namespace

Strips count_entries(const Text& text, const Header& header) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (header.rows > kMost || header.cols > kMost) {
    throw Error(Errc::unsupported, text.file, std::nullopt,
                "expected at most 4294967295 rows and columns, got " + std::to_string(header.rows) +
                    " x " + std::to_string(header.cols));
  }
  Strips strips;
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(header.entries / kStripEntries, 1, kMostStrips);
  const std::uint64_t rows =
      std::bit_ceil(std::max<std::uint64_t>(1, ceil_div(header.rows, wanted)));
  strips.shift = static_cast<unsigned>(std::countr_zero(rows));
  strips.first.assign(ceil_div(header.rows, rows) + 1, 0);
  for (Lines lines(text, header); lines.next(); lines.skip_value()) {
    ++strips.first[(lines.row() >> strips.shift) + 1];
    if (lines.mirrored()) ++strips.first[(lines.col() >> strips.shift) + 1];
  }
  for (std::size_t i = 1; i < strips.first.size(); ++i) strips.first[i] += strips.first[i - 1];
  return strips;
}

std::unique_ptr<Scratch> sort_entries(const Text& text, const Header& header,
                                      const Strips& strips) {
  Scatter scatter(text, strips);
  for (Lines lines(text, header); lines.next();) {
    const std::uint64_t bits = lines.value();
    scatter.put(lines.row(), lines.col(), bits);
    if (!lines.mirrored()) continue;
    const bool skew = header.symmetry == Symmetry::skew;
    scatter.put(lines.col(), lines.row(), skew ? negated(header.value_type, bits) : bits);
  }
  std::unique_ptr<Scratch> sorted = scatter.finish();
  std::vector<Record> records, spare;
  for (std::uint64_t strip = 0; strip < strips.count(); ++strip) {
    const std::uint64_t first_row = strip << strips.shift;
    const std::uint64_t rows = std::min(std::uint64_t{1} << strips.shift, header.rows - first_row);
    const std::uint64_t at = strips.first[strip] * sizeof(Record);
    records.resize(strips.first[strip + 1] - strips.first[strip]);
    sorted->read_at(at, std::as_writable_bytes(std::span(records)));
    sort_strip(records, spare, rows);
    const auto twice = std::adjacent_find(
        records.begin(), records.end(),
        [](const Record& a, const Record& b) { return sort_key(a) == sort_key(b); });
    if (twice != records.end()) fail_twice(text, header, first_row + twice->row, twice->col);
    sorted->write_at(at, std::as_bytes(std::span(records)));
  }
  return sorted;
}

}  // namespace dapple::detail::mtx
