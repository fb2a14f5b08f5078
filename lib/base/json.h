// A JSON text as a tree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dapple::detail {

/// One value. Members of an object are in the order of the text.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  static constexpr std::size_t kMost = 16 << 20;       // bytes of a text
  static constexpr std::size_t kMostValues = 1 << 19;  // of a tree, which takes 100 bytes for each
  static constexpr unsigned kDeepest = 64;             // objects and arrays in each other

  Kind kind = Kind::null;
  bool truth = false;             // of a boolean
  std::string text;               // of a string; of a number, its digits
  std::vector<Json> items;        // of an array or object
  std::vector<std::string> keys;  // of an object: one for each item
  std::uint64_t at = 0;           // byte of the text where it starts

  /// Throws as `check_json`; unsupported for more than `kMostValues` values, too.
  static Json parse(std::string_view json, const std::string& file);

  /// The member of an object; null when there is none, or this is no object.
  const Json* find(std::string_view key) const noexcept;
  bool is(Kind wanted) const noexcept { return kind == wanted; }
  bool is_text(std::string_view wanted) const noexcept {
    return kind == Kind::string && text == wanted;
  }
  /// A whole number that is not negative; nothing for anything else.
  std::optional<std::uint64_t> count() const noexcept;
  /// The same value as text without blanks.
  std::string dump() const;
};

/// What a text is, of which no tree is made. Throws corrupt, naming the byte, for what is not JSON
/// or too deep; unsupported for more than `most` bytes. A byte order mark is passed over.
Json::Kind check_json(std::string_view json, const std::string& file,
                      std::size_t most = Json::kMost);

/// A member of an object, and where the text of its value is.
struct JsonMember {
  std::string key;
  std::string_view text;
};

/// The members of an object, as views of its text. Of their values no more is looked at than where
/// they end, so each may turn out not to be JSON. Nothing for another value than an object. Throws
/// as `check_json`, but for the size.
std::vector<JsonMember> json_members(std::string_view json, const std::string& file);

/// Hands out the members of an object, or the values of an array, one after the other; nothing of
/// another value. REQUIRES JSON.
void for_each_json_member(std::string_view object, const std::function<void(JsonMember)>& take);
void for_each_json_item(std::string_view array, const std::function<void(std::string_view)>& take);

/// Appends `text` in quotes, which is UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace dapple::detail
