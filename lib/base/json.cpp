#include "lib/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "dapple/error.h"
#include "lib/base/utf8.h"

namespace dapple::detail {

namespace {

using Parser = nlohmann::json;

/// Builds the tree from the events of nlohmann's parser, whose own values allocate while they are
/// destroyed, and are as deep as the text. The events do not tell where a token is, so the text is
/// followed.
class TreeBuilder : public nlohmann::json_sax<Parser> {
 public:
  /// Without `keeps` only the root's kind is kept.
  TreeBuilder(std::string_view text, const std::string& file, Json& root, bool keeps)
      : text_(text),
        file_(file),
        keeps_(keeps),
        end_(text.starts_with("\xef\xbb\xbf") ? 3 : 0),
        open_{&root} {}
  std::string fault;
  std::optional<std::uint64_t> fault_at{};  // of a text that is no JSON

  bool null() override {
    put(Json::Kind::null, 4);
    return true;
  }
  bool boolean(bool truth) override {
    put(Json::Kind::boolean, truth ? 4 : 5).truth = truth;
    return true;
  }
  bool number_integer(number_integer_t n) override { return number(std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return number(std::to_string(n)); }
  bool number_float(number_float_t, const string_t& digits) override { return number(digits); }
  bool string(string_t& text) override {
    put(Json::Kind::string, string_size()).text = std::move(text);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& key) override {
    take(string_size());
    if (keeps_) open_.back()->keys.push_back(std::move(key));
    return true;
  }
  bool start_object(std::size_t) override { return enter(Json::Kind::object); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(Json::Kind::array); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception...] parse error at line 1, column 5: what is wrong; last read: '...'"
    std::string_view what = error.what();
    if (const auto at = what.find(": "); at != what.npos) what.remove_prefix(at + 2);
    fault = "not valid JSON: " + std::string(what.substr(0, what.find("; last read")));
    fault_at = std::min(position - (position > 0 ? 1 : 0), text_.size());
    return false;
  }

 private:
  static constexpr std::string_view kBetween = " \t\r\n,:";  // tokens

  /// The next token's start. REQUIRES that there is one.
  std::size_t next() const { return text_.find_first_not_of(kBetween, end_); }
  /// The same of a token of `size` bytes, which is then the last.
  std::uint64_t take(std::size_t size) {
    const std::size_t at = next();
    end_ = at + size;
    return at;
  }
  /// Bytes of the string that is the next token.
  std::size_t string_size() const {
    const std::size_t at = next();
    std::size_t end = at + 1;
    while (text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    return end + 1 - at;
  }
  bool number(std::string digits) {
    const std::size_t at = next();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789+-.eE", at), text_.size());
    put(Json::Kind::number, end - at).text = std::move(digits);
    return true;
  }
  /// A value whose first token has `size` bytes.
  Json& put(Json::Kind kind, std::size_t size) {
    if (keeps_ && ++values_ > Json::kMostValues) {
      throw Error(Errc::unsupported, file_, std::nullopt,
                  "more than " + std::to_string(Json::kMostValues) + " values of JSON");
    }
    Json& parent = *open_.back();
    Json& value = open_.size() == 1 ? parent : keeps_ ? parent.items.emplace_back() : passed_;
    value.kind = kind;
    value.at = take(size);
    return value;
  }
  bool enter(Json::Kind kind) {
    if (open_.size() > Json::kDeepest) {
      fault = "more than " + std::to_string(Json::kDeepest) + " objects and arrays in each other";
      return false;
    }
    open_.push_back(&put(kind, 1));
    return true;
  }
  bool leave() {
    take(1);
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  bool keeps_;
  std::size_t end_;          // of the last token
  std::vector<Json*> open_;  // the root, and what is not closed yet
  std::size_t values_ = 0;
  Json passed_{};  // the last value that is not kept
};

/// Finds the members of an object, or the items of an array. Each step gives nothing where the text
/// is not as it should be.
class MemberFinder {
 public:
  explicit MemberFinder(std::string_view text)
      : text_(text), at_(text.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  /// Whether that is all of the text.
  bool each_member(const std::function<void(JsonMember)>& take_member) {
    if (!take('{')) return false;
    if (!take('}')) {
      do {
        auto key = this->key();
        if (!key || !take(':')) return false;
        const auto text = value();
        if (!text) return false;
        take_member({*std::move(key), *text});
      } while (take(','));
      if (!take('}')) return false;
    }
    skip_blanks();
    return at_ == text_.size();
  }
  void each_item(const std::function<void(std::string_view)>& take_item) {
    if (!take('[') || take(']')) return;
    do {
      const auto text = value();
      if (!text) return;
      take_item(*text);
    } while (take(','));
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(char wanted) {
    skip_blanks();
    const bool there = at_ < text_.size() && text_[at_] == wanted;
    if (there) ++at_;
    return there;
  }
  /// Passes over a string that starts here; false when it does not end.
  bool pass_string() {
    for (++at_; (at_ = text_.find('"', at_)) != text_.npos; ++at_) {
      std::size_t begin = at_;  // of backslashes: after an odd number the quote is text
      while (text_[begin - 1] == '\\') --begin;
      if ((at_ - begin) % 2 != 0) continue;
      ++at_;
      return true;
    }
    return false;
  }
  std::optional<std::string> key() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ == text_.size() || text_[at_] != '"' || !pass_string()) return std::nullopt;
    const std::string_view inner = text_.substr(begin + 1, at_ - begin - 2);
    const bool plain = std::none_of(inner.begin(), inner.end(), [](char c) {
      return c == '\\' || static_cast<unsigned char>(c) < ' ';
    });
    if (plain && is_utf8(inner)) return std::string(inner);
    return Json::parse(text_.substr(begin, at_ - begin), "").text;
  }
  std::optional<std::string_view> value() {
    skip_blanks();
    const std::size_t begin = at_;
    for (std::size_t open = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        if (!pass_string()) return std::nullopt;
        continue;
      }
      const char what = kParts[static_cast<unsigned char>(c)];
      if (open == 0 && (what == ',' || what == '}')) break;
      if (what == '{') ++open;
      if (what == '}') --open;
      for (++at_; at_ < text_.size() && kParts[static_cast<unsigned char>(text_[at_])] == 0;) ++at_;
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    found = found.substr(0, found.find_last_not_of(" \t\r\n") + 1);
    return found.empty() ? std::nullopt : std::optional(found);
  }

  /// What begins or ends something, objects and arrays alike; 0 for all else.
  static constexpr std::array<char, 256> kParts = [] {
    std::array<char, 256> parts{};
    parts['"'] = '"';
    parts[','] = ',';
    parts['{'] = parts['['] = '{';
    parts['}'] = parts[']'] = '}';
    return parts;
  }();

  std::string_view text_;
  std::size_t at_;
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

/// The tree of a text, or no more than what its root is.
Json follow(std::string_view json, const std::string& file, std::size_t most, bool keeps) {
  if (json.size() > most) {
    throw Error(
        Errc::unsupported, file, std::nullopt,
        std::to_string(json.size()) + " bytes of JSON are more than " + std::to_string(most));
  }
  // The parser takes a zero byte for the end of the text.
  if (const std::size_t zero = json.find('\0'); zero != json.npos) {
    throw Error(Errc::corrupt, file, zero, "not valid JSON: a zero byte");
  }
  Json root;
  TreeBuilder builder(json, file, root, keeps);
  const bool whole = Parser::sax_parse(json, &builder);
  if (!whole) throw Error(Errc::corrupt, file, builder.fault_at, builder.fault);
  return root;
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
  return follow(json, file, kMost, true);
}

Json::Kind check_json(std::string_view json, const std::string& file, std::size_t most) {
  return follow(json, file, most, false).kind;
}

std::vector<JsonMember> json_members(std::string_view json, const std::string& file) {
  std::vector<JsonMember> members;
  try {
    const auto take = [&](JsonMember member) { members.push_back(std::move(member)); };
    if (MemberFinder(json).each_member(take)) return members;
  } catch (const Error&) {  // a key that is no text
  }
  check_json(json, file, json.size());  // says what is wrong, unless this is another value
  return {};
}

void for_each_json_member(std::string_view object, const std::function<void(JsonMember)>& take) {
  MemberFinder(object).each_member(take);
}

void for_each_json_item(std::string_view array, const std::function<void(std::string_view)>& take) {
  MemberFinder(array).each_item(take);
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
