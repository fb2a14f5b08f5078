// dapple show: a picture of a matrix or frame, on the terminal or as a PNG or SVG file.
#include <fmt/format.h>
#include <langinfo.h>

#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "choice.h"
#include "column_rules.h"
#include "counts.h"
#include "destination.h"
#include "figure.h"
#include "input.h"
#include "progress.h"
#include "publish.h"
#include "report.h"
#include "scan.h"
#include "selection.h"
#include "show_text.h"
#include "terminal.h"
#include "text.h"
#include "ticks.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

using picture::Depth;
using picture::What;

constexpr std::size_t kFigureWidth = 900, kFigureHeight = 800;
// Lines of a terminal besides the picture and its axis: what explains it, one that is folded, and
// the next prompt. In a narrow one more are folded.
constexpr std::size_t kTextAround = 7, kNarrow = 64, kMoreAround = 3;

enum class When : std::uint8_t { automatic, always, never };

constexpr std::pair<std::string_view, What> kWhatNames[] = {{"density", What::density},
                                                            {"mean", What::mean},
                                                            {"min", What::min},
                                                            {"max", What::max},
                                                            {"kind", What::kind}};
constexpr std::pair<std::string_view, bool> kScales[] = {{"linear", false}, {"log", true}};
constexpr std::pair<std::string_view, When> kWhens[] = {
    {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};

struct ShowFlags {
  std::optional<What> what;
  bool from_stats = false;
  picture::ScaleChoice scale;
  When colour = When::automatic;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> size;
  SelectionFlags window;
  Destination destination;
};

double parse_value(std::string_view flag, std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() ||
      !std::isfinite(value)) {
    throw UsageError(fmt::format("'{}' in {} is no finite number", printable(text), flag));
  }
  return value;
}

void take_value_range(std::string_view text, picture::ScaleChoice& scale) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw UsageError(fmt::format("--range takes LOW:HIGH, not '{}'", printable(text)));
  }
  const std::string_view low = text.substr(0, colon), high = text.substr(colon + 1);
  if (!low.empty()) scale.low = parse_value("--range", low);
  if (!high.empty()) scale.high = parse_value("--range", high);
  if (scale.low && scale.high && !(*scale.low < *scale.high)) {
    throw UsageError(
        fmt::format("--range takes LOW:HIGH with LOW < HIGH, not '{}'", printable(text)));
  }
}

void add_show_flags(Command& command, ShowFlags& flags) {
  command.section("choosing what is drawn");
  command.option(
      "--what", "WHAT",
      [&flags](const std::string& text) { flags.what = parse_choice("--what", text, kWhatNames); },
      "density (non-zeros per cell), mean, min, max, or kind (of the blocks); without it, density "
      "of what is mostly zeros, and the mean of anything else");
  command.option(
      "--rows", "A:B",
      [&flags](const std::string& text) { flags.window.rows = parse_range("--rows", text); },
      "rows A to B - 1; either side may be missing");
  command.option(
      "--cols", "A:B",
      [&flags](const std::string& text) { flags.window.cols = parse_range("--cols", text); },
      "columns A to B - 1; either side may be missing");
  command.flag("--from-stats", flags.from_stats,
               "read no cell: take what the index knows of each block");
  command.section("choosing how it looks");
  command.option(
      "--scale", "SCALE",
      [&flags](const std::string& text) {
        flags.scale.log = parse_choice("--scale", text, kScales);
      },
      "linear or log; without it, log for densities and counts that differ a lot");
  command.option(
      "--range", "LOW:HIGH",
      [&flags](const std::string& text) { take_value_range(text, flags.scale); },
      "the values that the first and the last colour stand for; either may be missing");
  command.option(
      "--color", "WHEN",
      [&flags](const std::string& text) { flags.colour = parse_choice("--color", text, kWhens); },
      "auto (on a terminal that has colours, unless NO_COLOR is set), always or never");
  command.option(
      "--size", "WxH",
      [&flags](const std::string& text) {
        flags.size = parse_pair("--size", text, 'x', "WxH");
        if (std::min(flags.size->first, flags.size->second) < 1 ||
            std::max(flags.size->first, flags.size->second) > 20000) {
          throw UsageError("--size takes numbers of 1 to 20000");
        }
      },
      "at most W columns x H lines with the text around the picture, of which less is printed the "
      "smaller they are; of a file, pixels; without it, what the terminal has, or 900x800 pixels");
  command.section("writing a file");
  command.option(
      "-o,--output", "OUT",
      [&flags](const std::string& text) { take_output(text, flags.destination); },
      "write a picture file; its name ends in .png or .svg");
  command.flag("--force", flags.destination.force, "replace OUT if it exists");
}

Depth depth_of(When when, const Output& out) {
  if (when == When::never) return Depth::none;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (when == When::automatic) {
    std::setlocale(LC_CTYPE, "");
    const bool utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    if (!out.is_terminal() || !utf8 || !variable("NO_COLOR").empty() ||
        variable("TERM") == "dumb") {
      return Depth::none;
    }
  }
  const std::string_view term = variable("COLORTERM");
  return term == "truecolor" || term == "24bit" ? Depth::full : Depth::palette;
}

/// What is drawn.
struct Subject {
  const std::variant<Matrix, Frame>& object;
  std::string file;
  Region window;
  What what;
};

struct Drawn {
  picture::Picture picture;
  std::optional<picture::Pixel> total;  // sums of all that it shows, where they are known
  bool from_counts = false;             // of stored values, which the index knows
};

Drawn draw_counts(const Subject& subject, const picture::BlocksIn& blocks, picture::Raster raster) {
  picture::draw_counts(blocks, raster);
  const picture::Pixel total = raster.total();
  const bool counted = picture::is_counted(subject.object, raster);
  if (subject.what != What::density && counted) {
    throw Error(Errc::unsupported, subject.file, std::nullopt,
                fmt::format("it has no statistics that tell the {}; leave out --from-stats to read "
                            "the cells, or write statistics beside it: dapple index --stats {}",
                            picture::legend_text(subject.what, {}, true), printable(subject.file)));
  }
  return {picture::picture_of(raster, subject.what), total, counted};
}

Drawn draw_picture(const Subject& subject, std::size_t width, std::size_t height, bool from_stats,
                   const Console& console) {
  const picture::BlocksIn blocks(base(subject.object));
  auto rows = picture::Axis::fit(subject.window.rows, std::max<std::size_t>(height, 1));
  auto cols = picture::Axis::fit(subject.window.cols, std::max<std::size_t>(width, 1));
  if (subject.what == What::kind) {
    return {picture::draw_kinds(blocks, std::move(rows), std::move(cols)), std::nullopt};
  }
  picture::Raster raster(std::move(rows), std::move(cols));
  if (from_stats) return draw_counts(subject, blocks, std::move(raster));
  Progress progress(printable(subject.file), console.quiet);
  picture::ScanOptions options{
      subject.file, console.threads,
      [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); }};
  picture::draw_cells(subject.object, blocks, raster, options);
  return {picture::picture_of(raster, subject.what), raster.total()};
}

/// What people ask first of the cells shown.
std::string figures_text(const Subject& subject, const picture::Pixel& total, bool from_counts,
                         bool short_names = false) {
  if (total.cells <= 0) return "no cell is stored";
  std::string text = fmt::format("{} {:.0f} ({:.4g} %)", from_counts ? "stored" : "non-zero",
                                 total.nonzero, 100 * total.nonzero / total.cells);
  const bool rules = picture::needs_rules(subject.object, subject.window.cols);
  const bool all_known = rules ? !from_counts : total.known >= total.cells;
  if (all_known && total.known > total.nan) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const double mean = total.sum / (total.known - total.nan);
    text += fmt::format(", mean {:.6g}, {} {:.6g}, {} {:.6g}",
                        std::isnan(mean) ? kNaN : mean,  // no -nan
                        short_names ? "min" : "minimum", total.minimum(),
                        short_names ? "max" : "maximum", total.maximum());
  }
  if (total.nan > 0) text += fmt::format(", NaN {:.0f}", total.nan);
  if (rules && !from_counts && total.known < total.cells) {
    text += "; words and times are no numbers";
  }
  return text;
}

std::string title_text(const Subject& subject) {
  return fmt::format("{}: {}", printable(subject.file), shape_text(subject.object, subject.window));
}

constexpr std::string_view kNoCells = "no cells, so there is nothing to draw";

/// In at most as many columns and lines as `size` has.
void show_in(TextSize size, const Subject& subject, const ShowFlags& flags, Console& console) {
  const std::string title = title_text(subject), blocks = blocks_text(base(subject.object));
  if (subject.window.empty()) {
    const std::string_view texts[] = {title, blocks, kNoCells};
    for (std::size_t i = 0; i < std::min(std::size(texts), size.lines); ++i) {
      console.out.write(fitted(texts[i], size.columns, 1));
    }
    return;
  }
  const AroundPicture around = around_picture(size, title, blocks);
  picture::Terminal terminal{size.columns, picture_lines(size, around),
                             depth_of(flags.colour, console.out), around.axes};
  picture::TextLayout layout = picture::layout_for(terminal, subject.window);
  if (terminal.axes && layout.labels + 1 + layout.width * layout.zoom_x > size.columns) {
    terminal.axes = false;
    layout = picture::layout_for(terminal, subject.window);
  }
  const Drawn drawn = draw_picture(subject, layout.width, layout.height, flags.from_stats, console);
  const picture::Scale scale =
      picture::scale_for(drawn.picture, flags.scale, picture::holds_counts(subject.object));
  std::string before = fitted(title, size.columns, around.title), after;
  before += fitted(blocks, size.columns, around.blocks);
  before += picture::draw_text(drawn.picture, scale, terminal);
  if (drawn.total) {
    after = fitted(figures_text(subject, *drawn.total, drawn.from_counts, true), size.columns,
                   around.figures);
  }
  after +=
      fitted(step_text(drawn.picture, terminal.depth != Depth::none), size.columns, around.step);
  const std::string legend = picture::legend_lines(
      drawn.picture, scale, terminal, picture::legend_text(subject.what, scale, drawn.from_counts));
  const TextSize wanted = size_of_text(legend);
  const std::size_t left = size.lines - size_of_text(before).lines - size_of_text(after).lines;
  const bool fits = wanted.columns <= size.columns && wanted.lines <= left;
  console.out.write(before + (fits ? legend : "") + after);
}

void show_as_text(const Subject& subject, const ShowFlags& flags, Console& console) {
  Output& out = console.out;
  if (flags.size) return show_in({flags.size->first, flags.size->second}, subject, flags, console);
  picture::Terminal terminal{out.width(), out.height(), depth_of(flags.colour, out)};
  const std::size_t around = kTextAround + (terminal.columns < kNarrow ? kMoreAround : 0);
  terminal.lines -= std::min(terminal.lines, around);
  const picture::TextLayout layout = picture::layout_for(terminal, subject.window);
  const Drawn drawn = draw_picture(subject, layout.width, layout.height, flags.from_stats, console);
  const picture::Scale scale =
      picture::scale_for(drawn.picture, flags.scale, picture::holds_counts(subject.object));
  const auto say_line = [&](const std::string& line) { out.write(folded(line, out.width())); };
  say_line(title_text(subject));
  say_line(blocks_text(base(subject.object)));
  if (subject.window.empty()) return say_line(std::string(kNoCells));
  out.write(picture::draw_text(drawn.picture, scale, terminal));
  out.write(picture::legend_lines(drawn.picture, scale, terminal,
                                  picture::legend_text(subject.what, scale, drawn.from_counts)));
  if (drawn.total) say_line(figures_text(subject, *drawn.total, drawn.from_counts));
  const std::string step = step_text(drawn.picture, terminal.depth != Depth::none);
  if (!step.empty()) say_line(step);
}

void show_as_file(const Subject& subject, const ShowFlags& flags, const Console& console) {
  const auto size = flags.size.value_or(std::pair{kFigureWidth, kFigureHeight});
  const picture::FigureLayout layout =
      picture::figure_layout(size.first, size.second, subject.window);
  const Drawn drawn = draw_picture(subject, layout.across, layout.down, flags.from_stats, console);
  const picture::Scale scale =
      picture::scale_for(drawn.picture, flags.scale, picture::holds_counts(subject.object));
  picture::FigureText text{
      title_text(subject), {}, {}, picture::legend_text(subject.what, scale, drawn.from_counts)};
  if (drawn.total) {
    text.short_subtitle = figures_text(subject, *drawn.total, drawn.from_counts, true);
  }
  text.subtitle = drawn.total ? figures_text(subject, *drawn.total, drawn.from_counts)
                              : blocks_text(base(subject.object));
  const bool svg = has_ending(flags.destination.path, ".svg");
  publish(flags.destination, svg ? picture::svg_figure(drawn.picture, scale, text, layout)
                                 : picture::png_figure(drawn.picture, scale, text, layout));
}

void show(const Subject& subject, const ShowFlags& flags, Console& console) {
  if (flags.destination.path.empty()) {
    show_as_text(subject, flags, console);
  } else {
    show_as_file(subject, flags, console);
  }
}

int run_show(const Arguments& arguments, Console& console) {
  Input input;
  ShowFlags flags;
  Command command(kShowVerb);
  add_input(command, input);
  add_show_flags(command, flags);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  const std::string& path = flags.destination.path;
  if (!path.empty()) {
    if (!has_ending(path, ".png") && !has_ending(path, ".svg")) {
      throw UsageError(
          fmt::format("-o takes a name that ends in .png or .svg, not '{}'", printable(path)));
    }
    require_replaceable(flags.destination);
  } else if (flags.destination.force) {
    throw UsageError("--force is about a file: name it with -o OUT");
  }
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  show({object, input.name(), resolve_window(flags.window, base(object), input.name()),
        flags.what.value_or(picture::default_what(base(object)))},
       flags, console);
  return kDone;
}

}  // namespace

const Verb kShowVerb = {
    "show",
    "FILE",
    "a picture, on the terminal or as a file",
    "Every pixel or character sums up the cells under it. Densities are drawn on\n"
    "a logarithmic scale; NaN, and cells that no block covers, have a colour of their own.\n",
    "  dapple show ratings.dbdf\n"
    "  dapple show ratings.dbdf --what max --rows 0:1000\n"
    "  dapple show ratings.dbdf --what kind\n"
    "  dapple show ratings.dbdf --from-stats -o ratings.png --size 1200x900\n",
    run_show};

}  // namespace dapple::cli
