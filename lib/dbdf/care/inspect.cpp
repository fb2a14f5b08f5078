#include "lib/dbdf/care/inspect.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "lib/dbdf/care/evidence.h"
#include "lib/dbdf/care/known_items.h"
#include "lib/dbdf/care/resync.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/index_traces.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/walk.h"
#include "lib/io/hash.h"
#include "lib/object/overlap.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAnywhere = std::numeric_limits<std::uint64_t>::max();

// Takes blocks out that `keep` refuses; it may throw what is wrong with one.
template <class Keep>
void filter(Inspection& out, Keep keep) {
  EntryTable kept;
  kept.reserve(out.sound.size());
  for (std::uint64_t i = 0; i < out.sound.size(); ++i) {
    const Entry e = out.sound[i];
    try {
      if (keep(e)) kept.push_back(e);
    } catch (const Error& error) {
      if (error.code() == Errc::io) throw;
      out.findings.push_back(error);
    }
  }
  out.sound = std::move(kept);
}

class Inspector {
 public:
  Inspector(const std::shared_ptr<MappedFile>& file, std::uint64_t body, const Schema& schema,
            Level level)
      : file_(file),
        body_(body),
        schema_(schema),
        level_(level),
        known_(file, body, schema, PlainWalk(*file, body, schema)),
        resync_(*file, schema) {}

  // Collects every block whose header is sound (R1, R2, R4) in file order. `tell` hears now and
  // then which byte the walk has come to.
  template <class Tell>
  void walk(Inspection& out, const Tell& tell) {
    constexpr std::uint64_t kBetween = 1024;
    std::uint64_t items = 0, at = body_;
    while (at < file_->size()) {
      Walk walk(*file_, at, kAnywhere, kAnywhere);
      try {
        for (Item item; walk.next(item);) {
          take(item, at, walk.offset(), out);
          at = walk.offset();
          if (++items % kBetween == 0) tell(at);
        }
      } catch (const Error& e) {
        if (e.code() != Errc::corrupt) throw;
        out.findings.push_back(e);
        faults_.push_back(at);
        at = go_on_behind(at, out);
      }
    }
    walked_ = out.sound;
    if (!known_.complete() && !known_.lies()) {
      if (level_ == Level::payload && known_.payload()) weigh(out, *known_.payload());
      if (!out.findings.empty() && !is_cut_) drop_doubtful(out);
    }
    out.had_index = had_index(out);
    out.index_lies = known_.lies();
    if (known_.other_header()) out.findings.push_back(header_error(*file_));
  }

  // Counts the blocks that are lost, and names those that only the index tells of.
  void count_lost(Inspection& out) const {
    const EntryTable missing = find_missing(out.sound);
    out.lost = walked_.size() - out.sound.size() + missing.size();
    std::set<std::uint64_t> told;
    for (const Error& error : out.findings) told.insert(error.offset().value_or(0));
    std::map<std::uint64_t, std::uint64_t> ends;  // of missing blocks, by their starts
    for (std::uint64_t i = 0; i < missing.size(); ++i) {
      const Entry e = missing[i];
      const std::uint64_t start = e.offset - kPosition, end = e.offset + e.bytes;
      ends.emplace(start, end);
      const auto first = told.lower_bound(start);
      if (first != told.end() && *first < end) continue;
      out.findings.emplace_back(
          Errc::corrupt, file_->name(), start,
          "expected block " + text(e.pos) + ", which the index names, got other bytes");
    }
    if (known_.complete()) return;  // and knows of no other blocks
    for (const std::uint64_t at : faults_) {
      const auto behind = ends.upper_bound(at);
      const bool counted = behind != ends.begin() && std::prev(behind)->second > at;
      out.lost += !counted && !is_auxiliary(at);
    }
  }

 private:
  // What starts at a fault, or is all that a cut has left of it, is padding or the index.
  bool is_auxiliary(std::uint64_t at) const {
    if (known_.payload() && at >= *known_.payload() - kDenseHeader - kPosition) return true;
    const auto bytes = file_->bytes(at, std::min<std::uint64_t>(kPosition, file_->size() - at));
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte b) { return b == std::byte{0xFF}; });
  }

  // Blocks that the index names and the walk did not find, nor anything in their place.
  EntryTable find_missing(const EntryTable& sound) const {
    std::set<std::uint64_t> starts;
    std::set<std::pair<std::uint64_t, std::uint64_t>> positions;
    for (std::uint64_t i = 0; i < walked_.size(); ++i) {
      starts.insert(walked_[i].offset);
      positions.emplace(walked_[i].pos.rx, walked_[i].pos.cx);
    }
    const EntryTable names = known_.named(body_, schema_);
    EntryTable missing, both = sound;
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      const Entry e = names[i];
      if (starts.count(e.offset) != 0 || !positions.emplace(e.pos.rx, e.pos.cx).second) continue;
      missing.push_back(e);
      both.push_back(e);
    }
    if (missing.size() == 0) return missing;
    const EntryTable sorted = sorted_by_position(both);
    std::set<std::uint64_t> overlapping;
    for (const Overlap& overlap : find_overlaps(sorted)) {
      overlapping.insert({sorted[overlap.earlier].offset, sorted[overlap.later].offset});
    }
    EntryTable lost;
    for (std::uint64_t i = 0; i < missing.size(); ++i) {
      if (overlapping.count(missing[i].offset) == 0) lost.push_back(missing[i]);
    }
    return lost;
  }

  // The item in bytes [start, end). Throws corrupt when it cannot be one.
  void take(const Item& item, std::uint64_t start, std::uint64_t end, Inspection& out) {
    out.blocks += item.holds_cells();
    Entry e = item.entry;
    const auto known = known_.find(start);
    if (known && !(item.holds_cells() && same_block(*known, e)) &&
        (!item.holds_cells() || xxh3(file_->bytes(start, end - start)) != known->hash)) {
      const std::string detail =
          "expected the header of block " + text(known->pos) + " as the index has it, got another";
      if (!known_.lies()) fail(start, detail);
      out.findings.emplace_back(Errc::corrupt, file_->name(), start, detail);
      faults_.push_back(start);
      return;
    }
    if (const std::uint64_t next = known_.next(start); next < end) {
      fail(start, "expected an item that ends before the next one at byte " + std::to_string(next) +
                      ", got one that ends at " + std::to_string(end));
    }
    behind_nothing_ = !item.holds_cells() && !item.auxiliary;
    if (!behind_nothing_) behind_block_ = item.holds_cells();
    const bool index = item.auxiliary && known_.payload() == e.offset + kDenseHeader;
    if (item.auxiliary && !index) check_padding(e, out);
    if (!item.holds_cells()) return;
    if (!is_inside(item, schema_.rows, schema_.cols)) {
      fail(start, outside(item, schema_.rows, schema_.cols));
    }
    // Without a trailer, bytes may have gone missing anywhere: even where the hash fits, the next
    // item may start before the end of this one.
    if (known && known_.has_trailer()) e.hash = known->hash;
    out.sound.push_back(e);
  }

  // Where the file was cut inside its index, what the walk has found there tells enough.
  bool had_index(const Inspection& out) const {
    if (!known_.payload()) return false;
    const std::uint64_t start = *known_.payload() - kDenseHeader - kPosition;
    return ends_like_trailer(*file_) ||
           std::none_of(out.findings.begin(), out.findings.end(),
                        [&](const Error& e) { return e.offset().value_or(0) >= start; });
  }

  bool has_tag(const Entry& e, const char* tag) const {
    return e.bytes >= kDenseHeader + kTag &&
           std::memcmp(file_->at(e.offset + kDenseHeader, kTag), tag, kTag) == 0;
  }

  // No hash covers padding, but it is zeros; and whoever writes an index knows no other tag. What
  // it holds harms nobody, and yet it tells of damage.
  void check_padding(const Entry& e, Inspection& out) const {
    if (level_ != Level::payload || !known_.complete()) return;
    const std::uint64_t payload = e.offset + kDenseHeader;
    std::uint64_t at = payload;
    if (has_tag(e, kPaddingTag)) {
      const auto zeros = file_->bytes(payload + kTag, e.bytes - kDenseHeader - kTag);
      const auto other =
          std::find_if(zeros.begin(), zeros.end(), [](std::byte b) { return b != std::byte{0}; });
      if (other == zeros.end()) return;
      at += kTag + static_cast<std::uint64_t>(other - zeros.begin());
    }
    out.findings.emplace_back(Errc::corrupt, file_->name(), at,
                              "expected padding, a tag and zeros, got other bytes");
  }

  [[noreturn]] void fail(std::uint64_t at, std::string detail) const {
    throw Error(Errc::corrupt, file_->name(), at, std::move(detail));
  }

  // Where the walk goes on when no item can be read at `at`. Where no index tells, the block in
  // front may be to blame, because its length may be damaged, and so may items without cells.
  std::uint64_t go_on_behind(std::uint64_t at, const Inspection& out) {
    const std::uint64_t known = std::min(known_.next(at), file_->size());
    if (known_.complete()) return known;
    resync_.reject(at);
    if (out.sound.size() == 0) return std::min(known, resync_.next_item(body_, out.sound));
    const Entry front = out.sound[out.sound.size() - 1];
    const std::uint64_t start = front.offset - kPosition, end = front.offset + front.bytes;
    if (front.hash != 0) return std::min(known, resync_.next_item(end, out.sound));
    const bool may_be_cut = resync_.may_be_cut(at, out.sound);
    // Of a file that was cut, the walk comes to the last item without a fault: only a chain of
    // items that leads to the very end tells that the block in front is too long.
    const bool looks_cut = may_be_cut && out.findings.size() == 1 && !behind_nothing_;
    std::uint64_t next = std::min(known, resync_.next_item(start + 1, out.sound, looks_cut));
    if (looks_cut && next >= end) {
      next = std::min(known, resync_.next_item(end, out.sound));
      // Few bytes of values look like an empty block.
      if (file_->size() - next == kShortestItem) next = file_->size();
    }
    if (next < end) {
      too_long_.push_back(start);
    } else if (next == file_->size() && may_be_cut) {
      is_cut_ = looks_cut;
    } else if (behind_block_) {
      in_front_of_damage_.push_back(start);
    }
    return next;
  }

  // Asks what is left of a damaged index which blocks are whole.
  void weigh(Inspection& out, std::uint64_t payload) const {
    Evidence evidence(*file_, payload);
    EntryTable kept;
    kept.reserve(out.sound.size());
    for (std::uint64_t i = 0; i < out.sound.size(); ++i) {
      Entry e = out.sound[i];
      const std::uint64_t start = e.offset - kPosition;
      const std::uint64_t hash = xxh3(file_->bytes(start, kPosition + e.bytes));
      const auto verdict = e.hash != 0 ? Evidence::Verdict::unknown : evidence.judge(e, hash);
      if (verdict == Evidence::Verdict::damaged) {
        out.findings.emplace_back(Errc::corrupt, file_->name(), start,
                                  "expected block " + text(e.pos) +
                                      " with the bytes that the index's hash was made of, got "
                                      "others");
        continue;
      }
      if (verdict == Evidence::Verdict::whole) e.hash = hash;
      kept.push_back(e);
    }
    out.sound = std::move(kept);
  }

  // Without hashes, a block next to damage may itself be what is damaged. Where blocks are tiles
  // of one shape, those that are not are dropped; elsewhere those that the walk went wrong behind.
  void drop_doubtful(Inspection& out) {
    const auto tile = common_tile(out.sound, schema_);
    if (!tile) {
      too_long_.insert(too_long_.end(), in_front_of_damage_.begin(), in_front_of_damage_.end());
    }
    std::sort(too_long_.begin(), too_long_.end());
    filter(out, [&](const Entry& e) {
      const std::uint64_t start = e.offset - kPosition;
      const bool doubtful = std::binary_search(too_long_.begin(), too_long_.end(), start);
      if (e.hash == 0 && (doubtful || (tile && !is_tile(e, *tile, schema_)))) {
        fail(start, "expected a block whose extent fits those around it, got block " + text(e.pos) +
                        " of " + std::to_string(e.rows) + " x " + std::to_string(e.cols) +
                        " cells");
      }
      return true;
    });
  }

  std::shared_ptr<MappedFile> file_;
  std::uint64_t body_;
  const Schema& schema_;
  Level level_;
  KnownItems known_;
  Resync resync_;
  bool behind_block_ = false;          // the last item was a block, but for items without cells
  bool behind_nothing_ = false;        // the last item was one without cells
  bool is_cut_ = false;                // all that is wrong is that the last item lacks its end
  EntryTable walked_;                  // the blocks that the walk found
  std::vector<std::uint64_t> faults_;  // where it found none
  std::vector<std::uint64_t> in_front_of_damage_, too_long_;  // where such blocks start
};

// Of two blocks that share a cell, the one goes that shares cells with more of them; when neither
// does, the one without a hash that fits; both, when nothing tells which of them is wrong.
void drop_overlaps(Inspection& out, const std::string& file) {
  const EntryTable table = sorted_by_position(out.sound);
  const std::vector<Overlap> overlaps = find_overlaps(table);
  std::map<std::uint64_t, std::uint64_t> shared;  // by entry number: in how many overlaps it is
  for (const Overlap& overlap : overlaps) {
    ++shared[overlap.earlier];
    ++shared[overlap.later];
  }
  std::vector<std::uint64_t> dropped;  // by their byte
  const auto guilt = [&](std::uint64_t number) {
    return std::pair(shared[number], table[number].hash == 0);
  };
  for (const Overlap& overlap : overlaps) {
    out.findings.push_back(overlap_error(table, overlap, file));
    const auto earlier = guilt(overlap.earlier), later = guilt(overlap.later);
    if (earlier >= later) dropped.push_back(table[overlap.earlier].offset);
    if (later >= earlier) dropped.push_back(table[overlap.later].offset);
  }
  std::sort(dropped.begin(), dropped.end());
  filter(out, [&](const Entry& e) {
    return !std::binary_search(dropped.begin(), dropped.end(), e.offset);
  });
}

}  // namespace

void read_all(const Store& store, const Entry& e) {
  if (e.kind == BlockKind::empty) return;
  const Codec& codec = store.codec();
  if (e.kind != BlockKind::dense && codec.entries != nullptr) {
    const CellRun::Take ignore = [](std::span<const StoredCell>) {};
    CellRun run(ignore);
    codec.entries(store, e, {{0, e.rows}, {0, e.cols}}, run);
    return;
  }
  constexpr std::uint64_t kBuffer = 1 << 20;
  for (std::uint64_t c = 0; c < e.cols;) {
    // A run of columns of one declared type, a strip of rows at a time.
    const ValueType type = store.schema().type_of(e.pos.cx + c);
    std::uint64_t end = c + 1;
    while (end < e.cols && store.schema().type_of(e.pos.cx + end) == type) ++end;
    const bool cannot_fail = holds_all(type, e.value_type) && codec.in_place != nullptr &&
                             codec.in_place(store, e).has_value();
    const std::uint64_t row_bytes = (end - c) * size_of(type);
    const std::uint64_t strip = std::max<std::uint64_t>(1, kBuffer / row_bytes);
    std::vector<std::byte> buffer(cannot_fail ? 0
                                              : std::min<std::uint64_t>(strip, e.rows) * row_bytes);
    for (std::uint64_t r = 0; r < e.rows && !cannot_fail; r += strip) {
      const Range rows{r, std::min<std::uint64_t>(e.rows, r + strip)};
      codec.read(store, e, {rows, {c, end}}, {buffer.data(), type, row_bytes, size_of(type)});
    }
    c = end;
  }
}

Inspection inspect(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                   const Schema& schema, Level level, const TakeProgress& progress) {
  Inspection out;
  const std::uint64_t passes = level == Level::payload ? 2 : 1;
  const auto tell = [&](std::uint64_t pass, std::uint64_t byte) {
    if (progress) progress(pass * file->size() + byte, passes * file->size());
  };
  Inspector inspector(file, body, schema, level);
  inspector.walk(out, [&](std::uint64_t byte) { tell(0, byte); });
  if (level == Level::payload) {
    const Store store(file, schema, {}, kCodec);
    file->map();
    filter(out, [&](const Entry& e) {
      kCodec.check_hash(store, e);
      read_all(store, e);
      tell(1, e.offset + e.bytes);
      return true;
    });
  }
  drop_overlaps(out, file->name());
  inspector.count_lost(out);
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const Error& a, const Error& b) {
    return a.offset().value_or(0) < b.offset().value_or(0);
  });
  return out;
}

}  // namespace dapple::detail::dbdf
