#include "lib/dbdf/care/inspect.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "lib/dbdf/attributes.h"
#include "lib/dbdf/care/evidence.h"
#include "lib/dbdf/care/known_items.h"
#include "lib/dbdf/care/resync.h"
#include "lib/dbdf/care/values.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/index_traces.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/walk.h"
#include "lib/index/entry_summary.h"
#include "lib/index/overlap.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAnywhere = std::numeric_limits<std::uint64_t>::max();

std::string wrong_hash(BlockPos pos) {
  return "the bytes of block " + text(pos) + " do not match their hash in the index";
}

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

// Notes a block of column meanings or attributes.
void see_hints(const ByteSource& file, const Item& item, Inspection& out) {
  if (!item.auxiliary) return;
  if (may_be_hint(file, item.entry, kColumnsTag)) out.columns = item.entry;
  if (may_be_hint(file, item.entry, kAttributesTag)) out.attributes = item.entry;
}

// A walk over a body that is damaged, or does not agree with its index.
class Inspector {
 public:
  Inspector(const ByteSource& file, std::uint64_t body, const Schema& schema, Level level,
            const KnownItems& known)
      : file_(file),
        body_(body),
        schema_(schema),
        level_(level),
        known_(known),
        resync_(file, schema) {}

  // Collects every block whose header is sound (R1, R2, R4) in file order.
  void walk(Inspection& out) {
    std::uint64_t at = body_;
    while (at < file_.size()) {
      Walk walk(file_, at, kAnywhere, kAnywhere);
      try {
        for (Item item; walk.next(item);) {
          take(item, at, walk.offset(), out);
          at = walk.offset();
        }
      } catch (const Error& e) {
        if (e.code() != Errc::corrupt) throw;
        out.findings.push_back(e);
        faults_.push_back(at);
        see_cut_columns(at, out);
        at = next_after(at, out);
        out.cut = at == file_.size();
      }
    }
    for (std::uint64_t i = 0; i < out.sound.size(); ++i) starts_.push_back(out.sound[i].offset);
    if (known_.payload()) {
      for (std::uint64_t i = 0; i < out.sound.size(); ++i) positions_.push_back(out.sound[i].pos);
      std::sort(positions_.begin(), positions_.end());
    }
    if (!known_.complete() && !known_.lies()) {
      if (level_ == Level::payload && known_.payload()) weigh(out, *known_.payload());
      if (!out.findings.empty() && !is_cut_) drop_doubtful(out);
    }
    out.had_index = had_index(out);
  }

  // The number of blocks that the walk found, sound or not.
  std::uint64_t found() const { return starts_.size(); }

  // The number of lost blocks among those that the walk did not find. Adds findings for those that
  // only the index names.
  std::uint64_t count_missing(Inspection& out) const {
    const EntryTable missing = find_missing(out.sound);
    std::uint64_t lost = missing.size();
    std::set<std::uint64_t> reported;
    for (const Error& error : out.findings) reported.insert(error.offset().value_or(0));
    std::map<std::uint64_t, std::uint64_t> ends;  // of missing blocks, by their starts
    for (std::uint64_t i = 0; i < missing.size(); ++i) {
      const Entry e = missing[i];
      const std::uint64_t start = e.offset - kPosition, end = e.offset + e.bytes;
      ends.emplace(start, end);
      const auto first = reported.lower_bound(start);
      if (first != reported.end() && *first < end) continue;
      out.findings.emplace_back(Errc::corrupt, file_.name(), start,
                                "block " + text(e.pos) + ", which the index names, is not there");
    }
    if (known_.complete()) return lost;  // there were no others
    for (const std::uint64_t at : faults_) {
      const auto after = ends.upper_bound(at);
      const bool counted = after != ends.begin() && std::prev(after)->second > at;
      lost += !counted && !is_auxiliary(at);
    }
    return lost;
  }

 private:
  // True when the item that starts at a fault, which may be truncated, is padding or the index.
  bool is_auxiliary(std::uint64_t at) const {
    if (known_.payload() && at >= *known_.payload() - kDenseHeader - kPosition) return true;
    const auto bytes = file_.bytes(at, std::min<std::uint64_t>(kPosition, file_.size() - at));
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte b) { return b == std::byte{0xFF}; });
  }

  // Blocks that the index names although the walk found neither them nor anything in their place.
  EntryTable find_missing(const EntryTable& sound) const {
    std::set<BlockPos> taken;
    EntryTable missing;
    known_.for_each_named(schema_, [&](const Entry& e) {
      if (std::binary_search(starts_.begin(), starts_.end(), e.offset) ||
          std::binary_search(positions_.begin(), positions_.end(), e.pos) ||
          !taken.insert(e.pos).second) {
        return;
      }
      missing.push_back(e);
    });
    if (missing.size() == 0) return missing;
    EntryTable both = sound;
    for (std::uint64_t i = 0; i < missing.size(); ++i) both.push_back(missing[i]);
    std::set<std::uint64_t> overlapping;
    for (const Overlap& overlap : find_overlaps(both, order_by_position(both))) {
      overlapping.insert({both[overlap.earlier].offset, both[overlap.later].offset});
    }
    EntryTable lost;
    for (std::uint64_t i = 0; i < missing.size(); ++i) {
      if (overlapping.count(missing[i].offset) == 0) lost.push_back(missing[i]);
    }
    return lost;
  }

  // Takes the item in bytes [start, end). Throws corrupt when it cannot be one.
  void take(const Item& item, std::uint64_t start, std::uint64_t end, Inspection& out) {
    out.blocks += item.holds_cells();
    Entry e = item.entry;
    const auto known = known_.find(start);
    if (known && !(item.holds_cells() && same_block(*known, e)) &&
        (!item.holds_cells() || xxh3(file_.bytes(start, end - start)) != known->hash)) {
      const std::string detail =
          "the block header is not that of block " + text(known->pos) + ", as the index has it";
      if (!known_.lies()) fail(start, detail);
      out.findings.emplace_back(Errc::corrupt, file_.name(), start, detail);
      faults_.push_back(start);
      return;
    }
    if (const std::uint64_t next = known_.next(start); next < end) {
      fail(start, "the item ends at byte " + std::to_string(end) + ", but the next one starts at " +
                      std::to_string(next));
    }
    after_no_cells_ = !item.holds_cells() && !item.auxiliary;
    if (!after_no_cells_) after_block_ = item.holds_cells();
    if (item.auxiliary && level_ == Level::payload && known_.complete() && !known_.is_hint(e)) {
      check_padding(file_, e, out.findings);
    }
    see_hints(file_, item, out);
    if (!item.holds_cells()) return;
    if (!is_inside(item, schema_.rows, schema_.cols)) {
      fail(start, outside(item, schema_.rows, schema_.cols));
    }
    // Without a trailer, bytes may be missing anywhere: the next item may start before the end of
    // this one even if the hash matches.
    if (known && known_.has_trailer()) e.hash = known->hash;
    out.sound.push_back(e);
  }

  // Notes column meanings of which the start is there. Their table has a hash of its own.
  void see_cut_columns(std::uint64_t start, Inspection& out) const {
    if (file_.size() - start < kPosition + kDenseHeader || !is_auxiliary(start)) return;
    Entry block;
    block.offset = start + kPosition;
    block.bytes = file_.size() - block.offset;
    if (has_tag(file_, block, kColumnsTag)) out.columns = block;
  }

  // If the file was truncated inside its index, the walk has reported that already.
  bool had_index(const Inspection& out) const {
    if (!known_.payload()) return false;
    const std::uint64_t start = *known_.payload() - kDenseHeader - kPosition;
    return ends_like_trailer(file_) ||
           std::none_of(out.findings.begin(), out.findings.end(),
                        [&](const Error& e) { return e.offset().value_or(0) >= start; });
  }

  [[noreturn]] void fail(std::uint64_t at, std::string detail) const {
    throw Error(Errc::corrupt, file_.name(), at, std::move(detail));
  }

  // Where the walk continues when no item can be read at `at`. Without an index, the damage may be
  // in the length of the previous block, or in items without cells.
  std::uint64_t next_after(std::uint64_t at, const Inspection& out) {
    const std::uint64_t known = std::min(known_.next(at), file_.size());
    if (known_.complete()) return known;
    resync_.reject(at);
    if (out.sound.size() == 0) return std::min(known, resync_.next_item(body_, out.sound));
    const Entry before = out.sound[out.sound.size() - 1];
    const std::uint64_t start = before.offset - kPosition, end = before.offset + before.bytes;
    if (before.hash != 0) return std::min(known, resync_.next_item(end, out.sound));
    const bool may_be_cut = resync_.may_be_cut(at, out.sound);
    // In a truncated file the last item is the only fault. Then the previous block is taken to be
    // too long only if a chain of items leads to the very end of the file.
    const bool looks_cut = may_be_cut && out.findings.size() == 1 && !after_no_cells_;
    std::uint64_t next = std::min(known, resync_.next_item(start + 1, out.sound, looks_cut));
    if (looks_cut && next >= end) {
      next = std::min(known, resync_.next_item(end, out.sound));
      // The last bytes of values may look like an empty block.
      if (file_.size() - next == kShortestItem) next = file_.size();
    }
    if (next < end) {
      too_long_.push_back(start);
    } else if (next == file_.size() && may_be_cut) {
      is_cut_ = looks_cut;
    } else if (after_block_) {
      before_damage_.push_back(start);
    }
    return next;
  }

  // Compares the blocks with what is left of a damaged index.
  void weigh(Inspection& out, std::uint64_t payload) const {
    Evidence evidence(file_, payload);
    filter(out, [&](Entry& e) {
      const std::uint64_t start = e.offset - kPosition;
      const std::uint64_t hash = xxh3(file_.bytes(start, kPosition + e.bytes));
      const auto verdict = e.hash != 0 ? Evidence::Verdict::unknown : evidence.judge(e, hash);
      if (verdict == Evidence::Verdict::damaged) fail(start, wrong_hash(e.pos));
      if (verdict == Evidence::Verdict::whole) e.hash = hash;
      return true;
    });
  }

  // Without hashes, a block next to damage may itself be damaged. If the blocks are tiles of one
  // shape, those of other shapes are dropped; otherwise those after which the walk failed.
  void drop_doubtful(Inspection& out) {
    const auto tile = common_tile(out.sound, schema_);
    if (!tile) {
      too_long_.insert(too_long_.end(), before_damage_.begin(), before_damage_.end());
    }
    std::sort(too_long_.begin(), too_long_.end());
    filter(out, [&](const Entry& e) {
      const std::uint64_t start = e.offset - kPosition;
      const bool doubtful = std::binary_search(too_long_.begin(), too_long_.end(), start);
      if (e.hash == 0 && (doubtful || (tile && !is_tile(e, *tile, schema_)))) {
        fail(start, "block " + text(e.pos) + " of " + std::to_string(e.rows) + " x " +
                        std::to_string(e.cols) + " cells does not fit the blocks around it");
      }
      return true;
    });
  }

  const ByteSource& file_;
  std::uint64_t body_;
  const Schema& schema_;
  Level level_;
  const KnownItems& known_;
  Resync resync_;
  bool after_block_ = false;           // the last item was a block, ignoring items without cells
  bool after_no_cells_ = false;        // the last item had no cells
  bool is_cut_ = false;                // the only fault is that the last item is truncated
  std::vector<std::uint64_t> starts_;  // offsets of the blocks that the walk found, ascending
  std::vector<BlockPos> positions_;    // their positions, ascending, if there is an index
  std::vector<std::uint64_t> faults_;  // where the walk found no item
  std::vector<std::uint64_t> before_damage_, too_long_;  // where such blocks start
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
  Inspection out;
  const bool payload = level == Level::payload;
  const auto tell = [&](std::uint64_t pass, std::uint64_t byte) {
    const std::uint64_t passes = payload ? 2 : 1;
    if (progress) progress(pass * file->size() + byte, passes * file->size());
  };
  KnownItems known(file, body);
  constexpr std::uint64_t kBetweenTells = 1024;
  std::uint64_t items = 0;
  PlainWalk plain(*file, body, schema, [&](const Item& item, std::uint64_t end) {
    if (++items % kBetweenTells == 0) tell(0, end);
    see_hints(*file, item, out);
    if (payload && known.complete() && item.auxiliary && !known.is_hint(item.entry)) {
      check_padding(*file, item.entry, out.findings);
    }
  });
  std::optional<Inspector> inspector;
  if (known.agrees(plain, schema)) {
    out.sound = std::move(plain.blocks);
    out.blocks = out.sound.size();
    out.had_index = known.has_trailer();
  } else {
    out.findings.clear();
    plain.blocks = EntryTable();
    inspector.emplace(*file, body, schema, level, known);
    inspector->walk(out);
  }
  const std::uint64_t found = inspector ? inspector->found() : out.sound.size();
  out.index_lies = known.lies();
  if (known.other_header()) out.findings.push_back(header_error(*file));
  if (payload) {
    const Store store(file, schema, {}, kDriver);
    file->expect_reads();
    filter(out, [&](const Entry& e) {
      kDriver.check_hash(store, e);
      read_all(store, e);
      tell(1, e.offset + e.bytes);
      return true;
    });
  }
  drop_overlaps(out, schema, file->name());
  out.lost = found - out.sound.size() + (inspector ? inspector->count_missing(out) : 0);
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const Error& a, const Error& b) {
    return a.offset().value_or(0) < b.offset().value_or(0);
  });
  return out;
}

}  // namespace dapple::detail::dbdf
