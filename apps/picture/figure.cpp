#include "figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base64.h"
#include "font.h"
#include "image.h"
#include "ticks.h"

namespace dapple::picture {

namespace {

constexpr std::size_t kMargin = 16, kTick = 5, kBarWidth = 18, kBarGap = 18;
constexpr std::size_t kBarRoom = kBarGap + kBarWidth + 72 + kLineHeight;  // with its texts
constexpr std::size_t kKeyHeight = kLineHeight + 4;
constexpr std::size_t kHead = kMargin / 2 + 2 * kLineHeight;  // title and subtitle
constexpr std::size_t kTopRoom = kMargin + 3 * kLineHeight + kTick + 6;
constexpr Rgb kGrey{110, 116, 124};

/// What a figure is drawn with, whatever it becomes. Texts are given by their upper edge.
class Sheet {
 public:
  enum class Anchor : std::uint8_t { start, middle, end };
  virtual ~Sheet() = default;
  virtual void bar(std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                   Rgb colour) = 0;
  virtual void text(std::size_t x, std::size_t y, const std::string& text, Anchor anchor,
                    Rgb ink) = 0;
  virtual void text_up(std::size_t x, std::size_t y, const std::string& text, Rgb ink) = 0;
  virtual void picture(const Picture& picture, const Scale& scale, const FigureLayout& layout) = 0;
};

class PngSheet : public Sheet {
 public:
  explicit PngSheet(Image& image) : image_(image) {}
  void bar(std::size_t x, std::size_t y, std::size_t width, std::size_t height,
           Rgb colour) override {
    image_.fill(x, y, width, height, colour);
  }
  void text(std::size_t x, std::size_t y, const std::string& text, Anchor anchor,
            Rgb ink) override {
    const std::size_t width = text_width(text);
    const std::size_t before = anchor == Anchor::start    ? 0
                               : anchor == Anchor::middle ? width / 2
                                                          : width;
    image_.text(x - std::min(x, before), y, text, ink);
  }
  void text_up(std::size_t x, std::size_t y, const std::string& text, Rgb ink) override {
    image_.text_up(x, y, text, ink);
  }
  void picture(const Picture& picture, const Scale& scale, const FigureLayout& layout) override {
    for (std::size_t y = 0; y < layout.down; ++y) {
      const std::size_t row = y * picture.height() / layout.down;
      for (std::size_t x = 0; x < layout.across; ++x) {
        const Dot& dot = picture.at(row, x * picture.width() / layout.across);
        image_.set(layout.left + x, layout.top + y, paper_colour(dot, picture.what, scale));
      }
    }
  }

 private:
  Image& image_;
};

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return xml;
}

std::string hex(Rgb colour) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour.r, colour.g, colour.b);
  return text.data();
}

class SvgSheet : public Sheet {
 public:
  void bar(std::size_t x, std::size_t y, std::size_t width, std::size_t height,
           Rgb colour) override {
    body_ += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
             std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" fill=\"" +
             hex(colour) + "\"/>\n";
  }
  void text(std::size_t x, std::size_t y, const std::string& text, Anchor anchor,
            Rgb ink) override {
    constexpr std::string_view names[] = {"start", "middle", "end"};
    body_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y + 12) +
             "\" text-anchor=\"" + std::string(names[static_cast<std::size_t>(anchor)]) +
             "\" fill=\"" + hex(ink) + "\">" + escaped(text) + "</text>\n";
  }
  void text_up(std::size_t x, std::size_t y, const std::string& text, Rgb ink) override {
    body_ += "<text transform=\"translate(" + std::to_string(x + 12) + ' ' + std::to_string(y) +
             ") rotate(-90)\" fill=\"" + hex(ink) + "\">" + escaped(text) + "</text>\n";
  }
  void picture(const Picture& picture, const Scale& scale, const FigureLayout& layout) override {
    Image image(picture.width(), picture.height());
    for (std::size_t y = 0; y < picture.height(); ++y) {
      for (std::size_t x = 0; x < picture.width(); ++x) {
        image.set(x, y, paper_colour(picture.at(y, x), picture.what, scale));
      }
    }
    body_ += "<image x=\"" + std::to_string(layout.left) + "\" y=\"" + std::to_string(layout.top) +
             "\" width=\"" + std::to_string(layout.across) + "\" height=\"" +
             std::to_string(layout.down) +
             "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
             "href=\"data:image/png;base64," +
             base64(image.png()) + "\"/>\n";
  }
  std::string file(const FigureLayout& layout) const {
    const std::string size =
        std::to_string(layout.width) + "\" height=\"" + std::to_string(layout.height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
           std::to_string(layout.width) + ' ' + std::to_string(layout.height) +
           "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
           "<rect width=\"" +
           size + "\" fill=\"#ffffff\"/>\n" + body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

void draw_frame(Sheet& sheet, const FigureLayout& at) {
  sheet.bar(at.left - 1, at.top - 1, at.across + 2, 1, kInk);
  sheet.bar(at.left - 1, at.top + at.down, at.across + 2, 1, kInk);
  sheet.bar(at.left - 1, at.top, 1, at.down, kInk);
  sheet.bar(at.left + at.across, at.top, 1, at.down, kInk);
}

void draw_axes(Sheet& sheet, const Picture& picture, const FigureLayout& at) {
  for (const auto& tick : cell_ticks(picture.cols.cells(), at.across / 80 + 1)) {
    const std::size_t x = at.left + picture.cols.pixel_of(tick.at) * at.across / picture.width();
    sheet.bar(x, at.top - kTick, 1, kTick, kInk);
    sheet.text(x, at.top - kTick - kLineHeight, tick.text, Sheet::Anchor::middle, kInk);
  }
  for (const auto& tick : cell_ticks(picture.rows.cells(), at.down / 50 + 1)) {
    const std::size_t y = at.top + picture.rows.pixel_of(tick.at) * at.down / picture.height();
    sheet.bar(at.left - kTick, y, kTick, 1, kInk);
    sheet.text(at.left - kTick - 3, y - std::min(y, kLineHeight / 2), tick.text, Sheet::Anchor::end,
               kInk);
  }
}

/// As much of a text as fits: of a list whole parts, which commas divide, and a part of the first.
/// Dots say that there is more.
std::string fitted(std::string text, std::size_t width) {
  if (text_width(text) <= width) return text;
  constexpr std::string_view kMore = "...";
  while (text_width(text) + text_width(", ...") > width) {
    const std::size_t comma = text.rfind(", ");
    if (comma == std::string::npos) break;
    text.resize(comma);
    if (text.rfind('(') + 1 > text.rfind(')') + 1) text.resize(text.rfind(" ("));
  }
  if (text_width(text) + text_width(", ...") <= width) return text.append(", ...");
  const auto is_inside_character = [](char c) { return (c & 0xc0) == 0x80; };  // in UTF-8
  while (!text.empty() && text_width(text) + text_width(kMore) > width) {
    while (text.size() > 1 && is_inside_character(text.back())) text.pop_back();
    text.pop_back();
  }
  return text.append(kMore);
}

/// Colours that stand for one thing each, below each other.
std::size_t draw_key(Sheet& sheet, std::size_t x, std::size_t y, Rgb colour,
                     std::string_view what) {
  sheet.bar(x, y + 2, kBarWidth, 12, kGrey);
  sheet.bar(x + 1, y + 3, kBarWidth - 2, 10, colour);
  sheet.text(x + kBarWidth + 6, y, std::string(what), Sheet::Anchor::start, kInk);
  return y + kKeyHeight;
}

void draw_legend(Sheet& sheet, const Picture& picture, const Scale& scale, const FigureText& text,
                 const FigureLayout& at) {
  const std::size_t x = at.left + at.across + kBarGap;
  std::size_t y = at.top;
  const auto entries = legend_entries(picture);
  const std::size_t extra = kKeyHeight * entries.size();
  if (needs_scale(picture)) {
    const std::size_t down = at.down > extra + 40 ? at.down - extra : at.down;
    for (std::size_t i = 0; i < down; ++i) {
      const double t = 1 - (static_cast<double>(i) + 0.5) / static_cast<double>(down);
      sheet.bar(x, y + i, kBarWidth, 1, bar_colour(t, picture.what));
    }
    const auto [ticks, offset] = value_ticks(scale, std::clamp<std::size_t>(down / 50, 2, 10));
    if (!offset.empty()) {
      sheet.text(x, y - kLineHeight - kTick, offset, Sheet::Anchor::start, kInk);
    }
    for (const auto& tick : ticks) {
      const double t = scale.at(tick.at).value_or(0);
      const auto dy =
          static_cast<std::size_t>(std::lround((1 - t) * static_cast<double>(down - 1)));
      sheet.bar(x + kBarWidth, y + dy, kTick, 1, kInk);
      sheet.text(x + kBarWidth + kTick + 3, y + dy - kLineHeight / 2, tick.text,
                 Sheet::Anchor::start, kInk);
    }
    const std::string legend = fitted(text.legend, y + down - kHead);
    sheet.text_up(at.left + at.across + kBarRoom - kMargin / 2 - kLineHeight,
                  std::min(y + down, y + (down + text_width(legend)) / 2), legend, kGrey);
    y += down + 8;
  }
  for (const auto& [dot, what] : entries) {
    y = draw_key(sheet, x, y, paper_colour(dot, picture.what, scale), what);
  }
}

FigureLayout widened(FigureLayout layout, const FigureText& text) {
  const std::size_t needed =
      layout.left + std::max(text_width(text.title), text_width(text.subtitle)) + kMargin;
  layout.width = std::max(layout.width, std::min(layout.most, needed));
  return layout;
}

void draw(Sheet& sheet, const Picture& picture, const Scale& scale, const FigureText& text,
          const FigureLayout& layout) {
  const std::size_t room = layout.width - std::min(layout.width, layout.left);
  sheet.text(layout.left, kMargin / 2, fitted(text.title, room), Sheet::Anchor::start, kInk);
  const bool short_of_room = !text.short_subtitle.empty() && text_width(text.subtitle) > room;
  sheet.text(layout.left, kMargin / 2 + kLineHeight,
             fitted(short_of_room ? text.short_subtitle : text.subtitle, room),
             Sheet::Anchor::start, kGrey);
  if (layout.across > 0 && layout.down > 0 && !picture.dots.empty()) {
    sheet.picture(picture, scale, layout);
    draw_axes(sheet, picture, layout);
    draw_frame(sheet, layout);
    draw_legend(sheet, picture, scale, text, layout);
  }
}

}  // namespace

FigureLayout figure_layout(std::size_t width, std::size_t height, const Region& window) {
  FigureLayout layout{width, height, width, kMargin + kTick, kTopRoom, 0, 0};
  std::size_t labels = 0;
  for (const auto& tick : cell_ticks(window.rows, height / 50 + 1)) {
    labels = std::max(labels, text_width(tick.text));
  }
  layout.left += labels + 3;
  if (window.empty() || width < layout.left + kBarRoom + 16 || height < kTopRoom + kMargin + 16) {
    return layout;
  }
  constexpr double kFlattest = 3;
  const double shape =
      std::clamp(static_cast<double>(window.rows.size()) / static_cast<double>(window.cols.size()),
                 1 / kFlattest, kFlattest);
  const std::size_t across = width - layout.left - kBarRoom, down = height - kTopRoom - kMargin;
  layout.across = std::min(across, static_cast<std::size_t>(static_cast<double>(down) / shape));
  layout.down =
      std::min(down, static_cast<std::size_t>(static_cast<double>(layout.across) * shape));
  // Of a small matrix every cell is as large as every other.
  const auto whole = [](std::size_t pixels, std::uint64_t cells) {
    return cells < pixels / 2 ? pixels - pixels % cells : pixels;
  };
  layout.across = whole(layout.across, window.cols.size());
  layout.down = whole(layout.down, window.rows.size());
  layout.width -= across - layout.across;
  layout.height -= down - layout.down;
  return layout;
}

std::string png_figure(const Picture& picture, const Scale& scale, const FigureText& text,
                       const FigureLayout& given) {
  const FigureLayout layout = widened(given, text);
  Image image(layout.width, layout.height);
  PngSheet sheet(image);
  draw(sheet, picture, scale, text, layout);
  return image.png();
}

std::string svg_figure(const Picture& picture, const Scale& scale, const FigureText& text,
                       const FigureLayout& given) {
  const FigureLayout layout = widened(given, text);
  SvgSheet sheet;
  draw(sheet, picture, scale, text, layout);
  return sheet.file(layout);
}

}  // namespace dapple::picture
