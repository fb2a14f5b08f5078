// dapple convert: from any readable format to any writable one.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "destination.h"
#include "input.h"
#include "report.h"
#include "selection.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, KindChoice> kKinds[] = {{"auto", KindChoice::automatic},
                                                              {"dense", KindChoice::dense},
                                                              {"csr", KindChoice::csr},
                                                              {"coo", KindChoice::coo}};

/// Flags that shape blocks, and whether any was given: other formats have no blocks to shape.
struct WriteFlags {
  WriteOptions options;
  std::string_view first;  // the first of them that was given, --kind not counted
  bool kind = false;       // --kind, which holds for runtime files too
};

TileShape parse_tile(const std::string& text) {
  const auto [rows, cols] = parse_pair("--tile", text, 'x', "RxC");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (rows < 1 || cols < 1 || rows > kMost || cols > kMost) {
    throw UsageError(fmt::format("--tile must have sides from 1 to {}, not '{}'", kMost, text));
  }
  return {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)};
}

std::uint32_t parse_align(const std::string& text) {
  constexpr std::uint64_t kMost = std::uint64_t{2} << 20;
  const std::uint64_t align = parse_number("--align", text, 1, kMost);
  if ((align & (align - 1)) != 0) {
    throw UsageError(fmt::format("--align must be a power of two, not '{}'", text));
  }
  return static_cast<std::uint32_t>(align);
}

void add_write_flags(Command& command, WriteFlags& flags) {
  const auto given = [&flags](std::string_view flag) {
    if (flags.first.empty()) flags.first = flag;
  };
  WriteOptions& options = flags.options;
  command.section("writing dbdf");
  command.option(
      "--tile", "RxC",
      [&options, given](const std::string& text) {
        given("--tile");
        options.tile = parse_tile(text);
      },
      "tiles of R rows and C columns");
  command.option(
      "--kind", "KIND",
      [&options, &flags](const std::string& text) {
        flags.kind = true;
        options.kind = parse_choice("--kind", text, kKinds);
      },
      "auto (the fewest bytes), dense, csr or coo; for daphne: dense or csr");
  command.flag(
      "--no-narrow",
      [&options, given] {
        given("--no-narrow");
        options.narrow = false;
      },
      "store values in their own type, even where a smaller one would give back every bit");
  command.option(
      "--align", "N",
      [&options, given](const std::string& text) {
        given("--align");
        options.align = parse_align(text);
      },
      "align dense tiles to N bytes, a power of two up to 2097152");
  command.flag(
      "--plain",
      [&options, given] {
        given("--plain");
        options.plain = true;
      },
      "no index, hashes or alignment: nothing beyond the published format");
}

ValueType parse_value_type(const std::string& text) {
  if (const auto type = find_value_type(text)) return *type;
  throw UsageError(fmt::format(
      "--value-type must be one of u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, not '{}'",
      printable(text)));
}

/// Text columns that are written as well.
std::uint64_t readable_texts(const BlockedObject& object) {
  const auto texts = object.text_columns();
  return static_cast<std::uint64_t>(std::count_if(
      texts.begin(), texts.end(), [](const TextColumn& column) { return column.readable; }));
}

/// "counts.dbdf: 50000 x 500, f64, 49 blocks (37 csr, 12 coo)".
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
  return fmt::format("{}: {} x {}, {}, {}", printable(destination.path),
                     part.rows.value_or(Range{0, o.rows()}).size(),
                     part.cols ? part.cols->size() : o.cols() + readable_texts(o), type, size);
}

int run_convert(const Arguments& arguments, Console& console) {
  Input input;
  Destination destination;
  SelectionFlags wanted;
  WriteFlags write;
  ConvertOptions options;
  Command command(kConvertVerb);
  add_input(command, input, "IN");
  command.operand("OUT", destination.path, "the file to write; - is standard output");
  command.section("what to write");
  add_column_flag(command, wanted.labels);
  add_absent_flag(command, options.absent);
  command.option(
      "--value-type", "TYPE",
      [&](const std::string& text) { options.value_type = parse_value_type(text); },
      "write all cells as TYPE: u8 to u64, i8 to i64, f32, f64");
  command.flag("--allow-loss", options.allow_loss,
               "with --value-type: round values that are not exact");
  add_destination_flags(command, destination);
  add_write_flags(command, write);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (options.allow_loss && !options.value_type) {
    throw UsageError("--allow-loss needs --value-type");
  }
  const FormatInfo& format = format_to_write(destination);
  if (format.name != "dbdf" && !write.first.empty()) {
    throw UsageError(fmt::format("{} is for writing dbdf, not {}", write.first, format.name));
  }
  if (format.name != "dbdf" && format.name != "daphne" && write.kind) {
    throw UsageError(fmt::format("--kind is for writing dbdf or daphne, not {}", format.name));
  }
  require_replaceable(destination);

  input.options.idv.columns = wanted.labels;
  const auto object = open_input(input);
  const Selection part = resolve(wanted, object, input.name());
  say_note(input, base(object), console);
  options.write = write.options;
  const auto written = deliver(object, part, destination, options, console);
  if (written && !console.quiet && !console.json) {
    say(summary_text(destination, object, part, options, *written));
  }
  return kDone;
}

}  // namespace

const Verb kConvertVerb = {
    "convert",
    "IN OUT",
    "from any readable format to any writable one",
    "OUT appears whole or not at all.\n",
    "  dapple convert counts.btable counts.dbdf --tile 1024x1024\n"
    "  dapple convert table.csv table.dbdf --missing nan\n"
    "  dapple convert wide.dbdf narrow.npy --column pH --value-type f32 --allow-loss\n"
    "  zcat table.csv.gz | dapple convert - table.dbdf --from csv\n",
    run_convert};

}  // namespace dapple::cli
