// Text as compiled programs read it, who know the type and rank beforehand.
#include <algorithm>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/array_shape.h"
#include "lib/foreign/futhark/plain_number.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

namespace {

class TypedScanner {
 public:
  TypedScanner(const StreamBytes& in, const Type& type, StreamValue& value)
      : in_(in), type_(type), value_(value), tiles_(value.tiles), plain_(type.element) {}

  const char* scan(const char* p) {
    value_.element = type_.element;
    value_.data = in_.offset(p);
    value_.dims.clear();
    at_ = p;
    take();
    if (type_.rank == 0) {
      element();
      tiles_.element(0, {in_.offset(token_.data())});
    } else if (token_ == "empty") {
      empty();
    } else {
      array();
    }
    return at_;
  }

 private:
  void take() {
    token_ = next_token(at_, in_.end);
    at_ = token_.data() + token_.size();
  }
  [[noreturn]] void fail(std::string_view wanted) const { in_.fail(token_.data(), wanted); }
  void expect(std::string_view wanted) {
    take();
    if (token_ != wanted) fail(shown(wanted));
  }

  void element() const {
    if (!lex_typed(Token(token_, type_.element).text(), type_.element)) {
      fail("a number of type " + std::string(info(type_.element).name));
    }
  }

  void array() {
    for (unsigned i = 0; i < type_.rank; ++i) {
      if (token_ != "[") fail("the '[' of a " + text(type_));
      shape_.open();
      if (i + 1 < type_.rank) take();
    }
    row();
    bool wanted = false;  // a comma has been read
    while (shape_.depth() > 0) {
      take();
      if (token_ == "]") {
        close();
        wanted = false;
      } else if (!wanted && token_ == ",") {
        wanted = true;
      } else if (wanted && token_ == "[") {
        shape_.open();
        if (shape_.depth() < type_.rank) continue;
        row();
        wanted = false;
      } else {
        fail(wanted ? "'[' or ']'" : "',' or ']'");
      }
    }
    value_.dims = shape_.dims(type_.rank);
  }

  // The elements of an innermost row, and its closing bracket.
  void row() {
    std::uint64_t col = 0;
    while (true) {
      at_ = skip_blank<Dialect::typed>(at_, in_.end);
      const char* const start = at_;
      if (const char* const stop = plain_.end_of(start, in_.end)) {
        at_ = stop;
      } else {
        take();
        if (token_ == "]") break;
        element();
      }
      tiles_.element(col++, {in_.offset(start)});
      take();
      if (token_ == "]") break;
      if (token_ != ",") fail("',' or ']'");
    }
    shape_.count(col);
    close();
    tiles_.end_row(col);
  }

  void close() {
    const std::uint64_t wanted = shape_.wanted(), found = shape_.counted();
    if (!shape_.close()) {
      in_.fail_as(Errc::corrupt, token_.data(), uneven_row(found, wanted));
    }
    if (shape_.depth() > 0) shape_.count();
  }

  // empty([0][3]f32), with blanks anywhere between the tokens.
  void empty() {
    const char* const start = token_.data();
    expect("(");
    bool zero = false;
    for (unsigned i = 0; i < type_.rank; ++i) {
      expect("[");
      take();
      value_.dims.push_back(dimension());
      zero |= value_.dims.back() == 0;
      expect("]");
    }
    take();
    if (token_ == "[") fail(counted(type_.rank, "dimension"));
    const std::string_view name = info(type_.element).name;
    if (token_ != name) {
      const bool other = find_element(&ElementInfo::name, token_).has_value();
      in_.fail_as(other ? Errc::type_mismatch : Errc::corrupt, token_.data(),
                  "the element type is " + shown(token_) + ", not the " + std::string(name) +
                      " that was asked for");
    }
    expect(")");
    if (!zero) in_.fail(start, "an empty array with a dimension of 0");
    if (!count_elements(value_.dims)) {
      in_.fail_as(Errc::corrupt, start, too_many_elements(text(type_.element, value_.dims)));
    }
  }

  // Decimal digits with an optional sign; what follows them in the token is ignored.
  std::uint64_t dimension() const {
    std::string_view digits = token_.substr(0, kTokenLimit);
    Numeral n;
    n.negative = digits.starts_with('-');
    if (n.negative || digits.starts_with('+')) digits.remove_prefix(1);
    n.digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
    if (n.digits.empty()) fail("a dimension");
    const auto dim = dimension_of(n);
    if (!dim) fail("a dimension from 0 to 2^63 - 1");
    return *dim;
  }

  const StreamBytes& in_;
  const Type& type_;
  StreamValue& value_;
  TileNotes tiles_;
  PlainNumbers plain_;
  ArrayShape shape_;
  const char* at_ = nullptr;
  std::string_view token_;
};

}  // namespace

const char* scan_typed(const StreamBytes& in, const char* p, const Type& type, StreamValue& value) {
  return TypedScanner(in, type, value).scan(p);
}

}  // namespace dapple::detail::futhark
