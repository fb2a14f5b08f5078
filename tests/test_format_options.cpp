// Options of formats as text: who knows them, what they take, and what errors say.

#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::required_error;
using test::TempDir;

namespace {

std::string refusal(const FormatOptions& options, bool writing = false) {
  const auto error = error_of([&] { check_format_options(options, writing); });
  if (!error) return "";
  CHECK(error->code() == Errc::invalid_argument);
  return error->detail();
}

}  // namespace

TEST_CASE("format options: every option in the tables takes what it says, and nothing else") {
  std::size_t seen = 0;
  for (const FormatInfo& format : formats()) {
    for (const OptionInfo& option : format.options) {
      CAPTURE(option.name);
      ++seen;
      const std::string name(option.name);
      CHECK(option.name.starts_with(std::string(format.name) + "."));
      CHECK_FALSE(option.help.empty());
      // Some of the values are of each kind.
      const std::string refused = option.kind == OptionKind::pairs ? "x" : "maybe";
      const bool any_text = option.name == "csv.comment" || option.kind == OptionKind::list;
      const std::string line = refusal({{name, refused}}, option.writing);
      CHECK(line == (any_text ? ""
                              : "the option '" + name + "' must be " + std::string(option.takes) +
                                    ", not '" + refused + "'"));
      const std::string taken = option.kind == OptionKind::truth    ? "true"
                                : option.kind == OptionKind::number ? "18446744073709551615"
                                : option.kind == OptionKind::pairs  ? "a=b=u8"
                                                                    : ",";
      CHECK(refusal({{name, taken}}, option.writing).empty());
      CHECK(refusal({{name, taken}}, !option.writing).starts_with("there is no option '" + name));
    }
  }
  CHECK(seen == 16);
}

TEST_CASE("format options: a misspelled name is told from the right one") {
  CHECK(refusal({{"csv.delimeter", ";"}}) ==
        "there is no option 'csv.delimeter'; did you mean 'csv.delimiter'?");
  CHECK(refusal({{"colour", "red"}}) == "there is no option 'colour'");
  CHECK(refusal({{"idv.deflated", "true"}}, true) ==
        "there is no option 'idv.deflated'; did you mean 'idv.deflate'?");
  const auto wrong = required_error(error_of([] { check_format_options({{"csv.skip", "-1"}}); }));
  CHECK(wrong.option() == "csv.skip");
}

TEST_CASE("format options: opening and converting check those of all formats, and use their own") {
  const TempDir dir;
  test::write_text(dir / "t.csv", "a;b\n1,5;2\n");
  const auto open_with = [&](const FormatOptions& options) {
    return open(dir / "t.csv", {.format_options = options});
  };
  const auto frame = std::get<Frame>(
      open_with({{"csv.delimiter", "x"}, {"csv.delimiter", ";"}, {"csv.decimal", ","}}));
  CHECK(frame.read_column<double>(0, {0, 1}) == std::vector<double>{1.5});  // the last one counts
  CHECK(std::get<Frame>(open_with({{"csv.decimal", ","}, {"idv.keep_hidden", "true"}})).cols() ==
        2);
  CHECK_THROWS_AS(open_with({{"idv.keep_hidden", "yes"}}), const Error&);
  CHECK_THROWS_AS(open_with({{"csv.headers", "true"}}), const Error&);
  CHECK_THROWS_AS(convert(frame, {}, dir / "o.dbdf", {.format_options = {{"csv.skip", "1"}}}),
                  const Error&);
  test::write_text(dir / "tabs.txt", "a\tb\n1\t2\n");
  const auto tabs =
      open(dir / "tabs.txt", {.format = "csv", .format_options = {{"csv.delimiter", "tab"}}});
  CHECK(std::get<Frame>(tabs).cols() == 2);
}
