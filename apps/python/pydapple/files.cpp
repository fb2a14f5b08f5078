// Whole files: opening, converting, checking, repairing.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "dapple/concat.h"
#include "dapple/packing.h"
#include "interruptible.h"
#include "numpy_api.h"
#include "progress.h"

namespace pydapple {

namespace {

namespace fs = std::filesystem;
using Bounds = std::optional<std::pair<std::uint64_t, std::uint64_t>>;

/// Whether opening reads all of a file, and takes long: of text, and of what is compressed, which
/// may be many times larger than it is. Of any other only headers or an index are read.
bool is_long_to_open(const fs::path& path, const dapple::OpenOptions& options) {
  constexpr std::uint64_t kMostSmaller = 64;
  constexpr std::string_view kText[] = {".csv", ".mtx", ".idv", ".tsv", ".txt"};
  const std::string ending = path.extension().string();
  const bool compressed = ending == ".gz" || ending == ".zst";
  const bool text = std::ranges::find(kText, ending) != std::end(kText) ||
                    (!options.format.empty() && options.format != "dbdf");
  if (!compressed && !text) return false;
  std::error_code failed;
  const std::uint64_t size = fs::file_size(path, failed);
  return !failed && size >= (compressed ? kLongWork / kMostSmaller : kLongWork);
}

nb::object open_file(const fs::path& path, const dapple::OpenOptions& options, bool far) {
  auto opened = interruptible(is_long_to_open(path, options),
                              [path, options] { return dapple::open(path, options); });
  return to_handle(std::move(opened), far);
}

/// How many frames up somebody has called pydapple.
int frames_to_caller() {
  nb::object frame = nb::module_::import_("sys").attr("_getframe")();
  int count = 1;
  while (!frame.is_none()) {
    const nb::object module = frame.attr("f_globals").attr("get")("__name__", "");
    if (!nb::cast<std::string>(module).starts_with("pydapple.")) break;
    frame = frame.attr("f_back");
    ++count;
  }
  return count;
}

/// What results do not keep, which becomes warnings once Python may run again.
class Notes {
 public:
  dapple::TakeNote taker() {
    return [this](const std::string& note) { notes_.push_back(note); };
  }
  /// Warns of them in the name of whoever called pydapple.
  void warn() const {
    const int caller = frames_to_caller();
    for (const std::string& note : notes_) {
      if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), caller) < 0) throw nb::python_error();
    }
  }

 private:
  std::vector<std::string> notes_;
};

nb::object concat_objects(nb::list parts, int axis, bool allow_loss) {
  if (axis != 0 && axis != 1) {
    throw dapple::Error(dapple::Errc::invalid_argument,
                        "axis is 0 or 1, not " + std::to_string(axis));
  }
  std::vector<std::variant<dapple::Matrix, dapple::Frame>> objects;
  bool far = false;
  for (nb::handle part : parts) {
    const auto& handle = nb::cast<const Handle&>(part);
    objects.push_back(variant_of(handle));
    far = far || handle.far();
  }
  Notes notes;
  auto whole = [&] {
    const WithoutGil release;
    return dapple::concat(objects, axis == 0 ? dapple::Axis::rows : dapple::Axis::columns,
                          {.allow_loss = allow_loss, .note = notes.taker()});
  }();
  notes.warn();
  return to_handle(std::move(whole), far);
}

nb::object append_rows(const fs::path& path, const Handle& rows, bool allow_loss, int absent,
                       Threads threads, const dapple::WriteOptions& write, nb::object progress) {
  dapple::ConvertOptions options;
  options.allow_loss = allow_loss;
  options.absent = static_cast<dapple::Absent>(absent);
  options.threads = threads;
  options.write = write;
  const Progress report(std::move(progress));
  options.progress = as_callback(report);
  const std::variant<dapple::Matrix, dapple::Frame> in = variant_of(rows);
  const auto summary = [&] {
    const WithoutGil release;
    return dapple::append(path, in, options);
  }();
  return to_tuple(summary);
}

nb::object convert_file(const Handle& handle, const fs::path& out, Bounds rows,
                        std::optional<std::vector<std::uint64_t>> cols, const std::string& to,
                        nb::object dtype, bool allow_loss, int absent, Threads threads,
                        const dapple::WriteOptions& write, bool drop_labels, bool deflate,
                        bool stored_numbers, bool short_floats, bool transpose,
                        nb::object progress) {
  dapple::Selection part;
  if (rows) part.rows = dapple::Range{rows->first, rows->second};
  part.cols = std::move(cols);
  dapple::ConvertOptions options;
  options.to = to;
  if (!dtype.is_none()) options.value_type = value_type_of(dtype);
  options.allow_loss = allow_loss;
  options.absent = static_cast<dapple::Absent>(absent);
  options.threads = threads;
  options.write = write;
  options.drop_labels = drop_labels;
  options.stored_numbers = stored_numbers;
  options.short_floats = short_floats;
  options.transpose = transpose;
  if (!deflate) options.format_options.emplace("idv.deflate", "false");
  Notes notes;
  options.note = notes.taker();
  const Progress report(std::move(progress));
  options.progress = as_callback(report);
  const std::variant<dapple::Matrix, dapple::Frame> in = variant_of(handle);
  const auto summary = [&] {
    const WithoutGil release;
    return dapple::convert(in, part, out, options);
  }();
  notes.warn();
  return to_tuple(summary);
}

nb::list to_exceptions(const std::vector<dapple::Error>& errors) {
  nb::list out;
  for (const dapple::Error& error : errors) out.append(to_exception(error));
  return out;
}

nb::object verify_file(const fs::path& path, bool payload, const dapple::OpenOptions& options,
                       nb::object progress) {
  const Progress report(std::move(progress));
  const auto found = [&] {
    const WithoutGil release;
    return dapple::verify(path, payload ? dapple::Level::payload : dapple::Level::structure,
                          options, as_callback(report));
  }();
  return nb::make_tuple(to_exceptions(found.findings), found.blocks);
}

nb::object repair_file(const fs::path& in, const fs::path& out, const dapple::WriteOptions& options,
                       const dapple::OpenOptions& reading, nb::object progress) {
  const Progress report(std::move(progress));
  const auto made = [&] {
    const WithoutGil release;
    return dapple::repair(in, out, options, reading, as_callback(report));
  }();
  return nb::make_tuple(to_exceptions(made.lost), made.blocks_kept, made.blocks_lost,
                        made.meanings_lost, to_tuple(made.written));
}

/// (plain, fast, small): bytes.
nb::object packing_of(const Handle& handle, Threads threads) {
  const auto object = variant_of(handle);
  dapple::ConvertOptions options;
  options.threads = threads;
  const auto found = [&] {
    const WithoutGil release;
    return dapple::estimate_packing(object, options);
  }();
  return nb::make_tuple(found.plain, found.fast, found.small);
}

std::optional<fs::path> write_index(const fs::path& path, const dapple::OpenOptions& options,
                                    bool statistics, Threads threads, nb::object progress) {
  const Progress report(std::move(progress));
  dapple::SidecarOptions sidecar;
  sidecar.progress = as_callback(report);
  sidecar.statistics = statistics;
  sidecar.threads = threads;
  const WithoutGil release;
  if (!dapple::write_sidecar(path, options, sidecar)) return std::nullopt;
  return dapple::sidecar_path(dapple::file_to_index(path, options));
}

fs::path copy_columns(const fs::path& path, const dapple::OpenOptions& options, bool sync,
                      Threads threads, nb::object progress) {
  const Progress report(std::move(progress));
  dapple::ColumnCopyOptions copy;
  copy.progress = as_callback(report);
  copy.sync = sync;
  copy.threads = threads;
  const WithoutGil release;
  dapple::write_column_copy(path, options, copy);
  return dapple::column_copy_path(dapple::file_to_index(path, options));
}

nb::list format_list() {
  nb::list out;
  for (const dapple::FormatInfo& one : dapple::formats()) {
    const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
    out.append(nb::make_tuple(text(one.name), text(one.title), text(one.extensions), one.reads,
                              one.writes, one.streams));
  }
  return out;
}

}  // namespace

nb::object to_handle(std::variant<dapple::Matrix, dapple::Frame>&& opened, bool far) {
  const auto& object =
      std::visit([](const auto& one) -> const dapple::BlockedObject& { return one; }, opened);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (object.rows() > kMost || object.cols() > kMost) {
    throw dapple::Error(dapple::Errc::unsupported,
                        std::to_string(object.rows()) + " x " + std::to_string(object.cols()) +
                            " cells are more than Python and NumPy count, 2^63 - 1 each way; "
                            "dapple info and verify work on such a file");
  }
  if (auto* matrix = std::get_if<dapple::Matrix>(&opened)) {
    return nb::cast(MatrixHandle(std::move(*matrix), far));
  }
  return nb::cast(FrameHandle(std::move(std::get<dapple::Frame>(opened)), far));
}

std::variant<dapple::Matrix, dapple::Frame> variant_of(const Handle& handle) {
  if (const auto* const matrix = dynamic_cast<const MatrixHandle*>(&handle)) {
    return matrix->matrix();
  }
  return static_cast<const FrameHandle&>(handle).frame();
}

void bind_files(nb::module_& m) {
  m.def("open", &open_file);
  m.def("convert", &convert_file, nb::arg("handle"), nb::arg("out"), nb::arg("rows").none(),
        nb::arg("cols").none(), nb::arg("to"), nb::arg("dtype").none(), nb::arg("allow_loss"),
        nb::arg("absent"), nb::arg("threads"), nb::arg("write"), nb::arg("drop_labels"),
        nb::arg("deflate"), nb::arg("stored_numbers"), nb::arg("short_floats"),
        nb::arg("transpose"), nb::arg("progress").none());
  m.def("verify", &verify_file, nb::arg("path"), nb::arg("payload"), nb::arg("options"),
        nb::arg("progress").none());
  m.def("repair", &repair_file, nb::arg("src"), nb::arg("dst"), nb::arg("write"),
        nb::arg("options"), nb::arg("progress").none());
  m.def("estimate_packing", &packing_of);
  m.def("index", &write_index, nb::arg("path"), nb::arg("options"), nb::arg("statistics"),
        nb::arg("threads"), nb::arg("progress").none());
  m.def("copy_columns", &copy_columns, nb::arg("path"), nb::arg("options"), nb::arg("sync"),
        nb::arg("threads"), nb::arg("progress").none());
  m.def("formats", &format_list);
  m.def("concat", &concat_objects);
  m.def("append", &append_rows, nb::arg("path"), nb::arg("rows"), nb::arg("allow_loss"),
        nb::arg("absent"), nb::arg("threads"), nb::arg("write"), nb::arg("progress").none());
}

}  // namespace pydapple
