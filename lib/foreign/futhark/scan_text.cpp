// Text values in one pass: found good, measured, and computed.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/plain_number.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

namespace {

/// The extents of an array, as far as brackets have been passed.
/// The first bracket to close at each depth fixes the extent there; all others must agree.
class ArrayShape {
 public:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  ArrayShape() { extents_.fill(kUnknown); }

  unsigned depth() const noexcept { return depth_; }
  bool full() const noexcept { return depth_ == kMaxRank; }
  /// REQUIRES !full().
  void open() noexcept { counts_[depth_++] = 0; }
  /// Counts an element, or a closed bracket, of the innermost open one.
  void count(std::uint64_t n = 1) noexcept { counts_[depth_ - 1] += n; }
  std::uint64_t counted() const noexcept { return counts_[depth_ - 1]; }
  /// Elements that the innermost open bracket must have, or kUnknown.
  std::uint64_t wanted() const noexcept { return extents_[depth_ - 1]; }
  /// Closes the innermost bracket. False when its extent differs from that of the others.
  bool close() noexcept {
    --depth_;
    return fix(depth_, counts_[depth_]);
  }
  /// Says that brackets at depth `level` have `extent` elements. False when others had not.
  bool fix(unsigned level, std::uint64_t extent) noexcept {
    if (extents_[level] == kUnknown) extents_[level] = extent;
    return extents_[level] == extent;
  }
  std::vector<std::uint64_t> dims(unsigned rank) const {
    return {extents_.begin(), extents_.begin() + rank};
  }

 private:
  unsigned depth_ = 0;
  std::array<std::uint64_t, kMaxRank> counts_;
  std::array<std::uint64_t, kMaxRank> extents_;
};

/// Untyped text is what `futhark dataset` and the data libraries read: all of it says what it is.
/// Typed text is what compiled programs read, which know type and rank beforehand.
template <Dialect dialect>
class Scanner {
  static constexpr bool kTyped = dialect == Dialect::typed;

 public:
  Scanner(const StreamBytes& in, StreamValue& value, TextCells* cells)
      : in_(in), end_(in.end), value_(value), cells_(cells) {}

  void give(const Type& type) { require(end_, type.element, type.rank); }

  const char* scan(const char* p) {
    const char* const start = p = blank(p);
    do {
      p = close_brackets(part(p));
    } while (shape_.depth() > 0);
    value_.dims = shape_.dims(rank_);
    if (!count_elements(value_.dims)) {
      in_.fail_as(Errc::corrupt, start, too_many_elements(text(value_.element, value_.dims)));
    }
    return p;
  }

 private:
  bool stands(const char* p, char c) const noexcept { return p != end_ && *p == c; }
  const char* blank(const char* p) const noexcept { return skip_blank<dialect>(p, end_); }
  std::string_view rest(const char* p) const noexcept {
    return {p, static_cast<std::size_t>(end_ - p)};
  }
  std::string type_name() const { return std::string(info(value_.element).name); }

  // Opens brackets, down to what has no brackets in it: a row of elements, a string, an empty
  // array, or a scalar. Returns the end of that.
  const char* part(const char* p) {
    for (bool opened = false;; opened = true) {
      if (kTyped ? !opened && shape_.depth() == 0 && rank_ > 0 && rest(p).starts_with("empty")
                 : stands(p, 'e')) {
        return empty(p);
      }
      if (!kTyped && stands(p, '"')) return string(p);
      if (kTyped ? rank_ == 0 : !stands(p, '[')) return scalar(p);
      if (!stands(p, '[')) {
        in_.fail(p, begun_ ? "'[' or ']'" : "the '[' of a " + text(Type{value_.element, rank_}));
      }
      if (shape_.full()) {
        in_.fail_as(Errc::unsupported, p, "more than 127 brackets are inside each other");
      }
      shape_.open();
      p = blank(p + 1);
      const bool deeper = p != end_ && (*p == '[' || *p == '"' || *p == 'e');
      if (kTyped ? shape_.depth() == rank_ : p != end_ && !deeper) return row(p);
      if (!kTyped && p == end_) in_.fail(p, "a value");
    }
  }

  // From the end of a part to the start of the next, or to the end of the value.
  const char* close_brackets(const char* p) {
    begun_ = true;
    while (shape_.depth() > 0) {
      shape_.count();
      p = blank(p);
      if (stands(p, ',')) {
        p = blank(p + 1);
        if (!stands(p, ']')) return p;
      }
      if (!stands(p, ']')) in_.fail(p, "',' or ']'");
      close(p++);
    }
    return p;
  }

  void close(const char* bracket) {
    const std::uint64_t wanted = shape_.wanted(), found = shape_.counted();
    if (shape_.close()) return;
    in_.fail_as(Errc::corrupt, bracket, uneven_row(found, wanted));
  }

  // All parts must have the same type, at the same depth.
  void require(const char* p, ElementType type, unsigned rank) {
    if (!found_) {
      value_.element = type;
      plain_ = PlainNumbers(type);
      rank_ = rank;
      found_ = true;
    } else if (rank != rank_) {
      in_.fail_as(Errc::corrupt, p,
                  "the element is inside " + counted(rank, "bracket") +
                      ", those before it inside " + std::to_string(rank_));
    } else if (type != value_.element) {
      in_.fail_as(Errc::corrupt, p,
                  "the element is a " + std::string(info(type).name) + ", those before it are " +
                      type_name());
    }
  }

  void add(std::uint64_t bits) {
    if (cells_ != nullptr) cells_->add(bits, size_of(info(value_.element).cell));
  }

  const char* scalar(const char* p) {
    if (kTyped) return element(p);
    const auto numeral = lex_untyped(p, end_);
    if (!numeral) in_.fail(p, "a value");
    require(p, numeral->type, shape_.depth());
    add(value_of<dialect>(*numeral));
    return numeral->end;
  }

  // The elements of an innermost row, and its closing bracket. The first element of each row of
  // untyped text says its type; the others may leave the suffix out.
  const char* row(const char* p) {
    if (!kTyped) p = first_element(p);
    return visit_type(info(value_.element).cell,
                      [&](auto tag) { return elements<decltype(tag)>(p, kTyped ? 0 : 1); });
  }

  // `p` is where the first of them may start, or after `col` of them.
  template <class T>
  const char* elements(const char* p, std::uint64_t col) {
    for (;; ++col) {
      p = blank(p);
      if (col > 0 && stands(p, ',')) {
        p = blank(p + 1);
      } else if (col > 0 && !stands(p, ']')) {
        in_.fail(p, "',' or ']'");
      }
      if (stands(p, ']')) break;
      const char* const stop = plain<T>(p, false);
      p = stop != nullptr ? stop : element(p);
    }
    shape_.count(col);
    close(p);
    return p + 1;
  }

  template <class T>
  const char* plain(const char* p, bool telling) {
    T value{};
    const char* const stop = plain_.template read<dialect>(p, end_, telling, value);
    if (stop != nullptr && cells_ != nullptr) {
      cells_->add(std::bit_cast<BitsOf<T>>(value), sizeof value);
    }
    return stop;
  }

  const char* first_element(const char* p) {
    if (found_ && shape_.depth() == rank_) {
      const char* const stop = visit_type(info(value_.element).cell,
                                          [&](auto tag) { return plain<decltype(tag)>(p, true); });
      if (stop != nullptr) return stop;
    }
    const auto numeral = lex_untyped(p, end_);
    if (!numeral) in_.fail(p, "an element");
    require(p, numeral->type, shape_.depth());
    add(value_of<dialect>(*numeral));
    return numeral->end;
  }

  // Any element of the known type.
  const char* element(const char* p) {
    if constexpr (kTyped) {
      const std::string_view token = next_token(p, end_);
      const Token counted(token, value_.element);
      const auto numeral = lex_typed(counted.text(), value_.element);
      if (!numeral) in_.fail(token.data(), "a number of type " + type_name());
      add(value_of<dialect>(*numeral));
      return token.data() + token.size();
    } else {
      const auto numeral = lex_untyped(p, end_, value_.element);
      if (!numeral) in_.fail(p, "an element of type " + type_name());
      add(value_of<dialect>(*numeral));
      return numeral->end;
    }
  }

  const char* string(const char* p) {
    const char* const quote = p++;
    if (shape_.full()) {
      in_.fail_as(Errc::unsupported, quote, "the array has more than 127 dimensions");
    }
    shape_.open();
    require(quote, ElementType::u8, shape_.depth());
    while (!stands(p, '"')) {
      const char* const start = p;
      const std::string character = next_character(p, end_);
      if (character.empty()) in_.fail(start, "a character of a string");
      for (const char byte : character) add(static_cast<unsigned char>(byte));
      shape_.count(character.size());
    }
    close(p);
    return p + 1;
  }

  // empty([0][3]f32): fixes the extents of the depths below. Typed text may have blanks anywhere.
  const char* empty(const char* p) {
    const auto gap = [&](const char* at) { return kTyped ? blank(at) : at; };
    constexpr std::string_view kWord = "empty";
    const char* const start = p;
    p = rest(p).starts_with(kWord) ? gap(p + kWord.size()) : p;
    if (p == start || !stands(p, '(')) in_.fail(kTyped ? p : start, kTyped ? "'('" : "a value");
    p = gap(p + 1);
    unsigned rank = shape_.depth();
    bool zero = false;
    for (; kTyped ? rank < rank_ : stands(p, '['); p = gap(p + 1)) {
      if (!stands(p, '[')) in_.fail(p, "'['");
      const std::uint64_t dim = dimension(gap(p + 1), p);
      if (rank == kMaxRank) {
        in_.fail_as(Errc::unsupported, p, "the array has more than 127 dimensions");
      }
      zero |= dim == 0;
      if (!shape_.fix(rank++, dim)) {
        in_.fail(start, "an array of the same shape as those before it");
      }
      p = gap(p);
      if (!stands(p, ']')) in_.fail(p, "']'");
    }
    if (kTyped && stands(p, '[')) in_.fail(p, counted(rank_, "dimension"));
    p = type_of_empty(start, p, rank);
    if (!zero) in_.fail(start, "an empty array with a dimension of 0");
    p = gap(p);
    if (!stands(p, ')')) in_.fail(p, "')'");
    return p + 1;
  }

  // The dimension at `p`; `end` is where it ends. In typed text what follows the digits in their
  // token is ignored.
  std::uint64_t dimension(const char* p, const char*& end) const {
    std::optional<Numeral> numeral;
    if constexpr (kTyped) {
      const std::string_view token = next_token(p, end_);
      std::string_view digits = token.substr(0, kTokenLimit);
      end = token.data() + token.size();
      numeral.emplace();
      numeral->negative = digits.starts_with('-');
      if (numeral->negative || digits.starts_with('+')) digits.remove_prefix(1);
      digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
      if (digits.empty()) in_.fail(p, "a dimension");
      numeral->digits = digits;
    } else {
      numeral = lex_untyped_integer(p, end_);
      if (!numeral || !stands(numeral->end, ']')) in_.fail(p, "a dimension in brackets");
      end = numeral->end;
    }
    const auto dim = dimension_of(*numeral);
    if (!dim) in_.fail(p, "a dimension from 0 to 2^63 - 1");
    return *dim;
  }

  // The element type at `p` of an empty array of `rank` dimensions; returns its end.
  const char* type_of_empty(const char* start, const char* p, unsigned rank) {
    const std::string_view word = kTyped ? next_token(p, end_) : rest(p);
    const auto found = std::find_if(kElements.begin(), kElements.end(), [&](const ElementInfo& e) {
      return kTyped ? word == e.name : word.starts_with(e.name);
    });
    const bool known = found != kElements.end();
    if (kTyped && word != info(value_.element).name) {
      in_.fail_as(known ? Errc::type_mismatch : Errc::corrupt, p,
                  "the element type is " + shown(word) + ", not the " + type_name() +
                      " that was asked for");
    }
    if (!known) in_.fail(p, "'[' or an element type");
    require(start, static_cast<ElementType>(found - kElements.begin()), rank);
    return p + found->name.size();
  }

  const StreamBytes& in_;
  const char* end_;
  StreamValue& value_;
  TextCells* cells_;  // null: what is read is not wanted
  ArrayShape shape_;
  PlainNumbers plain_{ElementType::i32};
  unsigned rank_ = 0;
  bool found_ = false;  // what decides type and rank
  bool begun_ = false;  // the first part has been read
};

}  // namespace

const char* scan_text(const StreamBytes& in, const char* p, const Type* type, StreamValue& value,
                      TextCells* cells) {
  if (type == nullptr) return Scanner<Dialect::untyped>(in, value, cells).scan(p);
  Scanner<Dialect::typed> scanner(in, value, cells);
  scanner.give(*type);
  return scanner.scan(p);
}

}  // namespace dapple::detail::futhark
