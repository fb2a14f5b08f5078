#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "dapple/array.h"
#include "dapple/gather.h"
#include "lib/base/text.h"
#include "lib/object/store.h"
#include "lib/rows/gather.h"

namespace dapple {

namespace {

constexpr std::uint64_t kGap = 2048;        // rows that are cheaper to read than to step over
constexpr std::uint64_t kMostRows = 65536;  // read at once

/// Places in a list of rows.
using Places = std::span<const std::size_t>;

/// True when nothing that is read of these rows can be an error: all of it is in blocks, and fits.
bool is_sound(const Frame& frame, Range rows, std::span<const ColumnBuffer> out, Absent absent) {
  const detail::Store& store = frame.store();
  return std::all_of(out.begin(), out.end(), [&](const ColumnBuffer& c) {
    return holds_all(c.value_type, frame.column_type(c.col)) &&
           (absent == Absent::zero || store.watched([&] {
             return store.covers(rows, {&c.col, 1});
           }));
  });
}

/// Copies the rows at the places `mine` of `wanted`, which ascend.
void gather_run(const Frame& frame, std::span<const std::uint64_t> wanted, Places mine,
                std::span<const ColumnBuffer> out, const ReadOptions& options) {
  const Range rows{wanted[mine.front()], wanted[mine.back()] + 1};
  const auto is_gap = [&](std::size_t a, std::size_t b) { return wanted[b] - wanted[a] > 1; };
  const auto gap = std::adjacent_find(mine.begin(), mine.end(), is_gap);
  if (gap != mine.end() && !is_sound(frame, rows, out, options.absent)) {
    // Nobody wants what is between them.
    for (auto first = mine.begin(), last = gap; first != mine.end(); first = last) {
      last = std::adjacent_find(first, mine.end(), is_gap);
      if (last != mine.end()) ++last;
      gather_run(frame, wanted, Places(first, last), out, options);
    }
    return;
  }
  std::vector<Array<std::byte>> read(out.size());
  std::vector<ColumnBuffer> buffers(out.begin(), out.end());
  for (std::size_t k = 0; k < out.size(); ++k) {
    buffers[k].step = size_of(out[k].value_type);
    read[k].reset(rows.size() * buffers[k].step);
    buffers[k].data = read[k].data();
  }
  frame.read_rows(rows, buffers, options);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::size_t size = buffers[k].step;
    for (const std::size_t place : mine) {
      std::memcpy(out[k].data + place * out[k].step,
                  read[k].data() + (wanted[place] - rows.begin) * size, size);
    }
  }
}

/// Asks for what the first of these runs need, where it is far away; returns of how many.
std::size_t ask_for_some(const detail::Store& store, std::span<const std::uint64_t> wanted,
                         std::span<const Places> runs, std::span<const ColumnBuffer> out) {
  constexpr std::size_t kMost = 4096;  // columns of runs
  if (!store.blocks().fetches() || out.empty()) return runs.size();
  std::vector<Region> regions;
  for (const Places& run : runs.first(std::min(runs.size(), kMost / out.size() + 1))) {
    const Range rows{wanted[run.front()], wanted[run.back()] + 1};
    for (const ColumnBuffer& c : out) regions.push_back({rows, {c.col, c.col + 1}});
  }
  return std::max<std::size_t>(1, store.ask_for_some(regions) / out.size());
}

}  // namespace

void gather_rows(const Frame& frame, std::span<const std::uint64_t> wanted,
                 std::span<const ColumnBuffer> out, const ReadOptions& options) {
  detail::require_rows(frame.store(), wanted);
  for (const ColumnBuffer& c : out) detail::require_known(c.value_type);
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::is_sorted(wanted.begin(), wanted.end())) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  }
  std::vector<Places> runs;
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    const std::uint64_t begin = wanted[order[first]];
    for (last = first + 1; last < order.size(); ++last) {
      const std::uint64_t row = wanted[order[last]];
      if (row - wanted[order[last - 1]] > kGap || row - begin >= kMostRows) break;
    }
    runs.push_back(std::span(order).subspan(first, last - first));
  }
  std::size_t asked = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (k == asked) asked += ask_for_some(frame.store(), wanted, std::span(runs).subspan(k), out);
    gather_run(frame, wanted, runs[k], out, options);
  }
}

}  // namespace dapple
