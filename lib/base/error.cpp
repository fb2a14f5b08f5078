#include "dapple/error.h"

namespace dapple {

std::string_view name(Errc code) noexcept {
  switch (code) {
    case Errc::io:
      return "io";
    case Errc::not_recognised:
      return "not_recognised";
    case Errc::unsupported:
      return "unsupported";
    case Errc::corrupt:
      return "corrupt";
    case Errc::out_of_range:
      return "out_of_range";
    case Errc::absent:
      return "absent";
    case Errc::type_mismatch:
      return "type_mismatch";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::stale_index:
      return "stale_index";
    case Errc::no_memory:
      return "no_memory";
  }
  return "unknown";
}

namespace {

// Of the codes only "corrupt" is spelled out: it says what the detail does not, that the file is to
// blame.
std::string line(Errc code, const std::string& file, std::optional<std::uint64_t> offset,
                 const std::string& detail) {
  std::string text;
  if (!file.empty()) text.append(file).append(": ");
  const bool corrupt = code == Errc::corrupt;
  if (corrupt) text += "corrupt";
  if (offset) text.append(corrupt ? " at byte " : "at byte ").append(std::to_string(*offset));
  if (corrupt || offset) text += ": ";
  return text += detail;
}

}  // namespace

Error::Error(Errc code, std::string file, std::optional<std::uint64_t> offset, std::string detail,
             std::string_view option, int error_number)
    : std::runtime_error(line(code, file, offset, detail)),
      code_(code),
      file_(std::move(file)),
      offset_(offset),
      detail_(std::move(detail)),
      option_(option),
      error_number_(error_number) {}

}  // namespace dapple
