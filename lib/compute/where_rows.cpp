#include "dapple/where_rows.h"

#include <numeric>

#include "lib/base/parallel.h"
#include "lib/compute/row_search.h"
#include "lib/object/in_memory.h"

namespace dapple {

namespace {

/// Calls f(piece) for pieces of these rows, which are asked for before.
template <class F>
void for_each_piece(const detail::RowSearch& search, Range rows, const F& f) {
  const std::vector<Range> pieces = search.pieces(rows);
  std::size_t asked = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (k == asked) asked += search.ask_for_some(std::span(pieces).subspan(k));
    f(pieces[k]);
  }
}

}  // namespace

void where(const Frame& frame, const Expression& expression, const TakeRows& take,
           const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  std::vector<std::uint8_t> found;
  std::vector<std::uint64_t> rows;
  for_each_piece(search, {0, frame.rows()}, [&](const Range& piece) {
    found.resize(piece.size());
    search.find(piece, found);
    rows.clear();
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (found[k] != 0) rows.push_back(piece.begin + k);
    }
    if (!rows.empty()) take(rows);
  });
}

std::uint64_t count_where(const Frame& frame, const Expression& expression,
                          const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  const auto strips = detail::row_strips(frame.store(), detail::strips_for(options.threads));
  std::vector<std::uint64_t> counts(strips.size());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    std::vector<std::uint8_t> found;
    for_each_piece(search, strips[i], [&](const Range& piece) {
      found.resize(piece.size());
      search.find(piece, found);
      counts[i] += std::accumulate(found.begin(), found.end(), std::uint64_t{0});
    });
  });
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<std::uint8_t> rows_where(const Frame& frame, const Expression& expression,
                                     const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  const auto strips = detail::row_strips(frame.store(), detail::strips_for(options.threads));
  auto found = detail::in_memory(
      frame.store(), frame.rows(), 1,
      [&] { return "answers for " + std::to_string(frame.rows()) + " rows"; },
      [&] { return std::vector<std::uint8_t>(frame.rows()); });
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    for_each_piece(search, strips[i], [&](const Range& piece) {
      search.find(piece, std::span(found).subspan(piece.begin, piece.size()));
    });
  });
  return found;
}

std::vector<BlockVerdict> explain_where(const Frame& frame, const Expression& expression,
                                        const WhereOptions& options) {
  return detail::RowSearch(frame, expression, options).explain();
}

}  // namespace dapple
