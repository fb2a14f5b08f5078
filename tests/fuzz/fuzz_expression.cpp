// Door: conditions on rows as text. Any bytes are a condition or an Error; a condition finds the
// same rows as a stream, a count and a mask, and its negation none of them.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::expression_target {

namespace {

/// Columns of every meaning that a text can give, with missing cells.
Frame sample() {
  static const test::TempDir dir;
  test::write_text(dir / "f.csv",
                   "n,x,word,sort,when,yes\n1,0.5,a,red,2024-01-31,true\n"
                   "2,nan,b,red,2024-02-01,false\n18446744073709551615,-inf,,blue,,\n,1e300,c,,"
                   "2024-02-01,true\n");
  return Frame::open(dir / "f.csv");
}

std::vector<std::uint8_t> check(const Frame& frame, const Expression& expression) {
  const std::vector<std::uint8_t> mask = rows_where(frame, expression);
  std::vector<std::uint8_t> streamed(mask.size());
  std::uint64_t found = 0;
  where(frame, expression, [&](std::span<const std::uint64_t> rows) {
    for (const std::uint64_t row : rows) streamed.at(row) = 1;
    found += rows.size();
  });
  require(streamed == mask && count_where(frame, expression) == found);
  return mask;
}

}  // namespace

FUZZ_TARGET(expression) {
  static const Frame frame = sample();
  try {
    const Expression expression = Expression::parse({reinterpret_cast<const char*>(data), size});
    const auto found = check(frame, expression);
    const auto others = check(frame, !expression);
    for (std::size_t row = 0; row < found.size(); ++row) require(!found[row] || !others[row]);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::expression_target
