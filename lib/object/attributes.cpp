#include "lib/object/attributes.h"

#include <utility>

#include "dapple/error.h"
#include "lib/base/json.h"

namespace dapple::detail {

std::string fault_of_attributes(std::string_view json) {
  if (json.size() > kMostAttributes) {
    return "take " + std::to_string(json.size()) + " bytes, more than " +
           std::to_string(kMostAttributes);
  }
  // The parser passes over a byte order mark, and takes a zero byte for the end of the text.
  const std::size_t zero = json.find('\0');
  if (json.starts_with("\xef\xbb\xbf") || zero != json.npos) {
    return "are not valid JSON in UTF-8, from about byte " +
           std::to_string(zero == json.npos ? 0 : zero) + " on";
  }
  try {
    return check_json(json, "") == Json::Kind::object ? "" : "are JSON, but not an object";
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
    return e.offset() ? "are not valid JSON in UTF-8, from about byte " +
                            std::to_string(*e.offset()) + " on"
                      : "have " + e.detail();
  }
}

bool is_empty_object(std::string_view json) noexcept {
  return json.find_first_not_of("{} \t\r\n") == json.npos;
}

std::string turned_attributes(std::string json) {
  constexpr std::string_view kDimensions = "dimension_names";
  if (json.find(kDimensions) == json.npos) return json;
  Json known = Json::parse(json, "");
  for (std::size_t i = 0; i < known.keys.size(); ++i) {
    std::vector<Json>& names = known.items[i].items;
    if (known.keys[i] == kDimensions && names.size() == 2) std::swap(names[0], names[1]);
  }
  return known.dump();
}

}  // namespace dapple::detail
