// A picture as a file for papers and pages: title, axes, colour bar.
#pragma once

#include <cstddef>
#include <string>

#include "colour.h"
#include "raster.h"

namespace dapple::picture {

struct FigureText {
  std::string title;           // UTF-8; any text, what XML would take for markup too
  std::string subtitle;        // a second, lighter line
  std::string short_subtitle;  // instead, where that is too long
  std::string legend;          // at the colour bar
};

/// How a figure is laid out, in pixels from its upper left corner.
struct FigureLayout {
  std::size_t width, height;  // of all; wider, up to `most`, where the texts need it
  std::size_t most;
  std::size_t left, top, across, down;  // of the picture inside
};

/// Leaves room for the texts; the picture has the window's shape, but at most 3 to 1. Without cells
/// it has no pixels.
FigureLayout figure_layout(std::size_t width, std::size_t height, const Region& window);

/// The picture, which has at most as many pixels as the layout has, as a PNG or SVG file. The SVG
/// holds it as an image; the rest is text and lines. Throws std::bad_alloc.
std::string png_figure(const Picture& picture, const Scale& scale, const FigureText& text,
                       const FigureLayout& layout);
std::string svg_figure(const Picture& picture, const Scale& scale, const FigureText& text,
                       const FigureLayout& layout);

}  // namespace dapple::picture
