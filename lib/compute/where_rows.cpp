#include "dapple/where_rows.h"

#include <numeric>

#include "lib/base/parallel.h"
#include "lib/compute/row_search.h"

namespace dapple {

void where(const Frame& frame, const Expression& expression, const TakeRows& take,
           const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  std::vector<std::uint8_t> found;
  std::vector<std::uint64_t> rows;
  for (const Range& piece : search.pieces({0, frame.rows()})) {
    found.resize(piece.size());
    search.find(piece, found);
    rows.clear();
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (found[k] != 0) rows.push_back(piece.begin + k);
    }
    if (!rows.empty()) take(rows);
  }
}

std::uint64_t count_where(const Frame& frame, const Expression& expression,
                          const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  const auto strips = detail::search_strips(frame.store(), options.threads);
  std::vector<std::uint64_t> counts(strips.size());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    std::vector<std::uint8_t> found;
    for (const Range& piece : search.pieces(strips[i])) {
      found.resize(piece.size());
      search.find(piece, found);
      counts[i] += std::accumulate(found.begin(), found.end(), std::uint64_t{0});
    }
  });
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<std::uint8_t> rows_where(const Frame& frame, const Expression& expression,
                                     const WhereOptions& options) {
  const detail::RowSearch search(frame, expression, options);
  const auto strips = detail::search_strips(frame.store(), options.threads);
  std::vector<std::uint8_t> found(frame.rows());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    for (const Range& piece : search.pieces(strips[i])) {
      search.find(piece, std::span(found).subspan(piece.begin, piece.size()));
    }
  });
  return found;
}

std::vector<BlockVerdict> explain_where(const Frame& frame, const Expression& expression,
                                        const WhereOptions& options) {
  return detail::RowSearch(frame, expression, options).explain();
}

}  // namespace dapple
