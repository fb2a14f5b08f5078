#include "show_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "input.h"
#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::size_t kLeastPicture = 4;  // lines that no text takes from a picture
constexpr std::size_t kAxis = 2;          // lines of column numbers, and of the marks below them
constexpr std::size_t kLeastText = 16;    // columns, of which fewer hold no sentence
// Figures and legends are known when the picture is; in a narrow room most take two lines.
constexpr std::size_t kTight = 64;

std::size_t lines_of(std::string_view text, std::size_t columns) {
  return size_of_text(fitted(text, columns, 2)).lines;
}

std::string type_text(const std::variant<Matrix, Frame>& object) {
  const auto* matrix = std::get_if<Matrix>(&object);
  return matrix != nullptr ? std::string(name(matrix->value_type())) : "frame";
}

std::string range_text(Range range) { return fmt::format("{}:{}", range.begin, range.end); }

}  // namespace

std::string shape_text(const std::variant<Matrix, Frame>& object, const Region& window) {
  const BlockedObject& o = base(object);
  std::string text = fmt::format("{} x {}, {}", o.rows(), o.cols(), type_text(object));
  if (window.rows != Range{0, o.rows()}) text += ", rows " + range_text(window.rows);
  if (window.cols != Range{0, o.cols()}) text += ", columns " + range_text(window.cols);
  return text;
}

std::string blocks_text(const BlockedObject& object) {
  const BlockCounts counts = object.counts();
  if (counts.total == 0) return "no blocks";
  const auto grid = object.grid();
  const std::string kinds = kinds_text(counts);
  if (counts.total == 1) return fmt::format("1 block ({})", kinds.substr(2));
  return grid ? fmt::format("{} x {} tiles of {} x {} ({})", grid->rows, grid->cols,
                            grid->tile.rows, grid->tile.cols, kinds)
              : fmt::format("{} blocks ({})", counts.total, kinds);
}

std::string step_text(const picture::Picture& picture, bool halves) {
  const auto size = [](const picture::Axis& axis, std::string_view noun) {
    const double cells =
        static_cast<double>(axis.cells().size()) / static_cast<double>(axis.pixels());
    const std::string number =
        cells < 1000 ? fmt::format("{:.4g}", cells) : fmt::format("{:.0f}", cells);
    return fmt::format("{} {}{}", number, noun, cells == 1 ? "" : "s");
  };
  if (picture.dots.empty() || (picture.rows.pixels() == picture.rows.cells().size() &&
                               picture.cols.pixels() == picture.cols.cells().size())) {
    return {};
  }
  return fmt::format("each {}: {} x {}", halves ? "half block" : "character",
                     size(picture.rows, "row"), size(picture.cols, "column"));
}

AroundPicture around_picture(TextSize all, std::string_view title, std::string_view blocks) {
  std::size_t room = all.lines - std::min(all.lines, kLeastPicture);
  if (all.columns < kLeastText) room = 0;
  const auto take = [&](std::size_t lines) {
    if (lines > room) room = lines = 0;  // nothing that is wanted less comes instead
    room -= lines;
    return lines;
  };
  const std::size_t unknown = all.columns < kTight ? 2 : 1;
  AroundPicture around;
  around.title = take(lines_of(title, all.columns));
  around.figures = take(unknown);
  around.axes = take(kAxis) > 0;
  around.legend = take(unknown);
  around.blocks = take(lines_of(blocks, all.columns));
  around.step = take(1);
  return around;
}

std::size_t picture_lines(TextSize all, const AroundPicture& around) noexcept {
  return all.lines - around.title - around.figures - around.legend - around.blocks - around.step;
}

std::string fitted(std::string_view text, std::size_t columns, std::size_t most) {
  std::string lines;
  for (std::size_t line = 1; line <= most && !text.empty(); ++line) {
    const std::string rest = folded(std::string(text), columns);
    const std::size_t end = line == most ? text.size() : rest.find('\n');
    lines += shortened(text.substr(0, end), columns) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

TextSize size_of_text(std::string_view lines) {
  TextSize size{0, 0};
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string line(lines.substr(0, end));
    for (std::size_t at = 0; (at = line.find('\x1b', at)) != std::string::npos;) {
      line.erase(at, line.find('m', at) - at + 1);
    }
    size.columns = std::max(size.columns, display_width(line));
    ++size.lines;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return size;
}

}  // namespace dapple::cli
