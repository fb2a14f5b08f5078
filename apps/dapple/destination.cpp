#include "destination.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "dapple/error.h"
#include "guest.h"
#include "input.h"
#include "progress.h"
#include "text.h"

namespace dapple::cli {

namespace {

/// The format to write. Throws UsageError when neither --to nor the name of OUT tells it.
const FormatInfo& named_format(const Destination& destination) {
  if (destination.is_stdout() && destination.to.empty()) {
    throw UsageError("standard output has no name to tell the format from; add --to FORMAT");
  }
  if (Guest::takes(destination)) {
    throw UsageError(fmt::format("{}: only 'dapple convert' writes that kind of file, by pydapple",
                                 printable(destination.path)));
  }
  try {
    return dapple::format_to_write(destination.to, destination.path);
  } catch (const Error& error) {
    throw UsageError(destination.to.empty() ? printable(error.what()) + " with --to FORMAT"
                                            : "--to: " + printable(error.detail()));
  }
}

/// About how many bytes `part` takes where every cell is written, or, in formats that store few
/// cells as few, where none is. As text, a digit and a delimiter.
std::uint64_t expected_bytes(const std::variant<Matrix, Frame>& in, const Selection& part,
                             const FormatInfo& format, const ConvertOptions& options) {
  constexpr double kMost = 9e18;
  constexpr std::pair<std::string_view, double> kEmptyRow[] = {
      {"dbdf", 0}, {"mtx", 0}, {"btable", 4}, {"daphne", 8}};
  const BlockedObject& object = base(in);
  const double rows = static_cast<double>(part.rows.value_or(Range{0, object.rows()}).size());
  for (const auto& [name, bytes] : kEmptyRow) {
    if (format.name == name) return static_cast<std::uint64_t>(std::min(rows * bytes, kMost));
  }
  const std::uint64_t cols = part.cols ? part.cols->size() : object.cols();
  const auto cell = [&](ValueType type) {
    const bool text = format.name == "csv" || format.name == "tsv" || format.name == "futhark-text";
    return static_cast<double>(text ? 2 : size_of(options.value_type.value_or(type)));
  };
  double row = 0;
  if (const auto* const matrix = std::get_if<Matrix>(&in)) {
    row = static_cast<double>(cols) * cell(matrix->value_type());
  } else {
    for (std::uint64_t i = 0; i < cols; ++i) {
      row += cell(object.column_type(part.cols ? (*part.cols)[i] : i));
    }
  }
  return static_cast<std::uint64_t>(std::min(rows * row, kMost));
}

/// Tells of a large output on a terminal. Throws invalid_argument, without --large, for one that is
/// much larger than what it is made of, as few stored cells are where all are written.
void require_expected(const std::variant<Matrix, Frame>& in, const Selection& part,
                      const Destination& destination, const ConvertOptions& options,
                      const Console& console) {
  constexpr std::uint64_t kLarge = std::uint64_t{4} << 30, kTimes = 10;
  const std::uint64_t bytes = expected_bytes(in, part, format_to_write(destination), options);
  if (bytes < kLarge) return;
  const std::uint64_t made_from = base(in).bytes();
  if (bytes / kTimes >= made_from && !destination.large) {
    throw Error(Errc::invalid_argument, destination.path, std::nullopt,
                fmt::format("it would take about {}, more than {} times the {} that it is made "
                            "from; --large writes it all the same, dbdf and mtx store only the "
                            "cells that there are",
                            human_size(bytes), kTimes, human_size(made_from)));
  }
  if (!console.quiet && ::isatty(STDERR_FILENO) == 1) {
    say(fmt::format("{} will take about {}", printable(destination.path), human_size(bytes)));
  }
}

/// The number of text columns that will be written.
std::uint64_t readable_texts(const BlockedObject& object) {
  const auto texts = object.text_columns();
  return static_cast<std::uint64_t>(std::count_if(
      texts.begin(), texts.end(), [](const TextColumn& column) { return column.readable; }));
}

/// Sends a format's bytes to standard output; refuses binary ones on a terminal.
class StdoutSink {
 public:
  explicit StdoutSink(Output& out) : out_(&out), guard_(out.is_terminal()) {}

  void operator()(std::span<const std::byte> bytes) {
    if (guard_ && std::any_of(bytes.begin(), bytes.end(), is_binary)) {
      throw UsageError("binary data is not printed on a terminal; use -o OUT or a pipe");
    }
    guard_ = guard_ && bytes.empty();
    out_->write(bytes);
  }

 private:
  static bool is_binary(std::byte b) {
    return b < std::byte{0x20} && b != std::byte{'\n'} && b != std::byte{'\t'} &&
           b != std::byte{'\r'};
  }

  Output* out_;
  bool guard_;  // the output is a terminal, and nothing was written yet
};

}  // namespace

void take_output(const std::string& text, Destination& destination) {
  if (text.empty()) throw UsageError("-o needs the name of a file");
  destination.path = text;
}

void add_destination_flags(Command& command, Destination& destination) {
  command.option(
      "--to", "FORMAT", [&destination](const std::string& text) { destination.to = text; },
      "the format to write, if the name of OUT does not tell");
  command.flag("--force", destination.force,
               "replace OUT if it exists; with daphne and csv, OUT.meta as well");
  command.flag("--large", destination.large,
               "write OUT even if it takes more than 4 GiB and more than ten times what it is made "
               "from");
  command.flag(
      "--drop-labels", destination.drop_labels,
      "leave out the labels of a frame if the format has no place for them, and the header "
      "of a matrix whose columns have names");
  command.flag(
      "--stored-numbers", destination.stored_numbers,
      "where the format (or --plain) has no place for words, times and truth values, write "
      "the codes, ticks and numbers that are stored");
  command.flag("--short-floats", destination.short_floats,
               "csv and mtx: f32 in the fewest digits that read back as f32; without it, in those "
               "that read back to the same value as f64");
  command.flag(
      "--no-sync", [&destination] { destination.sync = false; },
      "do not wait until OUT is on disk: faster, but a power cut may leave it damaged");
}

namespace {

void require_no_folder(const Destination& destination) {
  std::error_code ignored;  // errors will be reported by the writer
  if (destination.is_stdout() || !std::filesystem::is_directory(destination.path, ignored)) return;
  throw Error(Errc::invalid_argument, destination.path, std::nullopt,
              "cannot write: it is a folder; name a file in it ('dapple dataset append' adds rows "
              "to a data set)");
}

}  // namespace

const FormatInfo& format_to_write(const Destination& destination) {
  require_no_folder(destination);
  const FormatInfo& format = named_format(destination);
  if (destination.is_stdout() && !format.streams) {
    throw UsageError(fmt::format(
        "{} cannot be written to standard output; use -o OUT or name a file", format.name));
  }
  if (destination.short_floats && format.name != "csv" && format.name != "tsv" &&
      format.name != "mtx") {
    throw UsageError(
        fmt::format("--short-floats is for csv, tsv and mtx, not for {}", format.name));
  }
  return format;
}

void require_replaceable(const Destination& destination) {
  if (destination.is_stdout()) return;
  require_no_folder(destination);
  std::error_code ignored;  // errors will be reported by the writer
  if (std::filesystem::is_other(std::filesystem::status(destination.path, ignored))) {
    throw Error(Errc::invalid_argument, destination.path, std::nullopt,
                "cannot write: it is a device or pipe; - is standard output");
  }
  const bool exists =
      std::filesystem::exists(std::filesystem::symlink_status(destination.path, ignored));
  if (exists && !destination.force && !destination.append) {
    throw Error(Errc::invalid_argument, destination.path, std::nullopt, "the file exists already",
                "overwrite");
  }
}

std::optional<WriteSummary> deliver(const std::variant<Matrix, Frame>& in, const Selection& part,
                                    const Destination& destination, ConvertOptions options,
                                    Console& console) {
  Progress progress(printable(destination.is_stdout() ? "stdout" : destination.path),
                    console.quiet || (destination.is_stdout() && console.out.is_terminal()));
  if (!destination.is_stdout()) progress.may_leave(destination.path);
  options.to = format_to_write(destination).name;
  options.threads = console.threads;
  options.write.overwrite = destination.force;
  options.write.sync = destination.sync;
  options.drop_labels = destination.drop_labels;
  options.stored_numbers = destination.stored_numbers;
  options.short_floats = destination.short_floats;
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  std::error_code ignored;  // told by what creates the file
  if (destination.append && std::filesystem::exists(destination.path, ignored)) {
    return append(destination.path, in, options);
  }
  if (!destination.is_stdout()) {
    require_expected(in, part, destination, options, console);
    return convert(in, part, destination.path, options);
  }
  convert(in, part, StdoutSink(console.out), options);
  return std::nullopt;
}

std::string summary_text(const Destination& destination, const std::variant<Matrix, Frame>& in,
                         const Selection& part, const ConvertOptions& options,
                         const WriteSummary& written) {
  const BlockedObject& o = base(in);
  const auto* matrix = std::get_if<Matrix>(&in);
  const std::string type =
      matrix == nullptr ? "frame"
                        : std::string(name(options.value_type.value_or(matrix->value_type())));
  const BlockCounts& counts = written.counts;
  const std::string size =
      counts.total == 0
          ? human_size(written.bytes)
          : fmt::format("{} ({})", counted(counts.total, "block"), kinds_text(counts));
  std::uint64_t rows = part.rows.value_or(Range{0, o.rows()}).size();
  if (destination.append) {  // the file has more rows than these, maybe of another type
    return fmt::format("{}: {} appended, now {}", printable(destination.path), counted(rows, "row"),
                       size);
  }
  std::uint64_t cols = part.cols ? part.cols->size() : o.cols() + readable_texts(o);
  if (options.transpose) std::swap(rows, cols);
  return fmt::format("{}: {} x {}, {}, {}", printable(destination.path), rows, cols, type, size);
}

}  // namespace dapple::cli
