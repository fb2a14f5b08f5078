// Round numbers along an axis or a colour bar, and how they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "colour.h"
#include "dapple/region.h"

namespace dapple::picture {

template <class Number>
struct Tick {
  Number at;
  std::string text;
};

/// Round cell numbers of a range of which its first is one, at most `most` of them (at least two
/// where the range has two cells): "0", "250k", "500k".
std::vector<Tick<std::uint64_t>> cell_ticks(Range cells, std::size_t most);

struct ValueTicks {
  std::vector<Tick<double>> ticks;
  std::string offset;  // to be added to the texts, which would be long otherwise; may be empty
};

/// Round values inside a scale, about `most` of them, at least two, each with a text of its own.
ValueTicks value_ticks(const Scale& scale, std::size_t most);

/// The ends of a scale in as few digits as tell them from each other and from what is between:
/// "0.0123", "1.5e+300", "-4".
std::pair<std::string, std::string> end_texts(const Scale& scale);

}  // namespace dapple::picture
