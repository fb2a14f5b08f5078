#include "names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>

#include "input.h"
#include "text.h"

namespace dapple::cli {

namespace {

struct NameList {
  std::string_view json_key, key;
  std::shared_ptr<const Names> names;
};

std::array<NameList, 2> lists_of(const std::variant<Matrix, Frame>& object) {
  const auto* const matrix = std::get_if<Matrix>(&object);
  const bool own = matrix != nullptr && matrix->group() == nullptr;
  return {NameList{"row_names", "row names", base(object).row_names()},
          NameList{"col_names", "col names", own ? matrix->col_names() : nullptr}};
}

}  // namespace

std::string names_json(const std::variant<Matrix, Frame>& object) {
  std::string json;
  for (const NameList& list : lists_of(object)) {
    if (list.names == nullptr) continue;
    json += fmt::format(R"(,"{}":{{"count":{},"unique":{}}})", list.json_key, list.names->size(),
                        list.names->unique());
  }
  return json;
}

namespace {

std::shared_ptr<const Names> names_in_file(const std::string& path, bool some) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // some editors put it before UTF-8
  const auto fail = [&](const std::string& action) {
    throw Error(Errc::io, path, std::nullopt,
                "cannot " + action + ": " + std::system_category().message(errno), {}, errno);
  };
  std::ifstream in(path);
  if (!in) fail("open");
  NamesBuilder names;
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (++number == 1 && line.starts_with(kMark)) line.erase(0, kMark.size());
    if (line.ends_with('\r')) line.pop_back();
    try {
      names.add(line);
    } catch (const Error& e) {
      throw e.retold(path, std::nullopt, fmt::format("line {}: {}", number, e.detail()));
    }
  }
  if (in.bad()) fail("read");
  if (some && number == 0) {  // to the library, no names would mean to leave them out
    throw Error(Errc::invalid_argument, path, std::nullopt, "there is no name in it");
  }
  return names.finish();
}

/// The cells of a column of these rows, as text.
std::shared_ptr<const Names> names_in_column(const Frame& frame, std::uint64_t col, Range rows) {
  constexpr std::uint64_t kAtOnce = 65536;
  const Column& info = frame.column_info(col);
  std::vector<std::uint64_t> bits(std::min(kAtOnce, rows.size()));
  NamesBuilder names;
  std::string text;
  while (rows.begin < rows.end) {
    const Range some{rows.begin, std::min(rows.end, rows.begin + kAtOnce)};
    std::fill(bits.begin(), bits.end(), 0);
    frame.read({some, {col, col + 1}}, info.value_type, std::as_writable_bytes(std::span(bits)),
               {.row = sizeof bits[0], .col = 0});
    for (std::uint64_t i = 0; i < some.size(); ++i) {
      text.clear();
      append_text(info, bits[i], text);
      names.add(text);
    }
    rows.begin = some.end;
  }
  return names.finish();
}

}  // namespace

void add_name_flags(Command& command, NameFlags& flags) {
  command.option(
      "--row-names", "LABEL", [&flags](const std::string& text) { flags.column = text; },
      "name the rows by a column of a frame, which is left out");
  command.option(
      "--row-names-file", "FILE", [&flags](const std::string& text) { flags.row_file = text; },
      "name the rows by the lines of a text file");
  command.option(
      "--col-names-file", "FILE", [&flags](const std::string& text) { flags.col_file = text; },
      "name the columns of a matrix by the lines of a text file");
}

void take_names(const NameFlags& flags, const std::variant<Matrix, Frame>& object, Selection& part,
                WriteOptions& options) {
  if (flags.column && flags.row_file) {
    throw UsageError("--row-names and --row-names-file exclude each other");
  }
  const bool some = base(object).rows() != 0 && base(object).cols() != 0;
  if (flags.row_file) options.row_names = names_in_file(*flags.row_file, some);
  if (flags.col_file) options.col_names = names_in_file(*flags.col_file, some);
  if (!flags.column) return;
  const auto* const frame = std::get_if<Frame>(&object);
  if (frame == nullptr) {
    throw UsageError("--row-names is for frames; --row-names-file names the rows of a matrix");
  }
  const std::uint64_t col = frame->column(*flags.column);
  options.row_names = names_in_column(*frame, col, part.rows.value_or(Range{0, frame->rows()}));
  if (!part.cols) {
    part.cols.emplace(frame->cols());
    std::iota(part.cols->begin(), part.cols->end(), std::uint64_t{0});
  }
  std::erase(*part.cols, col);
}

std::vector<std::pair<std::string, std::string>> names_lines(
    const std::variant<Matrix, Frame>& object) {
  constexpr std::uint64_t kShown = 4;
  constexpr std::size_t kWidth = 24;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const NameList& list : lists_of(object)) {
    if (list.names == nullptr) continue;
    const Names& names = *list.names;
    std::string line =
        fmt::format("{}{}:", names.size(), names.unique() ? "" : ", some of them repeated");
    for (std::uint64_t i = 0; i < std::min(kShown, names.size()); ++i) {
      line += fmt::format("{} {}", i == 0 ? "" : ",", shortened(printable(names[i]), kWidth));
    }
    lines.emplace_back(list.key, line + (names.size() > kShown ? ", ..." : ""));
  }
  return lines;
}

}  // namespace dapple::cli
