// Pictures, drawn as `dapple show` does: as arrays for NumPy, and as SVG for notebooks.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "at_work.h"
#include "choice.h"
#include "column_rules.h"
#include "core.h"
#include "counts.h"
#include "figure.h"
#include "interruptible.h"
#include "numpy_api.h"
#include "scan.h"

namespace pydapple {

namespace {

using dapple::Range;
using dapple::Region;
using dapple::ValueType;
using dapple::picture::Axis;
using dapple::picture::base;
using dapple::picture::BlocksIn;
using dapple::picture::Dot;
using dapple::picture::Object;
using dapple::picture::Raster;
using dapple::picture::Scale;
using dapple::picture::What;

// Cells and blocks from which drawing takes so long that Ctrl-C must be seen meanwhile.
constexpr double kLongDrawing = 1 << 22;
constexpr std::uint64_t kManyBlocks = 1 << 18;

/// Where a picture's numbers are from.
enum class Source : std::uint8_t { cells, statistics, index, samples };
constexpr const char* kSources[] = {"cells", "statistics", "index", "samples"};

struct Drawing {
  dapple::picture::Picture picture;
  Source source;
  bool counts;  // its cells count something

  Scale scale(const dapple::picture::ScaleChoice& choice = {}) const {
    return dapple::picture::scale_for(picture, choice, counts);
  }
  std::string legend(const Scale& scale) const {
    return dapple::picture::legend_text(picture.what, scale, source == Source::index);
  }
};

/// What is drawn, and how many pixels it has at most.
struct Subject {
  Object object;
  std::string file;
  Region window;
  What what;
  std::size_t down, across;

  Axis rows() const { return Axis::fit(window.rows, down); }
  Axis cols() const { return Axis::fit(window.cols, across); }
  Drawing drawing(const Raster& raster, Source source) const {
    return {dapple::picture::picture_of(raster, what), source,
            dapple::picture::holds_counts(object)};
  }
};

double cells_in(const Region& region) {
  return static_cast<double>(region.rows.size()) * static_cast<double>(region.cols.size());
}

/// What those who read cells and the one who waits for them tell each other.
struct Watch {
  std::atomic<std::uint64_t> done{0}, total{0};
  std::atomic<bool> given_up{false};

  void operator()(std::uint64_t now, std::uint64_t all) {
    if (given_up) throw dapple::Error(dapple::Errc::invalid_argument, "nobody waits any longer");
    done = now;
    total = all;
  }
};

Drawing draw_kinds(const Subject& subject) {
  const BlocksIn blocks(base(subject.object));
  return {dapple::picture::draw_kinds(blocks, subject.rows(), subject.cols()), Source::index,
          false};
}

Drawing draw_cells(const Subject& subject, unsigned threads,
                   const dapple::TakeProgress& progress = {}) {
  const BlocksIn blocks(base(subject.object));
  Raster raster(subject.rows(), subject.cols());
  dapple::picture::draw_cells(subject.object, blocks, raster, {subject.file, threads, progress});
  return subject.drawing(raster, Source::cells);
}

/// From statistics, or what blocks store; nothing where these do not tell what is drawn.
std::optional<Drawing> draw_counts(const Subject& subject) {
  const BlocksIn blocks(base(subject.object));
  Raster raster(subject.rows(), subject.cols());
  dapple::picture::draw_counts(blocks, raster);
  const bool counted = dapple::picture::is_counted(subject.object, raster);
  if (counted && subject.what != What::density) return std::nullopt;
  return subject.drawing(raster, counted ? Source::index : Source::statistics);
}

[[noreturn]] void fail_without_stats(const Subject& subject) {
  const std::string what = dapple::picture::legend_text(subject.what, {}, true);
  std::string detail = "it has no statistics that tell the " + what;
  if (dapple::picture::needs_rules(subject.object, subject.window.cols)) {
    detail = "statistics of columns with words, times or missing cells do not tell the " + what;
  } else if (base(subject.object).format() == "dbdf") {
    detail += ", which pydapple.index(path, statistics=True) makes";
  }
  throw dapple::Error(dapple::Errc::unsupported, subject.file, std::nullopt,
                      detail + "; leave out from_stats to read the cells");
}

Subject subject_of(const Handle& handle, std::string file, std::optional<int> what,
                   std::size_t down, std::size_t across) {
  Object object = variant_of(handle);
  const dapple::BlockedObject& o = base(object);
  const Region all{{0, o.rows()}, {0, o.cols()}};
  const WithoutGil release;
  const What chosen = what ? static_cast<What>(*what) : dapple::picture::default_what(o);
  return {std::move(object), std::move(file), all, chosen, down, across};
}

/// REQUIRES bounds inside the object, and at least one pixel each way.
Drawing draw(const Handle& handle, std::string file, std::optional<int> what,
             std::pair<std::uint64_t, std::uint64_t> rows,
             std::pair<std::uint64_t, std::uint64_t> cols, std::size_t down, std::size_t across,
             bool from_stats, Threads threads, nb::object progress) {
  const unsigned at_once = threads;
  Subject subject = subject_of(handle, std::move(file), what, down, across);
  subject.window = {{rows.first, rows.second}, {cols.first, cols.second}};
  const bool is_long =
      !progress.is_none() || base(subject.object).blocks().size() >= kManyBlocks ||
      (!from_stats && subject.what != What::kind && cells_in(subject.window) >= kLongDrawing);
  const auto watch = std::make_shared<Watch>();
  auto work = [subject = std::move(subject), from_stats, at_once, watch] {
    if (subject.what == What::kind) return draw_kinds(subject);
    if (!from_stats) {
      return draw_cells(subject, at_once,
                        [watch](std::uint64_t done, std::uint64_t all) { (*watch)(done, all); });
    }
    auto drawn = draw_counts(subject);
    if (!drawn) fail_without_stats(subject);
    return *std::move(drawn);
  };
  const auto report = [&] {
    if (!progress.is_none() && watch->total != 0) progress(watch->done.load(), watch->total.load());
  };
  try {
    Drawing drawn = interruptible(is_long, std::move(work), report);
    report();
    return drawn;
  } catch (...) {
    watch->given_up = true;
    throw;
  }
}

// What is drawn by itself, in a tenth of a second or two: bytes of blocks that are read, and of
// those of formats that store no cells as such; cells of columns that are not plain numbers;
// blocks.
constexpr std::uint64_t kMostRead = std::uint64_t{64} << 20, kMostDecoded = kMostRead / 4;
constexpr double kMostRuled = 1 << 24;
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 21;
// Samples each way.
constexpr std::size_t kSamples = 24;

/// A picture, or why nothing is drawn. `is_plain`: single cells are found quickly.
std::pair<std::optional<Drawing>, std::string> glance_at(Subject subject, bool is_plain) {
  const dapple::BlockedObject& o = base(subject.object);
  if (subject.window.empty()) return {std::nullopt, "there are no cells"};
  const std::uint64_t total = o.blocks().size();
  if (total > kMostBlocks) {
    return {std::nullopt, "its " + std::to_string(total) +
                              " blocks are too many to look at in passing; picture() does"};
  }
  const BlocksIn blocks(o);
  const bool has_rules = dapple::picture::needs_rules(subject.object, subject.window.cols);
  const std::uint64_t most = is_plain || o.format() == "dbdf" ? kMostRead : kMostDecoded;
  if ((!has_rules || cells_in(subject.window) <= kMostRuled) &&
      is_quick_to_read(blocks, subject.window, most)) {
    return {draw_cells(subject, 1), {}};
  }
  if (auto drawn = draw_counts(subject)) return {std::move(drawn), {}};
  if (has_rules || !is_plain) {
    return {std::nullopt,
            "it is large, and no statistics tell what it holds; picture() reads all of it"};
  }
  subject.down = subject.across = kSamples;
  Raster raster(subject.rows(), subject.cols());
  draw_samples(subject.object, blocks, raster);
  return {subject.drawing(raster, Source::samples), {}};
}

/// A picture that is drawn in a moment, and as fine as a figure of that size shows, or why there is
/// none.
nb::object glance(const Handle& handle, std::string file, std::size_t width, std::size_t height) {
  const auto* const matrix = dynamic_cast<const MatrixHandle*>(&handle);
  const bool is_plain = matrix != nullptr && matrix->is_quick();
  Subject subject = subject_of(handle, std::move(file), std::nullopt, 1, 1);
  const auto layout = dapple::picture::figure_layout(width, height, subject.window);
  subject.down = std::max<std::size_t>(layout.down, 1);
  subject.across = std::max<std::size_t>(layout.across, 1);
  auto [drawn, why_not] = [&] {
    const WithoutGil release;
    return glance_at(std::move(subject), is_plain);
  }();
  return drawn ? nb::cast(*std::move(drawn)) : nb::cast(why_not);
}

nb::object values_of(const Drawing& drawing) {
  nb::object array = new_array(drawing.picture.height(), drawing.picture.width(), ValueType::f64);
  auto* to = static_cast<double*>(data_of(array));
  for (const Dot& dot : drawing.picture.dots) {
    *to++ = dot.state == Dot::State::number ? dot.value : std::numeric_limits<double>::quiet_NaN();
  }
  return array;
}

nb::object states_of(const Drawing& drawing) {
  nb::object array = new_array(drawing.picture.height(), drawing.picture.width(), ValueType::u8);
  auto* to = static_cast<std::uint8_t*>(data_of(array));
  for (const Dot& dot : drawing.picture.dots) *to++ = static_cast<std::uint8_t>(dot.state);
  return array;
}

nb::object edges_of(const Axis& axis) {
  nb::object array = new_array(axis.pixels() + 1, ValueType::i64);
  auto* to = static_cast<std::int64_t*>(data_of(array));
  for (std::size_t p = 0; p < axis.pixels(); ++p) {
    *to++ = static_cast<std::int64_t>(axis.pixel(p).begin);
  }
  *to = static_cast<std::int64_t>(axis.cells().end);
  return array;
}

/// (low, high, whether it is logarithmic, what it shows), or None where no value has a colour of
/// a scale.
nb::object scale_of(const Drawing& drawing, std::optional<bool> log) {
  if (!needs_scale(drawing.picture)) return nb::none();
  const Scale scale = drawing.scale({log, {}, {}});
  return nb::make_tuple(scale.low, scale.high, scale.log, drawing.legend(scale));
}

/// (name, colour, state, value) of what has a colour of its own.
nb::list legend_of(const Drawing& drawing) {
  nb::list out;
  for (const auto& [dot, name] : legend_entries(drawing.picture)) {
    const auto colour = paper_colour(dot, drawing.picture.what, {});
    out.append(nb::make_tuple(nb::str(name.data(), name.size()),
                              nb::make_tuple(colour.r, colour.g, colour.b),
                              static_cast<int>(dot.state), dot.value));
  }
  return out;
}

std::string svg_of(const Drawing& drawing, std::size_t width, std::size_t height,
                   const std::string& title, const std::string& subtitle) {
  const Region window{drawing.picture.rows.cells(), drawing.picture.cols.cells()};
  const Scale scale = drawing.scale();
  return svg_figure(drawing.picture, scale, {title, subtitle, {}, drawing.legend(scale)},
                    dapple::picture::figure_layout(width, height, window));
}

}  // namespace

void bind_drawing(nb::module_& m) {
  nb::class_<Drawing>(m, "Drawing")
      .def("__reduce__",
           [](const Drawing&) -> nb::object {
             throw dapple::Error(dapple::Errc::unsupported,
                                 "a picture is drawn where it is shown: send what was opened");
           })
      .def_prop_ro("what", [](const Drawing& d) { return static_cast<int>(d.picture.what); })
      .def_prop_ro("source", [](const Drawing& d) { return kSources[static_cast<int>(d.source)]; })
      .def("values", &values_of)
      .def("states", &states_of)
      .def("row_edges", [](const Drawing& d) { return edges_of(d.picture.rows); })
      .def("col_edges", [](const Drawing& d) { return edges_of(d.picture.cols); })
      .def("scale", &scale_of, nb::arg("log").none())
      .def("legend", &legend_of)
      .def("svg", &svg_of);
  m.def("draw", &draw, nb::arg("handle"), nb::arg("file"), nb::arg("what").none(), nb::arg("rows"),
        nb::arg("cols"), nb::arg("down"), nb::arg("across"), nb::arg("from_stats"),
        nb::arg("threads"), nb::arg("progress").none());
  m.def("glance", &glance);
}

}  // namespace pydapple
