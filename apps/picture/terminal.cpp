#include "terminal.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ticks.h"

namespace dapple::picture {

namespace {

// Characters from light to dark, which are also told apart without their brightness.
constexpr std::string_view kShades = ".:-=+*#%@";
constexpr std::string_view kKindLetters = ".DRC";  // empty, dense, CSR (rows), COO (coordinates)
constexpr std::string_view kUpperHalf = "\xe2\x96\x80", kLowerHalf = "\xe2\x96\x84";
constexpr std::size_t kMostZoom = 8;  // pixels for one cell of a small matrix, each way
constexpr std::size_t kTickGap = 10;  // columns from one label to the next
constexpr std::size_t kLineGap = 4;   // lines

// What 256 colours have of viridis: the nearest of each step, without those that would be darker
// than the step before.
constexpr Rgb kPaletteRamp[] = {{95, 0, 95},    {95, 0, 135},   {95, 95, 135}, {0, 135, 135},
                                {0, 175, 135},  {95, 175, 135}, {95, 215, 95}, {135, 215, 95},
                                {175, 215, 95}, {215, 215, 0},  {255, 215, 0}};

/// What a pixel looks like: a colour, or nothing but the terminal's background.
using Colour = std::optional<Rgb>;

Rgb ramp_colour(double t, Depth depth) {
  if (depth == Depth::full) return viridis(t);
  constexpr std::size_t kSteps = std::size(kPaletteRamp);
  return kPaletteRamp[std::min(kSteps - 1, static_cast<std::size_t>(t * kSteps))];
}

Colour screen_colour(const Dot& dot, What what, const Scale& scale, Depth depth) {
  if (dot.state == Dot::State::nan) return kNan;
  if (dot.state != Dot::State::number) return Rgb{96, 96, 96};
  if (what == What::kind) {
    const auto kind = static_cast<BlockKind>(dot.value);
    return kind == BlockKind::empty ? Colour() : kind_colour(kind);
  }
  if (what == What::density && dot.value <= 0) return std::nullopt;
  if (std::isinf(dot.value)) return dot.value > 0 ? kPlusInfinity : kMinusInfinity;
  const auto t = scale.at(dot.value);
  return t ? Colour(ramp_colour(*t, depth)) : std::nullopt;
}

char character(const Dot& dot, What what, const Scale& scale) {
  if (dot.state == Dot::State::nan) return 'N';
  if (dot.state != Dot::State::number) return '?';
  if (what == What::kind) return kKindLetters[static_cast<std::size_t>(dot.value)];
  if (what == What::density && dot.value <= 0) return ' ';
  if (std::isinf(dot.value)) return dot.value > 0 ? '^' : 'v';
  const auto t = scale.at(dot.value);
  if (!t) return ' ';
  const auto shade = static_cast<std::size_t>(*t * static_cast<double>(kShades.size()));
  return kShades[std::min(shade, kShades.size() - 1)];
}

/// The nearest of the 216 colours that every palette of 256 has.
std::size_t palette_number(Rgb colour) {
  const auto nearest = [](std::uint8_t channel) -> std::size_t {
    constexpr std::array<int, 6> levels = {0, 95, 135, 175, 215, 255};
    std::size_t best = 0;
    for (std::size_t i = 1; i < levels.size(); ++i) {
      if (std::abs(levels[i] - channel) < std::abs(levels[best] - channel)) best = i;
    }
    return best;
  };
  return 16 + 36 * nearest(colour.r) + 6 * nearest(colour.g) + nearest(colour.b);
}

/// Writes coloured half blocks; colours are set only where they change.
class Pen {
 public:
  Pen(std::string& text, Depth depth) : text_(text), depth_(depth) {}

  void halves(const Colour& upper, const Colour& lower) {
    if (!upper && lower) {
      set(back_, std::nullopt, 48);
      set(front_, lower, 38);
      text_ += kLowerHalf;
    } else {
      set(back_, lower, 48);
      if (upper) set(front_, upper, 38);
      text_ += upper ? kUpperHalf : " ";
    }
  }
  void end() {
    if (front_ || back_) text_ += "\x1b[0m";
    front_ = back_ = std::nullopt;
  }

 private:
  /// `code` is that of the layer: 38 characters, 48 their background.
  void set(Colour& current, const Colour& wanted, int code) {
    if (current == wanted) return;
    current = wanted;
    if (!wanted) {
      text_ += "\x1b[" + std::to_string(code + 1) + 'm';  // the terminal's own
    } else if (depth_ == Depth::full) {
      text_ += "\x1b[" + std::to_string(code) + ";2;" + std::to_string(wanted->r) + ';' +
               std::to_string(wanted->g) + ';' + std::to_string(wanted->b) + 'm';
    } else {
      text_ +=
          "\x1b[" + std::to_string(code) + ";5;" + std::to_string(palette_number(*wanted)) + 'm';
    }
  }

  std::string& text_;
  Depth depth_;
  Colour front_, back_;
};

std::size_t rounded(double value, std::size_t least, std::size_t most) {
  return std::clamp(static_cast<std::size_t>(std::min(value, 1e9)), least, std::max(least, most));
}

/// The line of column numbers, and the marks below it.
std::string head_lines(const Picture& picture, const TextLayout& layout, std::size_t columns) {
  const std::size_t width = layout.width * layout.zoom_x;
  std::string numbers, marks;
  for (const auto& tick : cell_ticks(picture.cols.cells(), width / kTickGap + 1)) {
    const std::size_t x = layout.labels + 1 + picture.cols.pixel_of(tick.at) * layout.zoom_x;
    if (x < numbers.size() + !numbers.empty() || x + tick.text.size() > columns) continue;
    numbers.resize(x, ' ');
    numbers += tick.text;
    marks.resize(x, ' ');
    marks += '|';
  }
  return numbers + '\n' + marks + '\n';
}

}  // namespace

TextLayout layout_for(const Terminal& terminal, const Region& window) {
  TextLayout layout;
  if (window.empty()) return layout;
  // A half block is about square, a character twice as high as it is wide.
  const std::size_t per_line = terminal.depth == Depth::none ? 1 : 2;
  std::size_t lines = std::max<std::size_t>(terminal.lines, 1);
  std::size_t room = std::max<std::size_t>(terminal.columns, 1);
  if (terminal.axes) {
    lines = lines > 6 ? lines - 2 : 4;
    for (const auto& tick : cell_ticks(window.rows, lines / kLineGap + 1)) {
      layout.labels = std::max(layout.labels, tick.text.size());
    }
    room = room > layout.labels + 9 ? room - layout.labels - 1 : 8;
  }
  const double shape =
      static_cast<double>(window.rows.size()) / static_cast<double>(window.cols.size());
  const std::size_t halves = 2 * lines;
  const std::size_t high = rounded(static_cast<double>(room) * shape, halves / 2, halves);
  const std::size_t wide =
      rounded(static_cast<double>(high) / shape, std::max<std::size_t>(room / 2, 1), room);
  const std::size_t deep = std::max<std::size_t>(1, high * per_line / 2);
  layout.width = std::min<std::uint64_t>(wide, window.cols.size());
  layout.height = std::min<std::uint64_t>(deep, window.rows.size());
  layout.zoom_x = std::min(kMostZoom, wide / layout.width);
  layout.zoom_y = std::min(kMostZoom * per_line / 2, deep / layout.height);
  return layout;
}

std::string draw_text(const Picture& picture, const Scale& scale, const Terminal& terminal) {
  const TextLayout layout = layout_for(terminal, {picture.rows.cells(), picture.cols.cells()});
  if (layout.width == 0) return {};
  std::string text;
  if (terminal.axes) text = head_lines(picture, layout, terminal.columns);
  const bool plain = terminal.depth == Depth::none;
  const std::size_t per_line = plain ? 1 : 2, high = layout.height * layout.zoom_y;
  const std::size_t lines = (high + per_line - 1) / per_line;
  const auto ticks =
      cell_ticks(picture.rows.cells(), std::max<std::size_t>(2, lines / kLineGap + 1));
  auto tick = ticks.begin();
  Pen pen(text, terminal.depth);
  for (std::size_t y = 0; y < high; y += per_line) {
    const std::size_t row = y / layout.zoom_y;
    const std::size_t below = (y + per_line - 1) / layout.zoom_y;  // of the lower half
    std::string label;
    while (tick != ticks.end() && picture.rows.pixel_of(tick->at) <= below) {
      if (label.empty() && picture.rows.pixel_of(tick->at) >= row) label = tick->text;
      ++tick;
    }
    if (terminal.axes) {
      text += std::string(layout.labels - std::min(layout.labels, label.size()), ' ') + label + ' ';
    }
    std::string line;
    for (std::size_t x = 0; x < layout.width * layout.zoom_x; ++x) {
      const Dot& upper = picture.at(row, x / layout.zoom_x);
      if (plain) {
        line += character(upper, picture.what, scale);
      } else {
        const auto colour = [&](const Dot& dot) {
          return screen_colour(dot, picture.what, scale, terminal.depth);
        };
        pen.halves(colour(upper),
                   below < layout.height ? colour(picture.at(below, x / layout.zoom_x)) : Colour());
      }
    }
    // Blanks at a line's end are kept where colours are: they end with the picture.
    text += line.substr(0, line.find_last_not_of(' ') + 1);
    pen.end();
    text += '\n';
  }
  return text;
}

std::string legend_lines(const Picture& picture, const Scale& scale, const Terminal& terminal,
                         std::string_view title) {
  constexpr std::size_t kBar = 22;
  const bool plain = terminal.depth == Depth::none;
  std::string text(title);
  Pen pen(text, terminal.depth);
  std::size_t used = title.size();  // columns of the line
  const auto separate = [&](std::size_t columns) {
    const bool fits = used + 2 + columns <= terminal.columns;
    text += fits ? "  " : "\n";
    used = columns + (fits ? used + 2 : 0);
  };
  if (needs_scale(picture)) {
    const auto [low, high] = end_texts(scale);
    const std::size_t bar = plain ? kShades.size() : kBar;
    separate(low.size() + bar + high.size() + 2);
    text += low + ' ';
    if (plain) {
      text += kShades;
    } else {
      for (std::size_t x = 0; x < bar; ++x) {
        const Rgb colour = ramp_colour((static_cast<double>(x) + 0.5) / kBar, terminal.depth);
        pen.halves(colour, colour);
      }
      pen.end();
    }
    text += ' ' + high;
  }
  for (const auto& [dot, what] : legend_entries(picture)) {
    separate(2 + what.size());
    if (plain) {
      text += character(dot, picture.what, scale);
    } else {
      const Colour colour = screen_colour(dot, picture.what, scale, terminal.depth);
      pen.halves(colour, colour);
      pen.end();
    }
    text.append(" ").append(what);
  }
  return text + '\n';
}

}  // namespace dapple::picture
