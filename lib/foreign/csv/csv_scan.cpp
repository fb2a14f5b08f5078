#include "lib/foreign/csv/csv_scan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/foreign/csv/csv_piece.h"
#include "lib/foreign/csv/csv_tiles.h"

namespace dapple::detail::csv {

namespace {

constexpr std::ptrdiff_t kPieceBytes = std::ptrdiff_t{1} << 20;  // that a thread scans at once

/// One pass over a text, piece by piece.
class TextScan {
 public:
  /// With a plan, cells go to `tiles`.
  TextScan(const ScanInput& input, const char* p, const Plan* plan = nullptr,
           Tiles* tiles = nullptr)
      : in_(input), first_(p), plan_(plan), tiles_(tiles), columns_(input, plan), next_(p) {
    rows_.seen.flags.assign(input.cols(), 0);
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

  /// False when the columns are not what the plan says.
  bool fits() const noexcept { return fits_; }

  /// What was found. Numbers that are words all the same are so from the first row on.
  Rows finish() {
    rows_.end = static_cast<std::uint64_t>(next_ - in_.base);
    rows_.whole = done_;
    rows_.meanings = columns_.finish();
    const std::vector<bool> words = columns_.words();
    for (const std::size_t c : padded()) take_for_words(c);
    // Of a matrix, which has no labels, all numbers may be in quotes. The first rows decide.
    if (!in_.columns.empty() && plan_ == nullptr) {
      for (const std::size_t c : columns_.quoted_numbers()) {
        if (!in_.given[c]) take_for_words(c);
      }
    }
    for (std::size_t c = 0; c < words.size(); ++c) {
      if (rows_.meanings[c] && !in_.wanted[c]) rows_.seen.flags[c] |= flag::other;
    }
    return std::move(rows_);
  }

 private:
  /// Columns of numbers with zeros in front, in a frame.
  std::vector<std::size_t> padded() const {
    bool frame = !in_.columns.empty();
    for (std::size_t c = 0; c < in_.cols(); ++c) frame = frame || !columns_.is_number(c);
    std::vector<std::size_t> found;
    for (std::size_t c = 0; frame && c < in_.cols(); ++c) {
      const bool padded = (rows_.seen.flags[c] & flag::padded) != 0;
      if (padded && columns_.is_number(c) && !in_.given[c]) found.push_back(c);
    }
    return found;
  }
  void take_for_words(std::size_t col) {
    fits_ = fits_ && plan_ == nullptr;
    rows_.meanings[col].emplace();
    rows_.meanings[col]->kind = MeaningKind::text;
    rows_.meanings[col]->words = std::make_shared<WordTable>();
  }

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
      columns_.clear_cells();
      scanner.scan(next_, limit(scanned_ + 1), PieceScanner::Faults::told, piece, columns_);
      take(piece, columns_);
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
    std::vector<Work> works(worker_limit(in_.threads), Work{PieceScanner(in_), {}});
    parallel_in_order(pieces() - 1, in_.threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
      PieceScanner& scanner = works[worker].scanner;
      Piece& piece = works[worker].piece;
      if (done_) return;  // or each piece of blank lines would look for the end of all of them
      const char* const end = limit(i + 2);
      const char* const begin = likely_row(limit(i + 1), end);
      Columns columns(in_, plan_);
      const bool sound = scans(scanner, begin, end, piece, columns);
      turn.take([&] {
        if (done_ || next_ >= end) return;
        if (!sound || piece.begin != next_ || !columns_.merge(columns)) {
          columns_.clear_cells();
          scanner.scan(next_, end, PieceScanner::Faults::told, piece, columns_);
          take(piece, columns_);
        } else {
          take(piece, columns);
        }
      });
    });
  }

  static bool scans(PieceScanner& scanner, const char* begin, const char* end, Piece& piece,
                    Columns& columns) {
    try {
      scanner.scan(begin, end, PieceScanner::Faults::unseen, piece, columns);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// The first start of a line in [begin, end), or `end`. REQUIRES begin after the first byte.
  static const char* likely_row(const char* begin, const char* end) {
    for (const char line_end : {'\n', '\r'}) {
      const void* const stop =
          std::memchr(begin - 1, line_end, static_cast<std::size_t>(end - begin));
      if (stop != nullptr) return static_cast<const char*>(stop) + 1;
    }
    return end;
  }

  /// Adds what was seen in a piece that starts where the previous one ended, and its cells.
  void take(Piece& piece, Columns& columns) {
    if (tiles_ != nullptr && fits_) fits_ = columns_.fits(*plan_);
    if (tiles_ != nullptr && fits_) tiles_->append(columns.cells(), piece.rows);
    if (!fits_) columns_.drop_cells();
    rows_.rows += piece.rows.size();
    rows_.seen.add(piece.seen);
    next_ = piece.end;
    done_ = piece.last || next_ == in_.end;
  }

  const ScanInput& in_;
  const char* const first_;
  const Plan* const plan_;
  Tiles* const tiles_;
  Columns columns_;
  Rows rows_;
  std::uint64_t scanned_ = 0;       // pieces
  const char* next_;                // the row that follows what was scanned
  std::atomic<bool> done_ = false;  // a worker may look before its turn
  bool fits_ = true;
};

}  // namespace

void Seen::add(Seen& later) {
  for (std::size_t c = 0; c < flags.size(); ++c) flags[c] |= later.flags[c];
  rounded.merge(later.rounded);
  marks.merge(later.marks);
  misfits.merge(later.misfits);
}

Rows see_rows(const ScanInput& input, const char* p, Extent extent) {
  TextScan scan(input, p);
  scan.scan_first_piece();
  if (extent == Extent::all) scan.scan_rest();
  return scan.finish();
}

Imported import_rows(const ScanInput& input, const char* p, const Plan& plan, Tiles& tiles) {
  TextScan scan(input, p, &plan, &tiles);
  scan.scan_first_piece();
  scan.scan_rest();
  if (scan.fits()) tiles.finish();
  Imported imported;
  imported.rows = scan.finish();
  imported.fits = scan.fits();
  return imported;
}

}  // namespace dapple::detail::csv
