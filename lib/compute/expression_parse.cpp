// The text of a condition on rows: a tokeniser, and a parser by recursive descent.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "dapple/error.h"
#include "lib/base/letters.h"
#include "lib/base/text.h"
#include "lib/compute/expression.h"
#include "lib/compute/number_condition.h"

namespace dapple {

namespace {

using detail::Relation;
using Part = detail::ExpressionPart;

enum class Kind : std::uint8_t { name, quoted_name, place, text, number, symbol, end };

struct Token {
  Kind kind = Kind::end;
  std::string text{};     // of names and texts without their quotes
  std::size_t begin = 0;  // in the condition
};

[[noreturn]] void fail(std::string_view condition, std::size_t at, const std::string& what) {
  throw Error(Errc::invalid_argument, "in the condition " + detail::shown(condition) + ": " + what +
                                          ", at character " + std::to_string(at + 1));
}

bool in_name(char c) noexcept {
  const char letter = detail::to_lower(c);
  return (letter >= 'a' && letter <= 'z') || detail::is_digit(c) || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Tokens {
 public:
  explicit Tokens(std::string_view condition) : condition_(condition) { advance(); }

  const Token& next() const noexcept { return next_; }
  Token take() {
    Token taken = std::move(next_);
    advance();
    return taken;
  }
  bool sees(std::string_view symbol) const {
    return next_.kind == Kind::symbol && next_.text == symbol;
  }
  bool take(std::string_view symbol) {
    const bool there = sees(symbol);
    if (there) advance();
    return there;
  }
  /// A word of the language, in small letters or capitals.
  bool sees_word(std::string_view word) const {
    return next_.kind == Kind::name && detail::to_lower(next_.text) == word;
  }
  bool take_word(std::string_view word) {
    const bool there = sees_word(word);
    if (there) advance();
    return there;
  }
  [[noreturn]] void fail_expected(const std::string& what) const {
    const std::string seen = next_.kind == Kind::end ? "the end" : detail::shown(next_.text);
    fail(condition_, next_.begin, what + " was expected, not " + seen);
  }

 private:
  void advance() {
    at_ = std::min(condition_.find_first_not_of(" \t\n\v\f\r", at_), condition_.size());
    next_.kind = Kind::end;
    next_.text.clear();
    next_.begin = at_;
    if (at_ == condition_.size()) return;
    const char c = condition_[at_];
    if (c == '"' || c == '\'' || c == '`') return quoted(c);
    if (c == '#') {
      ++at_;
      return run(Kind::place, detail::is_digit);
    }
    if (starts_number()) return number();
    if (in_name(c)) return run(Kind::name, in_name);
    symbol();
  }

  template <class F>
  void run(Kind kind, const F& belongs) {
    const std::size_t begin = at_;
    while (at_ < condition_.size() && belongs(condition_[at_])) ++at_;
    next_.kind = kind;
    next_.text = condition_.substr(begin, at_ - begin);
  }

  void quoted(char quote) {
    next_.kind = quote == '`' ? Kind::quoted_name : Kind::text;
    for (++at_;; ++at_) {
      if (at_ == condition_.size()) {
        fail(condition_, next_.begin, "the quote that begins there has no end");
      }
      if (condition_[at_] == quote) {
        if (at_ + 1 == condition_.size() || condition_[at_ + 1] != quote) break;
        ++at_;
      }
      next_.text += condition_[at_];
    }
    ++at_;
  }

  bool starts_number() const {
    const auto digit = [&](std::size_t at) {
      return at < condition_.size() && detail::is_digit(condition_[at]);
    };
    std::size_t at = at_;
    if (condition_[at] == '-' || condition_[at] == '+') ++at;
    if (condition_.substr(at, 3) == "inf" && at > at_) return true;
    if (at < condition_.size() && condition_[at] == '.') ++at;
    return digit(at);
  }

  void number() {
    const char* const first = condition_.data() + at_;
    const char* const end = condition_.data() + condition_.size();
    double value = 0;
    const char* const last = detail::read_number(first, end, value).end;
    next_.kind = Kind::number;
    next_.text = std::string(first, last);
    at_ += next_.text.size();
    const char next = at_ < condition_.size() ? condition_[at_] : ' ';
    if (in_name(next) || next == ':' || next == '-') {
      fail(condition_, next_.begin,
           "a number ends before " + detail::shown(condition_.substr(at_, 1)) +
               "; put words, times and durations in quotes, and names of columns that start with a "
               "digit in `backquotes`");
    }
  }

  void symbol() {
    constexpr std::array<std::string_view, 10> symbols = {"==", "!=", "<=", ">=", "=",
                                                          "<",  ">",  "(",  ")",  ","};
    for (const std::string_view one : symbols) {
      if (condition_.substr(at_).starts_with(one)) {
        next_.kind = Kind::symbol;
        next_.text = std::string(one);  // g++ 12 warns of an assignment
        at_ += one.size();
        return;
      }
    }
    fail(condition_, at_,
         detail::shown(condition_.substr(at_, 1)) + " has no meaning there" +
             (condition_[at_] == '[' ? " (a list is in parentheses)" : ""));
  }

  std::string_view condition_;
  std::size_t at_ = 0;
  Token next_;
};

/// `value R column` as `column R value`.
Relation turned(Relation relation) noexcept {
  switch (relation) {
    case Relation::below:
      return Relation::above;
    case Relation::at_most:
      return Relation::at_least;
    case Relation::above:
      return Relation::below;
    case Relation::at_least:
      return Relation::at_most;
    case Relation::equal:
    case Relation::unequal:
      break;
  }
  return relation;
}

ColumnCondition compare_text(Relation relation, const std::string& text) {
  switch (relation) {
    case Relation::below:
      return ColumnCondition::below(text);
    case Relation::at_most:
      return ColumnCondition::at_most(text);
    case Relation::above:
      return ColumnCondition::above(text);
    case Relation::at_least:
      return ColumnCondition::at_least(text);
    default:
      return ColumnCondition::equal(text);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view condition) : condition_(condition), tokens_(condition) {}

  Part whole() {
    Part made = either();
    if (tokens_.next().kind != Kind::end) tokens_.fail_expected("and, or, or the end");
    return made;
  }

 private:
  using Joined = detail::ExpressionNode::Kind;

  Part either() {
    return chain(Joined::any, "or", [this] { return both(); });
  }
  Part both() {
    return chain(Joined::all, "and", [this] { return negated(); });
  }
  /// All parts are joined at once: a condition may have many thousands.
  template <class Next>
  Part chain(Joined kind, std::string_view word, const Next& next) {
    std::vector<Part> parts{next()};
    while (tokens_.take_word(word)) parts.push_back(next());
    return detail::join(kind, parts);
  }

  Part negated() {
    constexpr int kDeepest = 200;
    if (++depth_ > kDeepest) fail(condition_, tokens_.next().begin, "it is nested too deeply");
    Part made = [&] {
      if (tokens_.take_word("not")) return negation(negated());
      if (!tokens_.take("(")) return test();
      Part inside = either();
      if (!tokens_.take(")")) tokens_.fail_expected("and, or, or )");
      return inside;
    }();
    --depth_;
    return made;
  }
  static Part negation(const Part& part) { return detail::join(Joined::negation, {&part, 1}); }

  /// One test, or the two of `3 <= x < 9`.
  Part test() {
    if (sees_value()) {
      const Token value = tokens_.take();
      const auto relation = take_relation();
      if (!relation) tokens_.fail_expected("a comparison such as <");
      const Column column = take_column();
      Part first = comparison(column, turned(*relation), value);
      const auto second = take_relation();
      if (!second) return first;
      return detail::join(Joined::all,
                          std::array{first, comparison(column, *second, take_value())});
    }
    const Column column = take_column();
    if (const auto relation = take_relation()) return comparison(column, *relation, take_value());
    tokens_.take_word("is");
    const bool negative = tokens_.take_word("not");
    Part made = word_test(column);
    return negative ? negation(made) : made;
  }

  using Column = detail::ExpressionNode::Column;

  Condition number_test(Relation relation, const Token& number) const {
    const auto made = detail::number_condition(relation, number.text);
    if (!made) {
      fail(condition_, number.begin,
           "the number " + detail::shown(number.text) + " is beyond the range of f64");
    }
    return *made;
  }

  Part comparison(const Column& column, Relation relation, const Token& value) const {
    const bool number = value.kind == Kind::number;
    Part made = detail::make_test(
        column, number ? number_test(relation, value) : compare_text(relation, value.text));
    return relation == Relation::unequal ? negation(made) : made;
  }

  Part word_test(const Column& column) {
    if (tokens_.take_word("missing")) return detail::make_test(column, ColumnCondition::missing());
    if (tokens_.take_word("nan")) return detail::make_test(column, Condition::nan());
    if (tokens_.take_word("prefix")) {
      if (tokens_.next().kind != Kind::text) tokens_.fail_expected("a text in quotes");
      return detail::make_test(column, ColumnCondition::prefix(tokens_.take().text));
    }
    if (!tokens_.take_word("in")) {
      tokens_.fail_expected("a comparison such as <, or in, prefix, missing or nan,");
    }
    return detail::make_test(column, one_of());
  }

  ColumnCondition one_of() {
    std::vector<std::string> texts;
    std::vector<Condition> numbers;
    if (!tokens_.take("(")) tokens_.fail_expected("( and a list of values");
    while (!tokens_.take(")")) {
      const std::size_t at = tokens_.next().begin;
      const Token value = take_value();
      if (value.kind == Kind::number) {
        numbers.push_back(number_test(Relation::equal, value));
      } else {
        texts.push_back(value.text);
      }
      if (!texts.empty() && !numbers.empty()) {
        fail(condition_, at, "a list has numbers or texts, not both");
      }
      if (!tokens_.sees(")") && !tokens_.take(",")) tokens_.fail_expected(", or )");
    }
    return numbers.empty() ? ColumnCondition::one_of(std::move(texts))
                           : ColumnCondition::one_of(std::move(numbers));
  }

  Column take_column() {
    const Token& next = tokens_.next();
    if (next.kind == Kind::place) {
      std::uint64_t col = 0;
      const char* const end = next.text.data() + next.text.size();
      const auto read = detail::read_number(next.text.data(), end, col);
      if (next.text.empty() || read.error != detail::NumberError::none) {
        tokens_.fail_expected("the number of a column after #");
      }
      tokens_.take();
      return col;
    }
    if (next.kind != Kind::name && next.kind != Kind::quoted_name) {
      tokens_.fail_expected("the name of a column");
    }
    return tokens_.take().text;
  }

  std::optional<Relation> take_relation() {
    constexpr std::pair<std::string_view, Relation> kAll[] = {
        {"==", Relation::equal},   {"=", Relation::equal}, {"!=", Relation::unequal},
        {"<=", Relation::at_most}, {"<", Relation::below}, {">=", Relation::at_least},
        {">", Relation::above}};
    for (const auto& [symbol, relation] : kAll) {
      if (tokens_.take(symbol)) return relation;
    }
    return std::nullopt;
  }

  bool sees_value() const {
    const Kind kind = tokens_.next().kind;
    return kind == Kind::number || kind == Kind::text;
  }

  Token take_value() {
    if (sees_value()) return tokens_.take();
    for (const std::string_view word : {"true", "false"}) {
      if (tokens_.sees_word(word)) {
        Token token = tokens_.take();
        token.text = word;
        return token;
      }
    }
    if (tokens_.sees_word("inf")) {
      Token token = tokens_.take();
      token.kind = Kind::number;
      return token;
    }
    tokens_.fail_expected("a number, true, false, or a text in quotes");
  }

  std::string_view condition_;
  Tokens tokens_;
  int depth_ = 0;
};

}  // namespace

Expression Expression::parse(std::string_view text) { return Expression(Parser(text).whole()); }

}  // namespace dapple
