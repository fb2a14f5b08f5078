// A strict reader of JSON, for the few small JSON files that stand beside data files. Values are
// pulled in order by a caller who knows what to expect; anything else is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dapple::detail {

/// All functions skip white space first and throw corrupt, naming the byte, when the text goes on
/// differently. No recursion: depth costs a byte per level.
class JsonReader {
 public:
  /// `text` and `file`, the name in errors, must outlive the reader.
  JsonReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// Walks an object or array: `open` once, then `more` before each member until it is false.
  ///   json.open('{'); for (bool first = true; json.more('}', first);) { key(); value; }
  void open(char bracket);
  bool more(char closing, bool& first);
  /// The name of an object's member, and its colon.
  std::string key();

  std::string string();
  /// A whole number from -2^63 to 2^63 - 1, without fraction or exponent.
  std::int64_t integer();
  /// True, and past it, when a null comes next.
  bool take_null();
  void skip_value();
  /// REQUIRES that nothing but white space follows.
  void end();

  /// Byte where what comes next starts.
  std::uint64_t offset();
  [[noreturn]] void fail(std::uint64_t offset, const std::string& expected) const;

 private:
  bool take(char c);
  bool take_word(std::string_view word);
  char peek();
  void skip_scalar();
  void skip_number();
  void append_escape(std::string& out);
  unsigned hex4();

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

/// `text`, which must be UTF-8, as a JSON string with its quotes.
std::string json_string(std::string_view text);

}  // namespace dapple::detail
