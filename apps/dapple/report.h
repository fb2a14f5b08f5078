// Turning an Error into a line, a JSON object, and an exit status.
#pragma once

#include <string>
#include <string_view>

#include "cli.h"
#include "dapple/error.h"
#include "dapple/open.h"

namespace dapple::cli {

/// What the program returns.
enum Status : int {
  kDone = 0,
  kBadData = 1,   // the data is bad, or something was found
  kBadUsage = 2,  // wrong usage, or no such block, cell, column
  kRefused = 3,   // the operating system refused
};

/// The exit status for an error. `type_asked`: the caller requested a value type, so that a value
/// that does not fit is bad usage, not bad data.
Status status_of(Errc code, bool type_asked) noexcept;

/// "dapple: FILE: corrupt at byte 26: ...; --flag helps", without a line end.
std::string error_line(const Error& error);

/// {"code":...,"file":...,"offset":...,"message":...}; file and offset are null when unknown.
std::string error_json(const Error& error);

/// Says each note on standard error, unless that is to be quiet.
TakeNote notes_to(const Console& console);

/// A number as text, as JSON: that has no infinities and no NaN, which become "inf", "-inf", "nan".
std::string json_number(std::string number);

/// `text` as a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace dapple::cli
