#include "colour.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dapple::picture {

Rgb viridis(double t) noexcept {
  // A polynomial of degree 6 through matplotlib's table; it is off by less than one per cent.
  constexpr double kTerms[7][3] = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
                                   {0.1050930431085774, 1.404613529898575, 1.384590162594685},
                                   {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
                                   {-4.634230498983486, -5.799100973351585, -19.33244095627987},
                                   {6.228269936347081, 14.17993336680509, 56.69055260068105},
                                   {4.776384997670288, -13.74514537774601, -65.35303263337234},
                                   {-5.435455855934631, 4.645852612178535, 26.3124352495832}};
  t = std::clamp(t, 0.0, 1.0);
  std::uint8_t channels[3];
  for (std::size_t i = 0; i < 3; ++i) {
    double value = 0;
    for (std::size_t k = std::size(kTerms); k-- > 0;) value = value * t + kTerms[k][i];
    channels[i] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  }
  return {channels[0], channels[1], channels[2]};
}

Rgb kind_colour(BlockKind kind) noexcept {
  constexpr Rgb colours[] = {{240, 240, 240}, {0, 114, 178}, {86, 180, 233}, {230, 159, 0}};
  return colours[static_cast<std::size_t>(kind)];
}

std::optional<double> Scale::at(double value) const noexcept {
  if (log && value <= 0) return std::nullopt;
  // Halves, because the difference of two numbers may be too large for one.
  const double t = log ? std::log(value / low) / std::log(high / low)
                       : (value / 2 - low / 2) / (high / 2 - low / 2);
  return std::isnan(t) ? 0.0 : std::clamp(t, 0.0, 1.0);
}

Scale scale_for(const Picture& picture, const ScaleChoice& choice, bool counts) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = kInfinity, high = -kInfinity, positive = kInfinity;
  double sum = 0, n = 0;
  bool whole = true;
  for (const Dot& dot : picture.dots) {
    if (dot.state != Dot::State::number || !std::isfinite(dot.value)) continue;
    low = std::min(low, dot.value);
    high = std::max(high, dot.value);
    if (dot.value > 0) positive = std::min(positive, dot.value);
    whole = whole && dot.value == std::trunc(dot.value);
    sum += dot.value;
    ++n;
  }
  if (picture.what == What::density) low = 0;
  if (low > high) low = 0, high = 1;
  const bool spread = positive < kInfinity && high / positive >= 8;
  const bool skewed = whole && sum / n < high / 8;
  const bool suits = picture.what == What::density || ((counts || skewed) && low >= 0);
  Scale scale{choice.low.value_or(low), choice.high.value_or(high),
              choice.log.value_or(suits && spread)};
  if (scale.log) {
    if (scale.high <= 0) scale.high = 1;
    if (scale.low <= 0) scale.low = std::min(positive, scale.high);
    if (scale.low >= scale.high) scale.low = scale.high / 10;
  } else if (scale.low >= scale.high) {
    const double half = std::max(0.5, std::abs(scale.low) * 1e-3);
    if (picture.what == What::density && !choice.low) {
      scale.high = 1;
    } else {
      scale.high = scale.low + half;
      scale.low -= half;
    }
  }
  return scale;
}

std::vector<std::pair<Dot, std::string_view>> legend_entries(const Picture& picture) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::pair<Dot, std::string_view>> entries;
  if (picture.what == What::kind) {
    for (const BlockKind kind :
         {BlockKind::empty, BlockKind::dense, BlockKind::csr, BlockKind::coo}) {
      entries.emplace_back(Dot::of(static_cast<double>(kind)), dapple::name(kind));
    }
  } else {
    entries = {{Dot::of(kInfinity), "inf"}, {Dot::of(-kInfinity), "-inf"}};
  }
  entries.insert(entries.end(), {{{0, Dot::State::nan}, "NaN"},
                                 {{0, Dot::State::absent}, "absent"},
                                 {{0, Dot::State::unknown}, "no number"}});
  std::erase_if(entries, [&](const auto& entry) {
    return std::none_of(picture.dots.begin(), picture.dots.end(), [&](const Dot& dot) {
      return dot.state == entry.first.state &&
             (dot.state != Dot::State::number || dot.value == entry.first.value);
    });
  });
  return entries;
}

bool needs_scale(const Picture& picture) {
  return picture.what != What::kind &&
         std::any_of(picture.dots.begin(), picture.dots.end(), [](const Dot& dot) {
           return dot.state == Dot::State::number && std::isfinite(dot.value);
         });
}

std::string legend_text(What what, const Scale& scale, bool from_counts) {
  std::string text;
  switch (what) {
    case What::density:
      text = from_counts ? "stored values per cell" : "non-zeros per cell";
      break;
    case What::mean:
      text = "mean";
      break;
    case What::min:
      text = "minimum";
      break;
    case What::max:
      text = "maximum";
      break;
    case What::kind:
      return "kind of block";
  }
  return scale.log ? text + ", log" : text;
}

Rgb bar_colour(double t, What what) noexcept {
  constexpr double kSteps = 200;  // nobody sees more, and they leave room for others in a palette
  t = std::round(t * kSteps) / kSteps;
  return viridis(what == What::density ? 1 - t : t);
}

Rgb paper_colour(const Dot& dot, What what, const Scale& scale) noexcept {
  if (dot.state == Dot::State::absent) return kAbsent;
  if (dot.state == Dot::State::unknown) return kUnknown;
  if (dot.state == Dot::State::nan) return kNan;
  if (what == What::kind) return kind_colour(static_cast<BlockKind>(dot.value));
  if (what == What::density && dot.value <= 0) return kWhite;
  if (std::isinf(dot.value)) return dot.value > 0 ? kPlusInfinity : kMinusInfinity;
  const auto t = scale.at(dot.value);
  return t ? bar_colour(*t, what) : kWhite;
}

}  // namespace dapple::picture
