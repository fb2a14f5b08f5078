// Round numbers along an axis or a colour bar, and how they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

/// Round values inside a scale, about `most` of them.
std::vector<Tick<double>> value_ticks(const Scale& scale, std::size_t most);

/// A value in few digits: "0.0123", "1.5e+300", "-4".
std::string short_number(double value);

}  // namespace dapple::picture
