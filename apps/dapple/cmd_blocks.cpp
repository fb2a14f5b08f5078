// dapple blocks: one line per stored block, printed as the index is walked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "input.h"
#include "report.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

/// Widths that fit every block of the object, so that the blocks are listed in one pass.
Table table_for(const BlockedObject& object) {
  const auto grid = object.grid();
  const std::uint64_t rows = grid ? grid->tile.rows : object.rows();
  const std::uint64_t cols = grid ? grid->tile.cols : object.cols();
  const std::size_t byte_digits = digits(object.bytes());
  return Table({{"rx", digits(object.rows())},
                {"cx", digits(object.cols())},
                {"rows", digits(rows)},
                {"cols", digits(cols)},
                {"kind", 5, Align::left},
                {"type", 4, Align::left},
                {"stored", std::min(byte_digits, digits(object.counts().stored))},
                {"offset", byte_digits},
                {"bytes", byte_digits},
                {"", 0, Align::left}});
}

/// The part of a data set that a block is in; "" in other objects.
std::string part_of(const BlockedObject& object, const BlockPlace& place) {
  if (object.format() != "dataset") return "";
  return place.file.substr(place.file.rfind('/') + 1);
}

void print_line(const BlockInfo& block, std::uint64_t offset, std::string_view remark,
                const Table& table, Output& out) {
  const std::array<std::string, 7> numbers = {
      fmt::to_string(block.pos.rx), fmt::to_string(block.pos.cx), fmt::to_string(block.rows),
      fmt::to_string(block.cols),   fmt::to_string(block.stored), fmt::to_string(offset),
      fmt::to_string(block.bytes)};
  const std::string_view type = block.kind == BlockKind::empty ? "-" : name(block.value_type);
  const std::array<std::string_view, 10> cells = {
      numbers[0], numbers[1], numbers[2], numbers[3], name(block.kind),
      type,       numbers[4], numbers[5], numbers[6], remark};
  table.row(out, cells);
}

void print_json(const BlockInfo& block, std::uint64_t offset, const std::string& part,
                Output& out) {
  const bool typed = block.kind != BlockKind::empty;
  const std::string_view quote = typed ? "\"" : "";
  out.print(R"({{"rx":{},"cx":{},"rows":{},"cols":{},"kind":"{}","value_type":{}{}{},)"
            R"("stored":{},"offset":{},"bytes":{}{}}})"
            "\n",
            block.pos.rx, block.pos.cx, block.rows, block.cols, name(block.kind), quote,
            typed ? name(block.value_type) : "null", quote, block.stored, offset, block.bytes,
            part.empty() ? "" : fmt::format(R"(,"part":{})", json_string(part)));
}

/// Bytes of a file in which no block is.
void print_gap(Range bytes, const Table& table, Console& console) {
  if (console.json) {
    console.out.print("{{\"offset\":{},\"bytes\":{}}}\n", bytes.begin, bytes.size());
    return;
  }
  const std::string offset = fmt::to_string(bytes.begin), size = fmt::to_string(bytes.size());
  const std::array<std::string_view, 10> cells = {"-", "-", "-",    "-",  "-",
                                                  "-", "-", offset, size, "no cells"};
  table.row(console.out, cells);
}

int run_blocks(const Arguments& arguments, Console& console) {
  Input input;
  bool all = false;
  Command command(kBlocksVerb);
  add_input(command, input);
  command.section("choosing");
  command.flag("--all", all,
               "also list the bytes of a dbdf file that hold no cells: header, padding, index");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one JSON object per line; errors as JSON, too");
  command.parse(arguments);

  input.options.cells = false;
  const auto object = open_input(input, console);
  const BlockedObject& o = base(object);
  say_note(input, o, console);
  const Table table = table_for(o);
  if (!console.json) table.head(console.out);
  const auto print = [&](const BlockInfo& block) {
    const BlockPlace place = o.place(block);
    const std::string part = part_of(o, place);
    if (console.json) {
      print_json(block, place.offset, part, console.out);
    } else {
      print_line(block, place.offset, part, table, console.out);
    }
  };
  if (all && o.format() == "dbdf") {
    constexpr std::uint64_t kPosition = 16;  // of a block, before its header
    std::uint64_t end = 0;
    for (const BlockInfo& block : o.blocks()) {
      const Range gap{end, block.offset - kPosition};
      if (!gap.empty()) print_gap(gap, table, console);
      print(block);
      end = block.offset + block.bytes;
    }
    const Range rest{end, o.bytes()};
    if (!rest.empty()) print_gap(rest, table, console);
  } else {
    for (const BlockInfo& block : o.blocks()) print(block);
  }
  return kDone;
}

}  // namespace

const Verb kBlocksVerb = {
    "blocks",
    "FILE",
    "one line per stored block, in file order",
    "",
    "  dapple blocks ratings.dbdf\n"
    "  dapple blocks ratings.dbdf --all\n"
    "  dapple blocks ratings.dbdf --json | jq -c 'select(.kind == \"coo\")'\n",
    run_blocks};

}  // namespace dapple::cli
