#include "lib/dbdf/care/inspect.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "lib/base/bytes.h"
#include "lib/dbdf/care/values.h"
#include "lib/dbdf/care/whole_index.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/walk.h"
#include "lib/index/entry_summary.h"
#include "lib/index/overlap.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAnywhere = std::numeric_limits<std::uint64_t>::max();

// Removes the blocks for which `keep` returns false or throws; what it throws is a finding.
template <class Keep>
void filter(Inspection& out, Keep keep) {
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < out.sound.size(); ++i) {
    Entry e = out.sound[i];
    try {
      if (keep(e)) out.sound.set(kept++, e);
    } catch (const Error& error) {
      if (error.code() == Errc::io) throw;
      out.findings.push_back(error);
    }
  }
  while (out.sound.size() > kept) out.sound.pop_back();
}

// Padding has no hash, but consists of zeros. Anything else does no harm, but is a sign of damage.
void check_padding(const ByteSource& file, const Entry& e, std::vector<Error>& findings) {
  const std::uint64_t payload = e.offset + kDenseHeader;
  std::uint64_t at = payload;
  if (has_tag(file, e, kPaddingTag)) {
    const auto zeros = file.bytes(payload + kTag, e.bytes - kDenseHeader - kTag);
    const auto other =
        std::find_if(zeros.begin(), zeros.end(), [](std::byte b) { return b != std::byte{0}; });
    if (other == zeros.end()) return;
    at += kTag + static_cast<std::uint64_t>(other - zeros.begin());
  }
  findings.emplace_back(Errc::corrupt, file.name(), at, "padding is not a tag and zeros");
}

/// Reads the fields of the header of an item that may be cut off.
class CutFields {
 public:
  explicit CutFields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// The next field of that many bytes; if it is incomplete, the lowest value it may have had.
  std::uint64_t next(std::size_t size) {
    const std::size_t have = std::min(size, bytes_.size());
    std::uint64_t value = 0;
    full_ = have > 0;
    for (std::size_t i = 0; i < have; ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
      full_ = full_ && bytes_[i] == std::byte{0xFF};
    }
    bytes_ = bytes_.subspan(have);
    return value;
  }
  bool was_full() const { return full_; }  // all bits of the last field that are there are set
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool full_ = false;
};

/// One inspection of a body.
class Inspector {
 public:
  Inspector(const std::shared_ptr<ByteSource>& file, std::uint64_t body, const Schema& schema,
            Level level, const TakeProgress& progress)
      : file_(*file),
        body_(body),
        schema_(schema),
        level_(level),
        progress_(progress),
        index_(file, body) {}

  Inspection run() {
    const std::optional<Error> fault = walk();
    const std::uint64_t walked = out_.blocks;
    out_.had_index = index_.has_trailer() || saw_index_ || has_tag_of_trailer();
    out_.hashes_lost = out_.had_index && !index_.found();
    if (!index_.found()) {
      out_.lost = out_.blocks - out_.sound.size();
      if (fault) keep_front(*fault);
    } else if (fault || !index_.lists(out_.sound)) {
      out_.index_lies = !fault && index_.lies(out_.sound, schema_.rows, schema_.cols);
      walk_by_index();
      out_.blocks = out_.index_lies ? walked : index_.size();
    }
    if (index_.other_header()) out_.findings.push_back(header_error(file_));
    return std::move(out_);
  }

  /// Tells the progress of one of two passes.
  void tell(std::uint64_t pass, std::uint64_t byte) const {
    const std::uint64_t passes = level_ == Level::payload ? 2 : 1;
    if (progress_) progress_(pass * file_.size() + byte, passes * file_.size());
  }

 private:
  bool has_tag_of_trailer() const {
    const std::uint64_t n = out_.sound.size();
    const std::uint64_t end = n == 0 ? body_ : out_.sound[n - 1].offset + out_.sound[n - 1].bytes;
    return file_.size() - end >= kLine && ends_in_tag(file_);
  }

  /// Collects the blocks in file order, up to the first item that breaks R1 or R4: `end_` is where
  /// it starts.
  std::optional<Error> walk() {
    constexpr std::uint64_t kSample = 64, kBetweenTells = 1024;
    std::uint64_t items = 0;
    Walk walk(file_, body_, kAnywhere, kAnywhere);
    end_ = body_;
    try {
      for (Item item; walk.next(item);) {
        if (item.holds_cells()) see_block(item);
        if (out_.sound.size() == kSample) {  // growing would copy a table of millions
          out_.sound.reserve((file_.size() - body_) / ((walk.offset() - body_) / kSample) +
                             kSample);
        }
        see_auxiliary(item);
        after_no_cells_ = !item.holds_cells() && !item.auxiliary;
        end_ = walk.offset();
        if (++items % kBetweenTells == 0) tell(0, end_);
      }
    } catch (const Error& e) {
      if (e.code() != Errc::corrupt) throw;
      return e;
    }
    return std::nullopt;
  }

  void see_block(const Item& item) {
    ++out_.blocks;
    if (is_inside(item, schema_.rows, schema_.cols)) return out_.sound.push_back(item.entry);
    out_.findings.emplace_back(Errc::corrupt, file_.name(), end_,
                               outside(item, schema_.rows, schema_.cols));
  }

  /// Without an index nothing tells where blocks go on after damage. What precedes it is kept, but
  /// for the last block, whose length may be what is damaged, unless the file just ends early.
  void keep_front(const Error& fault) {
    const bool cut = may_be_cut(end_) && !after_no_cells_;
    const std::string rest = cut ? "" : "; without a sound index, nothing after it can be found";
    out_.cut = true;
    out_.findings.emplace_back(fault.code(), fault.file(), fault.offset(), fault.detail() + rest);
    see_cut_columns(end_);
    out_.lost += !is_auxiliary(end_);
    if (cut || out_.sound.size() == 0) return;
    const Entry last = out_.sound[out_.sound.size() - 1];
    if (last.offset + last.bytes < end_ && !after_no_cells_) return;  // an auxiliary item follows
    out_.findings.emplace_back(
        Errc::corrupt, file_.name(), last.offset - kPosition,
        "block " + text(last.pos) +
            " is the last one before the damage, which may be in its length");
    out_.sound.pop_back();
    ++out_.lost;
  }

  /// Takes the blocks that are where the index has them. After damage, the walk goes on at the next
  /// of them.
  void walk_by_index() {
    index_.arrange();
    if (out_.index_lies) index_.keep_only(out_.sound);
    out_.sound = EntryTable();
    out_.findings.clear();
    for (std::uint64_t at = body_; at < file_.size();) {
      Walk walk(file_, at, schema_.rows, schema_.cols);
      try {
        for (Item item; walk.next(item);) {
          take(item, at, walk.offset());
          at = walk.offset();
        }
      } catch (const Error& e) {
        if (e.code() != Errc::corrupt) throw;
        out_.findings.push_back(e);
        at = std::min(index_.next(at), file_.size());
      }
    }
    name_missing();
  }

  /// Takes the item in bytes [start, end). Throws corrupt when it cannot be one.
  void take(const Item& item, std::uint64_t start, std::uint64_t end) {
    const auto said = index_.find(start);
    if (said && !(item.holds_cells() && same_block(*said, item.entry))) {
      const bool forged = out_.index_lies && item.holds_cells() &&
                          xxh3(file_.bytes(start, end - start)) == said->hash;
      if (!forged) {
        fail(start,
             "the block header is not that of block " + text(said->pos) + ", as the index has it");
      }
    }
    if (const std::uint64_t next = index_.next(start); next < end) {
      fail(start, "the item ends at byte " + std::to_string(end) + ", but the next one starts at " +
                      std::to_string(next));
    }
    see_auxiliary(item);
    if (!item.holds_cells()) return;
    if (!said && !out_.index_lies) {
      fail(start, "the index does not name block " + text(item.entry.pos));
    }
    Entry e = item.entry;
    e.hash = said ? said->hash : 0;
    out_.sound.push_back(e);
  }

  /// Counts the blocks of the index that were not found, and names those in whose place nothing
  /// wrong was.
  void name_missing() {
    std::set<std::uint64_t> reported;
    for (const Error& error : out_.findings) reported.insert(error.offset().value_or(0));
    std::set<std::uint64_t> found;
    for (std::uint64_t i = 0; i < out_.sound.size(); ++i) {
      found.insert(out_.sound[i].offset - kPosition);
    }
    index_.for_each([&](const Entry& e) {
      const std::uint64_t start = e.offset - kPosition;
      if (found.contains(start)) return;
      ++out_.lost;
      const auto first = reported.lower_bound(start);
      if (first != reported.end() && *first - start < kPosition + e.bytes) return;
      out_.findings.emplace_back(Errc::corrupt, file_.name(), start,
                                 "block " + text(e.pos) + ", which the index names, is not there");
    });
  }

  /// Notes what the hints say of the object, and checks padding.
  void see_auxiliary(const Item& item) {
    if (!item.auxiliary) return;
    out_.hints.see(file_, item);
    saw_index_ |= has_tag(file_, item.entry, kIndexTag);
    if (level_ == Level::payload && index_.found() && !index_.is_hint(item.entry)) {
      check_padding(file_, item.entry, out_.findings);
    }
  }

  /// True when the item that starts here, which may be cut off, is padding, a hint or the index.
  bool is_auxiliary(std::uint64_t at) const {
    const auto bytes = file_.bytes(at, std::min<std::uint64_t>(kPosition, file_.size() - at));
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte b) { return b == std::byte{0xFF}; });
  }

  /// Notes column meanings of which the start is there. Their table has a hash of its own.
  void see_cut_columns(std::uint64_t start) {
    if (file_.size() - start < kPosition + kDenseHeader || !is_auxiliary(start)) return;
    Entry block;
    block.offset = start + kPosition;
    block.bytes = file_.size() - block.offset;
    if (has_tag(file_, block, kColumnsTag)) out_.hints.columns = block;
  }

  /// True when the bytes from `at` to the end of the file may be the start of an item that is cut
  /// off: an auxiliary one, or a block inside the object that is none of those that were found.
  bool may_be_cut(std::uint64_t at) const {
    CutFields fields(
        file_.bytes(at, std::min<std::uint64_t>(file_.size() - at, kPosition + kDenseHeader)));
    BlockPos pos;
    pos.rx = fields.next(sizeof pos.rx);
    const bool row_of_auxiliary = fields.was_full();
    if (!row_of_auxiliary && pos.rx >= schema_.rows) return false;
    if (fields.at_end()) return true;
    pos.cx = fields.next(sizeof pos.cx);
    const bool auxiliary = row_of_auxiliary && fields.was_full();
    if (!auxiliary && (pos.rx >= schema_.rows || pos.cx >= schema_.cols)) return false;
    if (fields.at_end()) return true;
    const std::uint64_t rows = fields.next(4), cols = fields.next(4);
    if (!auxiliary && (rows > schema_.rows - pos.rx || cols > schema_.cols - pos.cx || has(pos))) {
      return false;
    }
    if (fields.at_end()) return true;
    const std::uint64_t kind = fields.next(1);
    if (kind == kEncodedType) return !auxiliary;
    if (kind > 3 || (auxiliary && kind != 1)) return false;
    if (fields.at_end()) return kind != 0;
    return value_type_of_code(static_cast<std::uint8_t>(fields.next(1))).has_value();
  }

  bool has(BlockPos pos) const {
    for (std::uint64_t i = 0; i < out_.sound.size(); ++i) {
      if (out_.sound[i].pos == pos) return true;
    }
    return false;
  }

  [[noreturn]] void fail(std::uint64_t at, std::string detail) const {
    throw Error(Errc::corrupt, file_.name(), at, std::move(detail));
  }

  const ByteSource& file_;
  std::uint64_t body_;
  const Schema& schema_;
  Level level_;
  const TakeProgress& progress_;
  WholeIndex index_;
  Inspection out_;
  std::uint64_t end_ = 0;        // where the walk without the index ended
  bool after_no_cells_ = false;  // its last item was a block of no cells
  bool saw_index_ = false;
};

// Of two blocks that share a cell, drops the one that overlaps more blocks, or else the one without
// a matching hash, or else both.
void drop_overlaps(Inspection& out, const Schema& schema, const std::string& file) {
  out.order = order_by_position(out.sound);
  // Tiles share no cells. Looking for some would take further memory where many lie side by side.
  EntrySummary summary(schema.rows, schema.cols);
  for (std::uint64_t i = 0; i < out.sound.size(); ++i) summary.see(out.by_position(i));
  if (summary.grid()) return;
  const std::vector<Overlap> overlaps = find_overlaps(out.sound, out.order);
  if (overlaps.empty()) return;
  std::map<std::uint64_t, std::uint64_t> shared;  // overlaps of each entry
  for (const Overlap& overlap : overlaps) {
    ++shared[overlap.earlier];
    ++shared[overlap.later];
  }
  std::set<std::uint64_t> dropped;  // by offset
  const auto guilt = [&](std::uint64_t number) {
    return std::pair(shared[number], out.sound[number].hash == 0);
  };
  for (const Overlap& overlap : overlaps) {
    out.findings.push_back(overlap_error(out.sound, overlap, file));
    const auto earlier = guilt(overlap.earlier), later = guilt(overlap.later);
    if (earlier >= later) dropped.insert(out.sound[overlap.earlier].offset);
    if (later >= earlier) dropped.insert(out.sound[overlap.later].offset);
  }
  filter(out, [&](const Entry& e) { return dropped.count(e.offset) == 0; });
  out.order = order_by_position(out.sound);
}

}  // namespace

Inspection inspect(const std::shared_ptr<ByteSource>& file, std::uint64_t body,
                   const Schema& schema, Level level, const TakeProgress& progress) {
  Inspector inspector(file, body, schema, level, progress);
  Inspection out = inspector.run();
  const std::uint64_t found = out.sound.size();
  if (level == Level::payload) {
    const Store store(file, schema, {}, kDriver);
    file->expect_reads();
    filter(out, [&](const Entry& e) {
      kDriver.check_hash(store, e);
      read_all(store, e);
      inspector.tell(1, e.offset + e.bytes);
      return true;
    });
  }
  drop_overlaps(out, schema, file->name());
  out.lost += found - out.sound.size();
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const Error& a, const Error& b) {
    return a.offset().value_or(0) < b.offset().value_or(0);
  });
  return out;
}

std::optional<Error> absent_cells(const Inspection& found, const Schema& schema,
                                  const std::string& file) {
  const Area missing = cells_in_none(found.sound, schema.rows, schema.cols);
  if (missing == 0) return std::nullopt;
  const bool few = missing <= ~std::uint64_t{0};
  return Error(Errc::absent, file, std::nullopt,
               (few ? std::to_string(static_cast<std::uint64_t>(missing)) : "more than 2^64") +
                   " of the " + extents_text(schema.rows, schema.cols) +
                   " cells are in no block (R7)");
}

}  // namespace dapple::detail::dbdf
