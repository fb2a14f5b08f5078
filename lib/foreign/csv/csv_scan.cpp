#include "lib/foreign/csv/csv_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/foreign/csv/csv_piece.h"

namespace dapple::detail::csv {

namespace {

constexpr std::ptrdiff_t kPieceBytes = std::ptrdiff_t{1} << 20;  // that a thread scans at once

constexpr std::uint64_t kStripBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kLongestStrip = 8 * kStripBytes;
// Rows may be far shorter than those of the first strip, and strips take memory.
constexpr std::uint64_t kShortestStrip = kStripBytes / 8;

/// One pass over a text, piece by piece.
class TextScan {
 public:
  /// `words` tells the columns in which words are to be expected.
  TextScan(const ScanInput& input, const char* p, std::uint64_t line,
           const std::vector<bool>& words)
      : in_(input), first_(p), first_line_(line), columns_(input, words), next_(p) {
    rows_.seen.assign(input.cols(), 0);
  }

  void scan_first_piece() { scan_in_order(1); }
  /// The others. REQUIRES that the first one was scanned.
  void scan_rest() {
    if (done_) return;
    if (worker_limit(in_.threads) == 1) {
      scan_in_order(pieces());
    } else {
      scan_in_parallel();
    }
  }

  const Columns& columns() const noexcept { return columns_; }

  /// The columns that are known to be of words by now, also those that were taken for numbers.
  std::vector<bool> words() const {
    std::vector<bool> found = columns_.words();
    bool frame = !in_.columns.empty();
    for (std::size_t c = 0; c < found.size(); ++c) frame = frame || !columns_.is_number(c);
    for (std::size_t c = 0; frame && c < found.size(); ++c) {
      const bool padded = (rows_.seen[c] & flag::padded) != 0;
      if (padded && columns_.is_number(c) && !in_.given[c]) found[c] = true;
    }
    return found;
  }
  /// True when the words of all these columns were collected.
  bool is_complete(const std::vector<bool>& words) const {
    return columns_.is_complete() && words == columns_.words();
  }

  Rows finish() {
    rows_.end = static_cast<std::uint64_t>(next_ - in_.base);
    rows_.fields = columns_.finish();
    for (std::size_t c = 0; c < rows_.seen.size(); ++c) {
      // Also of words that are all numbers, in quotes.
      const bool words = rows_.fields[c] != nullptr && !in_.wanted[c];
      if (words) rows_.seen[c] |= flag::other;
    }
    return std::move(rows_);
  }

 private:
  std::uint64_t pieces() const {
    return static_cast<std::uint64_t>((in_.end - first_ + kPieceBytes - 1) / kPieceBytes);
  }
  /// Rows that start before this belong to the first `n` pieces.
  const char* limit(std::uint64_t n) const {
    return n >= pieces() ? in_.end : first_ + static_cast<std::ptrdiff_t>(n) * kPieceBytes;
  }

  /// Scans up to the end of the first `n` pieces.
  void scan_in_order(std::uint64_t n) {
    PieceScanner scanner(in_);
    Piece piece;
    for (; scanned_ < n && !done_; ++scanned_) {
      scanner.scan(next_, limit(scanned_ + 1), next_line(), piece, columns_);
      take(piece);
    }
  }

  /// Scans the pieces after the first, each from what looks like the start of a line. Where that
  /// was inside of quotes, and where a piece has a fault, it is scanned once more when its turn
  /// comes: all before is known then.
  void scan_in_parallel() {
    struct Work {
      PieceScanner scanner;
      Piece piece;
    };
    const std::vector<bool> words = columns_.words();
    std::vector<Work> works(worker_limit(in_.threads), Work{PieceScanner(in_), {}});
    parallel_in_order(pieces() - 1, in_.threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
      PieceScanner& scanner = works[worker].scanner;
      Piece& piece = works[worker].piece;
      const char* const end = limit(i + 2);
      const char* const begin = likely_row(limit(i + 1), end);
      Columns columns(in_, words);
      const bool sound = scans(scanner, begin, end, piece, columns);
      turn.take([&] {
        if (done_ || next_ >= end) return;
        if (!sound || piece.begin != next_ || !columns_.merge(columns)) {
          scanner.scan(next_, end, next_line(), piece, columns_);
        }
        take(piece);
      });
    });
  }

  static bool scans(PieceScanner& scanner, const char* begin, const char* end, Piece& piece,
                    Columns& columns) {
    try {
      scanner.scan(begin, end, 0, piece, columns);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// The first start of a line in [begin, end), or `end`. REQUIRES begin after the first byte.
  static const char* likely_row(const char* begin, const char* end) {
    const void* const stop = std::memchr(begin - 1, '\n', static_cast<std::size_t>(end - begin));
    return stop != nullptr ? static_cast<const char*>(stop) + 1 : end;
  }

  std::uint64_t next_line() const noexcept { return first_line_ + rows_.rows; }

  /// Adds what was seen in a piece that starts where the previous one ended.
  void take(Piece& piece) {
    for (auto& [col, at] : piece.rounded) {
      at.line += next_line() - piece.first_line;
      rows_.rounded.emplace(col, std::move(at));
    }
    for (const std::uint64_t offset : piece.rows) add_row(offset);
    for (std::size_t c = 0; c < piece.seen.size(); ++c) rows_.seen[c] |= piece.seen[c];
    rows_.quoted_delimiters = rows_.quoted_delimiters || piece.quoted_delimiters;
    rows_.quoted_line_ends = rows_.quoted_line_ends || piece.quoted_line_ends;
    next_ = piece.end;
    done_ = piece.last || next_ == in_.end;
  }

  void add_row(std::uint64_t offset) {
    std::vector<Strip>& strips = rows_.strips;
    bool full = strips.empty();
    if (!full) {
      const std::uint64_t bytes = offset - strips.back().offset;
      const std::uint64_t rows = rows_.rows - strips.back().row;
      if (strip_rows_ == 0 && bytes >= kStripBytes) strip_rows_ = rows;
      full = strip_rows_ != 0 &&
             ((rows >= strip_rows_ && bytes >= kShortestStrip) || bytes >= kLongestStrip);
    }
    if (full) strips.push_back({rows_.rows, offset});
    ++rows_.rows;
  }

  const ScanInput& in_;
  const char* const first_;
  const std::uint64_t first_line_;
  Columns columns_;
  Rows rows_;
  std::uint64_t strip_rows_ = 0;  // of every strip; not known before the first is full
  std::uint64_t scanned_ = 0;     // pieces
  const char* next_;              // the row that follows what was scanned
  bool done_ = false;
};

}  // namespace

Rows scan_rows(const ScanInput& input, const char* p, std::uint64_t line) {
  // Each round knows of more columns that they are of words; mostly one is enough.
  for (std::vector<bool> words(input.cols());;) {
    TextScan scan(input, p, line, words);
    scan.scan_first_piece();
    std::vector<bool> found = scan.words();
    // A matrix, which has no labels, is one of numbers in quotes or without.
    if (!input.columns.empty()) {
      for (const std::size_t col : scan.columns().quoted_numbers()) {
        if (!input.given[col]) found[col] = true;
      }
    }
    if (scan.is_complete(found)) {
      scan.scan_rest();
      found = scan.words();
      if (scan.is_complete(found)) return scan.finish();
    }
    words = std::move(found);
  }
}

}  // namespace dapple::detail::csv
