// dapple dataset: many dbdf files as one object, written by many.
#include "dapple/dataset.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"
#include "write_flags.h"

namespace dapple::cli {

namespace {

/// What the command line says, for all actions.
struct Wanted {
  std::string action, folder;
  std::vector<std::string> files;
  std::optional<BlockPos> at;
  dataset::CommitOptions commit;
  dataset::CollectOptions collect;
  std::uint64_t small = 64 << 20;
  WriteFlags write;
  ConvertOptions options;
  Input input;
  std::vector<std::pair<std::string_view, std::string_view>> given;  // flags, actions they are for
};

std::string_view name(DatasetAction action) {
  switch (action) {
    case DatasetAction::create:
      return "create";
    case DatasetAction::commit:
      return "commit";
    case DatasetAction::compact:
      return "compact";
    case DatasetAction::collect:
      return "gc";
  }
  return "?";
}

std::string text_of(const DatasetState& state, bool json) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{
      std::chrono::nanoseconds(state.time_ns)};
  const std::string when =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(
                      std::chrono::time_point_cast<std::chrono::system_clock::duration>(time))));
  if (json) {
    return fmt::format(
        R"({{"state":{},"time":"{}","action":"{}","rows":{},"cols":{},"parts":{},"blocks":{},"bytes":{}}})",
        state.number, when, name(state.action), state.rows, state.cols, state.parts, state.blocks,
        state.bytes);
  }
  return fmt::format("state {}: {} {} x {}, {}, {}, {} ({})", state.number, when, state.rows,
                     state.cols, counted(state.parts, "part"), counted(state.blocks, "block"),
                     counted(state.bytes, "byte"), name(state.action));
}

std::variant<Matrix, Frame> open_file(Wanted& wanted, const std::string& file,
                                      const Console& console) {
  wanted.input.file = file;
  auto object = open_input(wanted.input, console);
  say_note(wanted.input, base(object), console);
  return object;
}

/// Says which state there is now.
void tell(const Wanted& wanted, const DatasetState& state, Console& console) {
  if (console.json) {
    console.out.write(text_of(state, true) + '\n');
  } else if (!console.quiet) {
    say(printable(wanted.folder) + ": " + text_of(state, false));
  }
}

DatasetState run_create(Wanted& wanted, Console& console) {
  return dataset::create(wanted.folder, open_file(wanted, wanted.files.at(0), console),
                         wanted.commit);
}

/// Runs `work` with the options of `wanted` and a bar of its progress, which is gone afterwards.
template <class Work>
DatasetState with_progress(const Wanted& wanted, const std::string& what, const Console& console,
                           const Work& work) {
  Progress progress(printable(what), console.quiet);
  progress.may_leave(wanted.folder + "/part");
  ConvertOptions options = wanted.options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  return work(options);
}

DatasetState run_append(Wanted& wanted, Console& console) {
  parse_in(wanted.folder, wanted.input.options);
  std::optional<DatasetState> state;
  for (const std::string& file : wanted.files) {
    if (state) tell(wanted, *state, console);  // it is there, whatever becomes of the next file
    const auto rows = open_file(wanted, file, console);
    state = with_progress(wanted, file, console, [&](const ConvertOptions& options) {
      return dataset::append(wanted.folder, rows, options, wanted.at);
    });
  }
  return *state;
}

DatasetState run_commit(Wanted& wanted, Console&) {
  std::vector<DatasetPart> parts;
  for (const std::string& place : wanted.files) {
    const std::size_t mark = place.rfind('@');
    if (mark == std::string::npos) {
      throw UsageError(
          fmt::format("commit takes parts as NAME@ROW,COL, such as part-N.dbdf@4096,0, not '{}'",
                      printable(place)));
    }
    const auto [row, col] =
        parse_pair("NAME@ROW,COL", std::string_view(place).substr(mark + 1), ',', "ROW,COL");
    parts.push_back(dataset::find_part(wanted.folder, place.substr(0, mark), {row, col}));
  }
  return dataset::commit(wanted.folder, parts, wanted.commit);
}

DatasetState run_compact(Wanted& wanted, Console& console) {
  return with_progress(wanted, wanted.folder, console, [&](const ConvertOptions& options) {
    return dataset::compact(wanted.folder, wanted.small, options);
  });
}

int run_log(const Wanted& wanted, Console& console) {
  std::vector<Error> damaged;
  const std::vector<DatasetState> states =
      dataset::log(wanted.folder, [&](const Error& error) { damaged.push_back(error); });
  if (states.empty() && damaged.empty()) {
    dataset::latest(wanted.folder);  // which says what a data set is
  }
  for (const DatasetState& state : states) {
    console.out.write(text_of(state, console.json) + '\n');
  }
  for (const Error& error : damaged) {
    console.out.write((console.json ? error_json(error) : error_line(error)) + '\n');
  }
  return damaged.empty() ? kDone : kBadData;
}

int run_gc(const Wanted& wanted, Console& console) {
  const dataset::Collected removed = dataset::collect(wanted.folder, wanted.collect);
  if (console.json) {
    console.out.write(fmt::format("{{\"states\":{},\"parts\":{},\"bytes\":{}}}\n", removed.states,
                                  removed.parts, removed.bytes));
  } else if (!console.quiet) {
    say(fmt::format("removed {}, {}, {}", counted(removed.states, "state"),
                    counted(removed.parts, "part"), counted(removed.bytes, "byte")));
  }
  return kDone;
}

void add_flags(Command& command, Wanted& wanted) {
  const auto given = [&wanted](std::string_view flag, std::string_view actions) {
    wanted.given.emplace_back(flag, actions);
  };
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  const auto number = [&](const char* flag, const char* what, std::uint64_t least,
                          std::uint64_t most, std::uint64_t& target, const char* actions,
                          const char* help) {
    command.option(
        flag, what,
        [=, &target](const std::string& text) {
          target = parse_number(flag, text, least, most);
          given(flag, actions);
        },
        help);
  };
  command.section("where parts go");
  command.option(
      "--at", "ROW,COL",
      [&wanted, given](const std::string& text) {
        const auto [row, col] = parse_pair("--at", text, ',', "ROW,COL");
        wanted.at = BlockPos{row, col};
        given("--at", "append");
      },
      "append: the first cell of the part; below all rows unless given");
  number("--rows", "N", 0, kAny, wanted.commit.rows, "create, commit",
         "create, commit: the data set has at least N rows");
  number("--cols", "N", 0, kAny, wanted.commit.cols, "create, commit",
         "create, commit: a matrix has at least N columns");
  command.flag(
      "--whole",
      [&wanted, given] {
        wanted.commit.whole = true;
        given("--whole", "commit");
      },
      "commit: every cell must be in a part");
  command.section("what goes");
  number("--small", "BYTES", 1, kAny, wanted.small, "compact",
         "compact: the parts to put together have fewer bytes; 64 MiB unless given");
  number("--keep", "N", 1, kAny, wanted.collect.keep, "gc",
         "gc: the latest N states stay; 1 unless given");
  number("--grace", "SECONDS", 0, 1u << 31, wanted.collect.grace_s, "gc",
         "gc: what is younger stays, since somebody may be using it; a week unless given");
  command.section("how parts are written");
  command.flag(
      "--no-sync",
      [&wanted, given] {
        wanted.commit.sync = false;
        given("--no-sync", "create, append, commit, compact");
      },
      "do not wait until the data is on storage");
}

/// Throws UsageError for a flag that the action does not look at.
void require_own_flags(const Wanted& wanted) {
  const OpenOptions& reading = wanted.input.options;
  const bool reads = !reading.format.empty() || !reading.array.empty() || !reading.cache.empty() ||
                     !reading.format_options.empty();
  auto given = wanted.given;
  const std::string_view shapes = wanted.write.kind ? "--kind" : wanted.write.first;
  if (!shapes.empty()) given.emplace_back(shapes, "append, compact");
  if (reads) given.emplace_back("a flag for reading files", "create, append");
  for (const auto& [flag, actions] : given) {
    if (actions.find(wanted.action) != std::string_view::npos) continue;
    throw UsageError(fmt::format("{} is for {}, not for {}", flag, actions, wanted.action));
  }
  if (wanted.write.options.plain) throw UsageError("parts need an index; drop --plain");
  if (wanted.at && wanted.files.size() > 1) {
    throw UsageError("--at is the place of one file; append the others by commands of their own");
  }
}

int run_dataset(const Arguments& arguments, Console& console) {
  Wanted wanted;
  Command command(kDatasetVerb);
  command.operand("ACTION", wanted.action, "create, append, commit, compact, gc or log");
  std::vector<std::string> operands;
  command.operands("DIR", operands,
                   "the folder, and for create and append files to read, for "
                   "commit parts as NAME@ROW,COL");
  add_flags(command, wanted);
  add_write_flags(command, wanted.write);
  add_reading_flags(command, wanted.input.options);
  add_shared_flags(command, console, "states as JSON, one a line; errors, too");
  command.parse(arguments);

  wanted.folder = operands.front();
  wanted.files.assign(operands.begin() + 1, operands.end());
  wanted.options.write = wanted.write.options;
  wanted.options.write.sync = wanted.commit.sync;
  wanted.options.threads = console.threads;
  wanted.options.note = notes_to(console);
  const bool takes_files =
      wanted.action == "create" || wanted.action == "append" || wanted.action == "commit";
  if (takes_files == wanted.files.empty()) {
    throw UsageError(takes_files ? fmt::format("{} needs a file after DIR", wanted.action)
                                 : fmt::format("{} takes DIR alone", wanted.action));
  }
  if (wanted.action == "create" && wanted.files.size() > 1) {
    throw UsageError("create takes one file, whose columns the data set gets");
  }
  require_own_flags(wanted);
  if (wanted.action == "log") return run_log(wanted, console);
  if (wanted.action == "gc") return run_gc(wanted, console);
  using Run = DatasetState (*)(Wanted&, Console&);
  constexpr std::pair<std::string_view, Run> kActions[] = {{"create", run_create},
                                                           {"append", run_append},
                                                           {"commit", run_commit},
                                                           {"compact", run_compact}};
  const Run run = [&] {
    for (const auto& [action, f] : kActions) {
      if (action == wanted.action) return f;
    }
    throw UsageError(
        fmt::format("ACTION must be one of create, append, commit, compact, gc, log, not '{}'",
                    printable(wanted.action)));
  }();
  tell(wanted, run(wanted, console), console);
  return kDone;
}

}  // namespace

const Verb kDatasetVerb = {
    "dataset",
    "ACTION DIR",
    "many dbdf files as one object, written by many",
    "A data set is a folder of dbdf files (parts), which are never changed, and of states\n"
    "(dataset-1, dataset-2 and so on) that say which parts there are. Every verb opens the\n"
    "folder as one object, in its latest state, or a state by its own name. Any number of\n"
    "processes may write at once; each makes a state of its own, and none is ever half there.\n"
    "\n"
    "  create DIR FILE       an empty data set with the columns and types of FILE\n"
    "  append DIR FILE...    FILE as a part below all rows, or where --at says; makes DIR, and\n"
    "                        a state for each FILE\n"
    "  commit DIR NAME@R,C   a file that is in DIR already becomes a part\n"
    "  compact DIR           puts small parts together\n"
    "  gc DIR                removes old states, and parts that no state has\n"
    "  log DIR               the states\n",
    "  dapple dataset append sales january.csv february.csv\n"
    "  dapple dataset append scan left.npy --at 0,0\n"
    "  dapple dataset append scan right.npy --at 0,512\n"
    "  dapple stats sales\n"
    "  dapple get sales --rows 0:10\n"
    "  dapple dataset compact sales && dapple dataset gc sales --keep 3\n",
    run_dataset};

}  // namespace dapple::cli
