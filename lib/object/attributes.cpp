#include "lib/object/attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dapple::detail {

namespace {

using AnyJson = nlohmann::json;

/// Keeps nothing of the text but what is wrong with it: nlohmann's values allocate while they are
/// destroyed, which must not fail.
class AttributesCheck : public nlohmann::json_sax<AnyJson> {
 public:
  std::string fault;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return value() && enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fault = "are not valid JSON in UTF-8, from about byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  bool value() {
    if (depth_ == 0) fault = "are JSON, but not an object";
    return depth_ > 0;
  }
  bool enter() {
    if (++depth_ <= kDeepestAttributes) return true;
    fault = "have more than " + std::to_string(kDeepestAttributes) +
            " objects and arrays in each other";
    return false;
  }
  bool leave() {
    --depth_;
    return true;
  }

  unsigned depth_ = 0;
};

}  // namespace

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
  AttributesCheck check;
  AnyJson::sax_parse(json, &check);
  return check.fault;
}

bool is_empty_object(std::string_view json) noexcept {
  return json.find_first_not_of("{} \t\r\n") == json.npos;
}

}  // namespace dapple::detail
