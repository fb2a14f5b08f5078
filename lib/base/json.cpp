#include "lib/base/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "dapple/error.h"

namespace dapple::detail {

namespace {

using Parser = nlohmann::json;

/// Builds the tree from the events of nlohmann's parser, whose own values allocate while they are
/// destroyed, and are as deep as the text.
class TreeBuilder : public nlohmann::json_sax<Parser> {
 public:
  explicit TreeBuilder(Json& root) : open_{&root} {}
  std::string fault;
  std::optional<std::uint64_t> fault_at{};  // of a text that is no JSON

  bool null() override { return put({}); }
  bool boolean(bool truth) override { return put({Json::Kind::boolean, truth, {}, {}, {}}); }
  bool number_integer(number_integer_t n) override { return number(std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return number(std::to_string(n)); }
  bool number_float(number_float_t, const string_t& digits) override { return number(digits); }
  bool string(string_t& text) override {
    return put({Json::Kind::string, false, std::move(text), {}, {}});
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& key) override {
    open_.back()->keys.push_back(std::move(key));
    return true;
  }
  bool start_object(std::size_t) override { return enter(Json::Kind::object); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(Json::Kind::array); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fault = "this is not valid JSON in UTF-8";
    fault_at = position;
    return false;
  }

 private:
  bool number(std::string digits) {
    return put({Json::Kind::number, false, std::move(digits), {}, {}});
  }
  bool put(Json&& value) {
    place() = std::move(value);
    return true;
  }
  Json& place() {
    Json& parent = *open_.back();
    return open_.size() == 1 ? parent : parent.items.emplace_back();
  }
  bool enter(Json::Kind kind) {
    if (open_.size() > Json::kDeepest) {
      fault = "more than " + std::to_string(Json::kDeepest) + " objects and arrays in each other";
      return false;
    }
    Json& entered = place();
    entered.kind = kind;
    open_.push_back(&entered);
    return true;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;  // the root, and what is not closed yet
};

void append(std::string& out, const Json& value) {
  switch (value.kind) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.truth ? "true" : "false";
      return;
    case Json::Kind::number:
      out += value.text;
      return;
    case Json::Kind::string:
      return append_json_string(out, value.text);
    case Json::Kind::array:
    case Json::Kind::object:
      break;
  }
  const bool object = value.is(Json::Kind::object);
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ',';
    if (object) {
      append_json_string(out, value.keys[i]);
      out += ':';
    }
    append(out, value.items[i]);
  }
  out += object ? '}' : ']';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const auto i = kPlain.find(c); i != std::string_view::npos) {
      out.append(1, '\\').append(1, kNames[i]);
    } else if (byte < 0x20) {
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

Json Json::parse(std::string_view json, const std::string& file) {
  if (json.size() > kMost) {
    throw Error(
        Errc::unsupported, file, std::nullopt,
        std::to_string(json.size()) + " bytes of JSON are more than " + std::to_string(kMost));
  }
  // The parser takes a zero byte for the end of the text.
  if (const std::size_t zero = json.find('\0'); zero != json.npos) {
    throw Error(Errc::corrupt, file, zero, "this is not valid JSON in UTF-8");
  }
  Json root;
  TreeBuilder builder(root);
  const bool whole = Parser::sax_parse(json, &builder);
  if (!whole) throw Error(Errc::corrupt, file, builder.fault_at, builder.fault);
  return root;
}

const Json* Json::find(std::string_view key) const noexcept {
  if (kind != Kind::object) return nullptr;
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::optional<std::uint64_t> Json::count() const noexcept {
  if (kind != Kind::number) return std::nullopt;
  std::uint64_t n = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, n);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return n;
}

std::string Json::dump() const {
  std::string out;
  append(out, *this);
  return out;
}

}  // namespace dapple::detail
