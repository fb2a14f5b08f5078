#include "report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hints.h"
#include "text.h"

namespace dapple::cli {

using nlohmann::ordered_json;

namespace {

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

Status status_of(Errc code, bool type_asked) noexcept {
  switch (code) {
    case Errc::io:
    case Errc::no_memory:
      return kRefused;
    case Errc::out_of_range:
    case Errc::absent:
    case Errc::invalid_argument:
      return kBadUsage;
    case Errc::type_mismatch:
      return type_asked ? kBadUsage : kBadData;
    case Errc::not_recognised:
    case Errc::unsupported:
    case Errc::corrupt:
    case Errc::stale_index:
      break;
  }
  return kBadData;
}

std::string error_line(const Error& error) {
  return "dapple: " + printable(with_advice(error).what());
}

std::string error_json(const Error& error) {
  ordered_json json;
  json["code"] = name(error.code());
  if (error.error_number() != 0) json["errno"] = error.error_number();
  json["file"] = error.file().empty() ? ordered_json() : ordered_json(error.file());
  json["offset"] = error.offset() ? ordered_json(*error.offset()) : ordered_json();
  json["message"] = with_advice(error).detail();
  return dump(json);
}

TakeNote notes_to(const Console& console) {
  if (console.quiet || console.json) return {};
  return [](const std::string& note) { say("dapple: " + printable(note)); };
}

std::string json_number(std::string number) {
  const bool finite = number.find_first_of("nf") == std::string::npos;
  return finite ? number : '"' + number + '"';
}

std::string json_string(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!std::ranges::all_of(text, is_plain)) return dump(ordered_json(text));
  std::string quoted = "\"";
  return quoted.append(text).append("\"");
}

}  // namespace dapple::cli
