#include "write_flags.h"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "text.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, KindChoice> kKinds[] = {{"auto", KindChoice::automatic},
                                                              {"dense", KindChoice::dense},
                                                              {"csr", KindChoice::csr},
                                                              {"coo", KindChoice::coo}};

constexpr std::pair<std::string_view, Packing> kPackings[] = {
    {"none", Packing::none}, {"fast", Packing::fast}, {"small", Packing::small}};

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

}  // namespace

void add_pack_flag(Command& command, WriteFlags& flags) {
  command.optional_value(
      "--pack", "HOW", "fast",
      [&flags](const std::string& text) {
        if (flags.first.empty()) flags.first = "--pack";
        flags.options.pack = parse_choice("--pack", text, kPackings);
      },
      "pack blocks: fast (unless given; read as fast as plain ones), small (with zstd) or none; "
      "only dapple reads them, and writes them back without it");
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
      "tiles of R rows and C columns; otherwise bands of whole rows where few cells are stored, "
      "and "
      "squares of about 512 KiB");
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
      [&options, &flags, given](const std::string& text) {
        given("--align");
        flags.align = true;
        options.align = parse_align(text);
      },
      "align dense tiles to N bytes, a power of two up to 2097152");
  add_pack_flag(command, flags);
  command.flag(
      "--plain",
      [&options, given] {
        given("--plain");
        options.plain = true;
      },
      "no index, hashes or alignment: nothing beyond the published format");
}

void require_flags_for(const FormatInfo& format, const WriteFlags& flags) {
  if (format.name != "dbdf" && !flags.first.empty()) {
    throw UsageError(fmt::format("{} is for writing dbdf, not {}", flags.first, format.name));
  }
  if (flags.align && flags.options.plain) throw UsageError("--plain aligns nothing; drop --align");
  if (format.name != "dbdf" && format.name != "daphne" && flags.kind) {
    throw UsageError(fmt::format("--kind is for writing dbdf or daphne, not {}", format.name));
  }
}

}  // namespace dapple::cli
