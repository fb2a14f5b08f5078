// Text as `futhark dataset` and the data libraries read it.
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/foreign/futhark/array_shape.h"
#include "lib/foreign/futhark/plain_number.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/futhark/string_literal.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

namespace {

class UntypedScanner {
 public:
  UntypedScanner(const StreamBytes& in, StreamValue& value)
      : in_(in), end_(in.end), value_(value), tiles_(value.tiles) {}

  const char* scan(const char* p) {
    value_.data = in_.offset(p);
    do {
      p = next_part(p);
      p = close_brackets(p);
    } while (shape_.depth() > 0);
    value_.dims = shape_.dims(rank_);
    if (!count_elements(value_.dims)) {
      in_.fail_as(Errc::corrupt, in_.begin + value_.data,
                  too_many_elements(text(value_.element, value_.dims)));
    }
    return p;
  }

 private:
  bool stands(const char* p, char c) const noexcept { return p != end_ && *p == c; }

  // Opens brackets, down to what has no brackets in it: a row of elements, a string, an empty
  // array, or a scalar. Returns the end of that.
  const char* next_part(const char* p) {
    while (true) {
      if (p == end_) in_.fail(p, "a value");
      if (*p == '"') return string(p);
      if (*p == 'e') return empty(p);
      if (*p != '[') return scalar(p);
      if (shape_.full()) {
        in_.fail_as(Errc::unsupported, p, "more than 127 brackets are inside each other");
      }
      shape_.open();
      p = skip_blank<Dialect::untyped>(p + 1, end_);
      if (p != end_ && *p != '[' && *p != '"' && *p != 'e') return row(p);
    }
  }

  // From the end of a part to the start of the next, or to the end of the value.
  const char* close_brackets(const char* p) {
    while (shape_.depth() > 0) {
      shape_.count();
      p = skip_blank<Dialect::untyped>(p, end_);
      if (stands(p, ',')) {
        p = skip_blank<Dialect::untyped>(p + 1, end_);
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
                      std::string(info(value_.element).name));
    }
  }

  const char* scalar(const char* p) {
    const auto numeral = lex_untyped(p, end_);
    if (!numeral) in_.fail(p, "a value");
    require(p, numeral->type, shape_.depth());
    tiles_.element(0, {in_.offset(p)});
    return numeral->end;
  }

  // The first element of each row says its type; the others may leave the suffix out.
  const char* row(const char* p) {
    const char* stop = same_again(p);
    if (stop == nullptr) {
      const auto first = lex_untyped(p, end_);
      if (!first) in_.fail(p, "an element");
      require(p, first->type, shape_.depth());
      stop = first->end;
    }
    std::uint64_t col = 0;
    while (true) {
      tiles_.element(col++, {in_.offset(p)});
      p = skip_blank<Dialect::untyped>(stop, end_);
      if (stands(p, ',')) {
        p = skip_blank<Dialect::untyped>(p + 1, end_);
        if (!stands(p, ']')) {
          stop = plain_.end_of(p, end_);
          if (stop == nullptr) stop = further_element(p);
          continue;
        }
      }
      if (!stands(p, ']')) in_.fail(p, "',' or ']'");
      break;
    }
    shape_.count(col);
    close(p);
    tiles_.end_row(col);
    return p + 1;
  }

  const char* further_element(const char* p) const {
    const auto numeral = lex_untyped(p, end_, value_.element);
    if (!numeral) in_.fail(p, "an element of type " + std::string(info(value_.element).name));
    return numeral->end;
  }

  // The end of a plain first element, if its type and depth are those of the rows before it.
  const char* same_again(const char* p) const noexcept {
    if (!found_ || shape_.depth() != rank_) return nullptr;
    const char* const stop = plain_.end_of(p, end_);
    if (stop == nullptr || value_.element == ElementType::i32) return stop;
    // Without a suffix it is an i32, or an f64.
    const std::string_view element(p, static_cast<std::size_t>(stop - p));
    return element.ends_with(info(value_.element).name) ? stop : nullptr;
  }

  const char* string(const char* p) {
    const char* const quote = p++;
    if (shape_.full()) {
      in_.fail_as(Errc::unsupported, quote, "the array has more than 127 dimensions");
    }
    shape_.open();
    require(quote, ElementType::u8, shape_.depth());
    std::uint64_t col = 0;
    while (!stands(p, '"')) {
      const char* const start = p;
      const std::string character = next_character(p, end_);
      if (character.empty()) in_.fail(start, "a character of a string");
      for (std::uint8_t i = 0; i < character.size(); ++i) {
        tiles_.element(col++, {in_.offset(start), static_cast<std::uint8_t>(i + 1)});
      }
    }
    shape_.count(col);
    close(p);
    tiles_.end_row(col);
    return p + 1;
  }

  // empty([0][3]f32), without blanks: fixes the extents of the depths below.
  const char* empty(const char* p) {
    const char* const start = p;
    constexpr std::string_view kWord = "empty(";
    if (!std::string_view(p, static_cast<std::size_t>(end_ - p)).starts_with(kWord)) {
      in_.fail(p, "a value");
    }
    p += kWord.size();
    unsigned rank = shape_.depth();
    bool zero = false;
    for (; stands(p, '['); ++p) {
      const auto numeral = lex_untyped_integer(p + 1, end_);
      if (!numeral || !stands(numeral->end, ']')) in_.fail(p + 1, "a dimension in brackets");
      const auto dim = dimension_of(*numeral);
      if (!dim) in_.fail(p + 1, "a dimension from 0 to 2^63 - 1");
      p = numeral->end;
      if (rank == kMaxRank) {
        in_.fail_as(Errc::unsupported, p, "the array has more than 127 dimensions");
      }
      zero |= *dim == 0;
      if (!shape_.fix(rank++, *dim)) {
        in_.fail(start, "an array of the same shape as those before it");
      }
    }
    const auto type = find_element_at(p);
    if (!type) in_.fail(p, "'[' or an element type");
    p += info(*type).name.size();
    if (!zero) in_.fail(start, "an empty array with a dimension of 0");
    require(start, *type, rank);
    if (!stands(p, ')')) in_.fail(p, "')'");
    return p + 1;
  }

  std::optional<ElementType> find_element_at(const char* p) const noexcept {
    const std::string_view rest(p, static_cast<std::size_t>(end_ - p));
    for (std::size_t i = 0; i < kElements.size(); ++i) {
      if (rest.starts_with(kElements[i].name)) return static_cast<ElementType>(i);
    }
    return std::nullopt;
  }

  const StreamBytes& in_;
  const char* end_;
  StreamValue& value_;
  TileNotes tiles_;
  ArrayShape shape_;
  PlainNumbers plain_{ElementType::i32};
  unsigned rank_ = 0;
  bool found_ = false;  // the first part, which decides type and rank
};

}  // namespace

const char* scan_untyped(const StreamBytes& in, const char* p, StreamValue& value) {
  return UntypedScanner(in, value).scan(p);
}

}  // namespace dapple::detail::futhark
