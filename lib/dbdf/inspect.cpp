#include "lib/dbdf/inspect.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/open_dbdf.h"
#include "lib/dbdf/walk.h"
#include "lib/object/overlap.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kAnywhere = std::numeric_limits<std::uint64_t>::max();

// Item starts and hashes that the embedded index gives, sorted. A hint: every one is checked.
std::map<std::uint64_t, std::uint64_t> indexed_items(const std::shared_ptr<MappedFile>& file,
                                                     std::uint64_t body) {
  std::map<std::uint64_t, std::uint64_t> items;
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (!trailer || !is_whole(*file, *trailer)) return items;
  const BlockIndex index = index_at(file, *trailer, IndexOrigin::embedded);
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const Entry e = index.entry(i);
    if (e.offset >= kPosition) items.emplace(e.offset - kPosition, e.hash);
  }
  items.emplace(trailer->payload - kDenseHeader - kPosition, 0);
  return items;
}

class Inspector {
 public:
  Inspector(const std::shared_ptr<MappedFile>& file, std::uint64_t body, const Schema& schema)
      : file_(file), body_(body), schema_(schema), indexed_(indexed_items(file, body)) {}

  // Collects every block whose header is sound (R1, R2, R4) in file order.
  void walk(Inspection& out) {
    std::uint64_t at = body_;
    while (at < file_->size()) {
      Walk walk(*file_, at, kAnywhere, kAnywhere);
      try {
        while (const auto item = walk.next()) {
          at = walk.offset();
          take(*item, out);
        }
      } catch (const Error& e) {
        if (e.code() != Errc::corrupt) throw;
        at = walk.offset();
        out.findings.push_back(e);
        at = next_item(at, out);
      }
    }
  }

 private:
  void take(const Item& item, Inspection& out) {
    if (!item.holds_cells()) return;
    ++out.blocks;
    Entry e = item.entry;
    const std::string misplaced = outside(item, schema_.rows, schema_.cols);
    if (!misplaced.empty()) {
      out.findings.emplace_back(Errc::corrupt, file_->name(), e.offset - kPosition, misplaced);
      return;
    }
    const auto known = indexed_.find(e.offset - kPosition);
    if (known != indexed_.end()) e.hash = known->second;
    out.sound.push_back(e);
  }

  // Where the walk can go on behind a damaged header at `at`; the file's end when nowhere.
  std::uint64_t next_item(std::uint64_t at, const Inspection& out) const {
    if (!indexed_.empty()) {
      const auto next = indexed_.upper_bound(at);
      return next == indexed_.end() ? file_->size() : next->first;
    }
    return next_tile(at + 1, out);
  }

  // Without an index only a header that fits the tiling so far is believed: one whose position
  // and extent are those of a tile, and behind which another item, or the end, follows.
  std::uint64_t next_tile(std::uint64_t at, const Inspection& out) const {
    if (out.sound.size() == 0 || schema_.kind == ObjectKind::frame) return file_->size();
    const Entry first = out.sound[0];
    if (first.pos != BlockPos{0, 0}) return file_->size();
    const std::byte* base = file_->map();
    for (; file_->size() - at >= kShortestItem; ++at) {
      const auto rx = load_le<std::uint64_t>(base + at);
      const auto cx = load_le<std::uint64_t>(base + at + 8);
      if (rx >= schema_.rows || cx >= schema_.cols || rx % first.rows != 0 ||
          cx % first.cols != 0 ||
          load_le<std::uint32_t>(base + at + 16) !=
              std::min<std::uint64_t>(first.rows, schema_.rows - rx) ||
          load_le<std::uint32_t>(base + at + 20) !=
              std::min<std::uint64_t>(first.cols, schema_.cols - cx)) {
        continue;
      }
      if (is_item(at) && !is_taken({rx, cx}, out)) return at;
    }
    return file_->size();
  }

  bool is_item(std::uint64_t at) const {
    try {
      Walk walk(*file_, at, schema_.rows, schema_.cols);
      walk.next();
      walk.next();
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  static bool is_taken(BlockPos pos, const Inspection& out) {
    for (std::uint64_t i = 0; i < out.sound.size(); ++i) {
      if (out.sound[i].pos == pos) return true;
    }
    return false;
  }

  std::shared_ptr<MappedFile> file_;
  std::uint64_t body_;
  const Schema& schema_;
  std::map<std::uint64_t, std::uint64_t> indexed_;
};

EntryTable sorted(const EntryTable& entries) {
  std::vector<Entry> list;
  for (std::uint64_t i = 0; i < entries.size(); ++i) list.push_back(entries[i]);
  std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
    return a.pos != b.pos ? a.pos < b.pos : a.offset < b.offset;
  });
  EntryTable table;
  table.reserve(list.size());
  for (const Entry& e : list) table.push_back(e);
  return table;
}

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

void drop_overlaps(Inspection& out, const std::string& file) {
  const EntryTable table = sorted(out.sound);
  std::vector<std::uint64_t> dropped;  // by their byte
  for (const Overlap& overlap : find_overlaps(table)) {
    out.findings.push_back(overlap_error(table, overlap, file));
    dropped.push_back(table[overlap.later].offset);
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
                   const Schema& schema, Level level) {
  Inspection out;
  Inspector(file, body, schema).walk(out);
  drop_overlaps(out, file->name());
  if (level == Level::payload) {
    const Store store(file, schema, {}, kCodec);
    file->map();
    filter(out, [&](const Entry& e) {
      kCodec.check_hash(store, e);
      read_all(store, e);
      return true;
    });
  }
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const Error& a, const Error& b) {
    return a.offset().value_or(0) < b.offset().value_or(0);
  });
  return out;
}

}  // namespace dapple::detail::dbdf
