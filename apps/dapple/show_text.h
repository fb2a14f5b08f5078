// What `show` prints around a picture, and how much of it there is room for with --size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "raster.h"

namespace dapple::cli {

/// "100000 x 20000, f32", and the window if it is not everything.
std::string shape_text(const std::variant<Matrix, Frame>& object, const Region& window);

/// "2 x 2 tiles of 3 x 2 (1 empty, 3 csr)".
std::string blocks_text(const BlockedObject& object);

/// "each character: 1250 rows x 250 columns"; nothing where it shows one cell at most.
std::string step_text(const picture::Picture& picture, bool halves);

/// Lines that each text around a picture may take; 0: it is left out.
struct AroundPicture {
  std::size_t title = 0, figures = 0, legend = 0, blocks = 0, step = 0;
  bool axes = false;
};

/// Lines and columns of the terminal.
struct TextSize {
  std::size_t columns, lines;
};

/// What fits into `all` beside a few lines of picture: as much as there is room for, in the order
/// of title, figures, axes, legend, blocks, step.
AroundPicture around_picture(TextSize all, std::string_view title, std::string_view blocks);

/// Lines that are left for the picture, axes included; at least one.
std::size_t picture_lines(TextSize all, const AroundPicture& around) noexcept;

/// `text` in at most `most` lines, none wider than `columns`, each with its line end; "..." or
/// "~" is in place of what does not fit.
std::string fitted(std::string_view text, std::size_t columns, std::size_t most);

/// The size of lines of text, of which colours take no room.
TextSize size_of_text(std::string_view lines);

}  // namespace dapple::cli
