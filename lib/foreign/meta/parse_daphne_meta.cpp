#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/meta/daphne_meta.h"

namespace dapple::detail {

namespace {

using Json = nlohmann::json;

/// The type of a frame's column of words.
constexpr std::string_view kText = "str";

/// Iterates over text for the JSON parser and counts what it has taken.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* p, std::size_t& count) : p_(p), count_(&count) {}
  reference operator*() const { return *p_; }
  CountedText& operator++() {
    ++p_;
    ++*count_;
    return *this;
  }
  bool operator==(const CountedText& other) const { return p_ == other.p_; }
  bool operator!=(const CountedText& other) const { return p_ != other.p_; }

 private:
  const char* p_;
  std::size_t* count_;
};

/// Reads one .meta file, each key at most once, from the events of nlohmann's parser: nothing is
/// kept but what is wanted, so a hostile file takes no more memory than its longest string. The
/// parser does not tell where a token starts; `begin_token` finds that out.
class MetaReader {
 public:
  MetaReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  DaphneMeta read() {
    const char* const begin = text_.data();
    if (text_.starts_with("\xef\xbb\xbf")) end_ = 3;  // a byte order mark, which the parser skips
    Json::sax_parse(CountedText(begin, taken_), CountedText(begin + text_.size(), taken_), this);
    const std::size_t end = end_ - 1;  // the closing brace
    // The parser takes a zero byte for the end of the text.
    const std::size_t more = text_.find_first_not_of(kSpace, end_);
    if (more != text_.npos) fail(more, "the JSON object ends here, but the file goes on");
    if (!rows_) fail(end, "there is no member 'numRows'");
    if (!cols_) fail(end, "there is no member 'numCols'");
    meta_.rows = *rows_;
    meta_.cols = *cols_;
    if (meta_.kind == ObjectKind::frame) {
      finish_frame(end);
    } else if (!type_) {
      fail(end, "there is neither a member 'valueType' nor a 'schema'");
    } else {
      meta_.value_type = *type_;
    }
    return std::move(meta_);
  }

  // Events of the parser.
  bool null() {
    begin_token();
    end_ = taken_;
    if (key_ != Key::type) require_unwanted("null");
    return true;
  }
  bool boolean(bool) {
    begin_token();
    end_ = taken_;
    require_unwanted("a truth value");
    return true;
  }
  bool number_integer(Json::number_integer_t value) { return whole_number(value, value < 0); }
  bool number_unsigned(Json::number_unsigned_t value) {
    return whole_number(static_cast<std::int64_t>(value), false);
  }
  bool number_float(Json::number_float_t, const std::string&) {
    begin_number();
    require_unwanted("a number that is not a whole one of 64 bits");
    return true;
  }
  bool string(std::string& value) {
    begin_token();
    end_ = taken_;
    if (key_ == Key::label) {
      label() = std::move(value);
    } else if (key_ == Key::type && level_ == Level::column && value == kText) {
      meta_.columns.back().meaning.kind = MeaningKind::text;
      column_types_.back() = ValueType::u32;
    } else if (key_ == Key::type) {
      (level_ == Level::column ? column_types_.back() : type_) = type_named(value);
    } else {
      require_unwanted("a string");
    }
    return true;
  }
  bool key(std::string& name) {
    begin_token();
    end_ = taken_;
    if (skipped_ == 0) take_key(name);
    return true;
  }
  bool start_object(std::size_t) {
    begin_bracket();
    if (skipped_ > 0) {
      ++skipped_;
    } else if (level_ == Level::outside) {
      level_ = Level::object;
    } else if (level_ == Level::schema) {
      level_ = Level::column;
      meta_.columns.push_back({"", ValueType::f64});
      column_types_.emplace_back();
      labelled_ = typed_ = false;
    } else {
      require_unwanted("an object");
      ++skipped_;
    }
    key_ = Key::other;
    return true;
  }
  bool start_array(std::size_t) {
    begin_bracket();
    if (skipped_ == 0 && level_ == Level::object && key_ == Key::schema) {
      level_ = Level::schema;
    } else {
      if (skipped_ == 0) require_unwanted("an array");
      ++skipped_;
    }
    key_ = Key::other;
    return true;
  }
  bool end_object() {
    begin_bracket();
    if (skipped_ > 0) {
      --skipped_;
    } else {
      level_ = level_ == Level::column ? Level::schema : Level::outside;
    }
    return true;
  }
  bool end_array() {
    begin_bracket();
    if (skipped_ > 0) {
      --skipped_;
    } else {
      level_ = Level::object;
    }
    return true;
  }
  bool binary(Json::binary_t&) { return true; }  // not in text
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) {
    // "[json.exception...] parse error at line 1, column 5: what is wrong; last read: '...'"
    std::string_view what = e.what();
    if (const auto at = what.find(": "); at != what.npos) what.remove_prefix(at + 2);
    what = what.substr(0, what.find("; last read"));
    const std::size_t byte = position > 0 ? position - 1 : 0;
    fail(std::min(byte, text_.size()), "not valid JSON: " + std::string(what));
  }

 private:
  enum class Level : std::uint8_t { outside, object, schema, column };
  enum class Key : std::uint8_t { other, rows, cols, stored, type, schema, label };
  static constexpr std::string_view kSpace = " \t\r\n";

  [[noreturn]] void fail(std::size_t offset, const std::string& detail) const {
    throw Error(Errc::corrupt, file_, offset, detail);
  }

  void begin_token() {
    token_ = std::min(text_.find_first_not_of(" \t\r\n,:", end_), text_.size());
  }
  void begin_bracket() {
    begin_token();
    end_ = token_ + 1;
  }
  void begin_number() {  // the parser has looked at the character after it, too
    begin_token();
    end_ = std::min(text_.find_first_not_of("0123456789+-.eE", token_), text_.size());
  }

  /// Throws when the token is the value of a member that wants another kind of value.
  void require_unwanted(const char* what) const {
    if (skipped_ > 0) return;
    if (level_ == Level::outside) fail(token_, "not a JSON object");
    if (level_ == Level::schema) fail(token_, "a column of the schema must be an object");
    if (key_ == Key::other) return;
    const bool count = key_ == Key::rows || key_ == Key::cols || key_ == Key::stored;
    fail(token_, "the member '" + name_ + "' must be " +
                     (count                 ? "a whole number"
                      : key_ == Key::schema ? "an array"
                                            : "a string") +
                     ", not " + what);
  }

  bool whole_number(std::int64_t value, bool negative) {
    begin_number();
    const bool count = key_ == Key::rows || key_ == Key::cols;
    if (skipped_ > 0 || (!count && key_ != Key::stored)) {
      require_unwanted("a number");
    } else if (count && value < 0) {
      fail(token_, "the member '" + name_ + "' is " +
                       std::string(text_.substr(token_, end_ - token_)) +
                       (negative ? ", but a count is never negative" : ", which is too large"));
    } else if (key_ == Key::stored) {
      if (value >= 0) meta_.stored = static_cast<std::uint64_t>(value);  // -1: not known
    } else {
      (key_ == Key::rows ? rows_ : cols_) = static_cast<std::uint64_t>(value);
    }
    return true;
  }

  void take_key(const std::string& name) {
    const auto once = [&](bool& seen, Key key) {
      if (std::exchange(seen, true)) fail(token_, "the member '" + name + "' is there twice");
      key_ = key;
      name_ = name;
    };
    key_ = Key::other;
    if (level_ == Level::column) {
      if (name == "label") once(labelled_, Key::label);
      if (name == "valueType") once(typed_, Key::type);
      return;
    }
    if (name == "numRows") once(seen_[0], Key::rows);
    if (name == "numCols") once(seen_[1], Key::cols);
    if (name == "numNonZeros") once(seen_[2], Key::stored);
    if (name == "valueType") once(seen_[3], Key::type);
    if (name == "schema") {
      once(seen_[4], Key::schema);
      meta_.kind = ObjectKind::frame;
    }
  }

  std::string& label() { return meta_.columns.back().label; }

  ValueType type_named(const std::string& wanted) const {
    if (const auto type = find_daphne_type(wanted)) return *type;
    throw Error(Errc::unsupported, file_, token_,
                "the value type " + shown(wanted) +
                    " is none of f64, f32, si64, si32, si8, ui64, ui32 and ui8");
  }

  void finish_frame(std::size_t end) {
    if (meta_.columns.size() != meta_.cols) {
      fail(end, "'numCols' is " + std::to_string(meta_.cols) + ", but the schema has " +
                    counted(meta_.columns.size(), "column"));
    }
    for (std::size_t i = 0; i < meta_.columns.size(); ++i) {
      const std::optional<ValueType> its_type = column_types_[i] ? column_types_[i] : type_;
      if (!its_type) fail(end, "column " + std::to_string(i) + " has no value type");
      meta_.columns[i].value_type = *its_type;
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t taken_ = 0;  // by the parser
  std::size_t token_ = 0;  // first byte of the current token
  std::size_t end_ = 0;    // of the last token
  Level level_ = Level::outside;
  std::uint64_t skipped_ = 0;  // depth inside a value that nobody wants
  Key key_ = Key::other;       // whose value comes next
  std::string name_;           // of that member, unless `other`
  std::array<bool, 5> seen_{};
  bool labelled_ = false, typed_ = false;  // the current column
  DaphneMeta meta_;
  std::optional<std::uint64_t> rows_, cols_;
  std::optional<ValueType> type_;  // of a matrix, or of columns that name none
  std::vector<std::optional<ValueType>> column_types_;
};

}  // namespace

DaphneMeta parse_daphne_meta(std::string_view text, const std::string& file) {
  return MetaReader(text, file).read();
}

}  // namespace dapple::detail
