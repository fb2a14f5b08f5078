// From values to colours: scales, and maps that people with any colour vision can read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raster.h"

namespace dapple::picture {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

inline constexpr Rgb kWhite{255, 255, 255}, kInk{32, 36, 42}, kAbsent{208, 208, 208},
    kUnknown{232, 232, 232}, kNan{213, 94, 0}, kPlusInfinity{204, 121, 167},
    kMinusInfinity{86, 180, 233};

/// Viridis at `t`, 0 to 1: dark blue to yellow, evenly brighter.
Rgb viridis(double t) noexcept;

/// Of an empty, dense, CSR and COO block; Okabe and Ito's colours.
Rgb kind_colour(BlockKind kind) noexcept;

/// Which part of a colour map a value takes.
struct Scale {
  double low = 0, high = 1;
  bool log = false;  // then low > 0, and what is not above zero has no colour

  /// 0 to 1; nothing for what a logarithm cannot show.
  std::optional<double> at(double value) const noexcept;
  friend bool operator==(const Scale&, const Scale&) = default;
};

struct ScaleChoice {
  std::optional<bool> log;  // unset: counts and densities that differ a lot
  std::optional<double> low, high;
};

/// The scale that shows a picture's numbers. `counts`: they count something. Whole numbers of which
/// none is below zero, and most are far below the largest, are taken for counts as well.
Scale scale_for(const Picture& picture, const ScaleChoice& choice, bool counts);

/// What a legend explains beside the scale, with its names: kinds, infinite values, and dots
/// without a number, as far as they occur.
std::vector<std::pair<Dot, std::string_view>> legend_entries(const Picture& picture);
/// Whether the picture has a value that a scale shows.
bool needs_scale(const Picture& picture);

/// What the map's colours mean: "non-zeros per cell, log".
std::string legend_text(What what, const Scale& scale, bool from_counts);

/// The colour on paper, which is white: where nothing is stored, nothing is drawn, and the denser
/// the darker.
Rgb paper_colour(const Dot& dot, What what, const Scale& scale) noexcept;
/// The same for a bar that explains the colours.
Rgb bar_colour(double t, What what) noexcept;

}  // namespace dapple::picture
