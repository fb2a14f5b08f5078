// A picture as lines of text: coloured half blocks, or plain characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "colour.h"
#include "raster.h"

namespace dapple::picture {

/// How many colours a terminal has.
enum class Depth : std::uint8_t { none, palette, full };

/// What a terminal can show.
struct Terminal {
  std::size_t columns = 80, lines = 24;  // that the picture and its axes may take
  Depth depth = Depth::none;
  bool axes = true;  // are drawn
};

/// How a picture is placed on the terminal.
struct TextLayout {
  std::size_t labels = 0;              // columns of the row numbers on the left, if there are axes
  std::size_t width = 0, height = 0;   // pixels; none without cells
  std::size_t zoom_x = 1, zoom_y = 1;  // characters or half blocks for each, of a small matrix
};

/// The layout for a window of cells: of about its shape, but never so narrow or flat that nothing
/// could be seen: with axes that is at least 8 columns and 4 lines, whatever the terminal has.
TextLayout layout_for(const Terminal& terminal, const Region& window);

/// The picture, with its axes if they are wanted; every line ends in a line feed. REQUIRES a
/// picture of as many pixels as `layout_for` says.
std::string draw_text(const Picture& picture, const Scale& scale, const Terminal& terminal);

/// Explains the colours or characters, in more than one line where it is too long for one; `title`
/// says what they show.
std::string legend_lines(const Picture& picture, const Scale& scale, const Terminal& terminal,
                         std::string_view title);

}  // namespace dapple::picture
