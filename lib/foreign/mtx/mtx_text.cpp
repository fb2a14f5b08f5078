#include "lib/foreign/mtx/mtx_text.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/base/letters.h"
#include "lib/base/text.h"
#include "lib/foreign/mtx/mtx.h"

namespace dapple::detail::mtx {

namespace {

constexpr std::string_view kBanner = "%%matrixmarket", kByteOrderMark = "\xef\xbb\xbf";

class HeaderReader {
 public:
  explicit HeaderReader(const Text& text) : text_(text), p_(text.base) {}

  Header read() {
    banner();
    skip_comments();
    size(header_.rows, "the number of rows");
    size(header_.cols, "the number of columns");
    if (header_.coordinate) size(header_.entries, "the number of entries");
    end_of_line();
    if (header_.symmetry != Symmetry::general && header_.rows != header_.cols) {
      text_.fail(
          Errc::corrupt, sizes_,
          "a symmetric matrix is square, this one is " + extents_text(header_.rows, header_.cols));
    }
    header_.data = text_.offset(p_);
    return header_;
  }

 private:
  void banner() {
    if (!has_banner({p_, static_cast<std::size_t>(text_.end - p_)})) {
      text_.fail_at(Errc::corrupt, p_, "the banner '%%MatrixMarket'");
    }
    if (*p_ == kByteOrderMark[0]) p_ += kByteOrderMark.size();
    p_ += kBanner.size();
    if (word("the word 'matrix'") != "matrix") {
      text_.fail_at(Errc::unsupported, word_, "the word 'matrix'");
    }
    format();
    field();
    symmetry();
    end_of_line();
  }

  void format() {
    const std::string format = word("'array' or 'coordinate'");
    header_.coordinate = format == "coordinate";
    if (!header_.coordinate && format != "array") {
      text_.fail_at(Errc::corrupt, word_, "'array' or 'coordinate'");
    }
  }

  void field() {
    const std::string fields = "'real', 'integer', 'unsigned-integer' or 'pattern'";
    const std::string field = word(fields);
    header_.pattern = field == "pattern";
    if (header_.pattern) {
      header_.value_type = ValueType::u8;
    } else if (field == "integer") {
      header_.value_type = ValueType::i64;
    } else if (field == "unsigned-integer") {
      header_.value_type = ValueType::u64;
    } else if (field != "real" && field != "double") {
      if (field == "complex") {
        text_.fail(Errc::unsupported, word_,
                   "complex values are not supported; write their real and imaginary parts as two "
                   "matrices");
      }
      text_.fail_at(Errc::corrupt, word_, fields);
    }
    if (header_.pattern && !header_.coordinate) {
      text_.fail(Errc::corrupt, word_, "an array has values, so it is no pattern");
    }
  }

  void symmetry() {
    const std::string symmetries = "'general', 'symmetric' or 'skew-symmetric'";
    const std::string symmetry = word(symmetries);
    if (symmetry == "symmetric" || symmetry == "hermitian") {  // the same of real numbers
      header_.symmetry = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      header_.symmetry = Symmetry::skew;
      if (!is_signed(header_.value_type)) {
        text_.fail(Errc::corrupt, word_,
                   "values without a sign cannot be those of a skew-symmetric matrix");
      }
    } else if (symmetry != "general") {
      text_.fail_at(Errc::corrupt, word_, symmetries);
    }
  }

  /// The next word of the banner, in lower case.
  std::string word(const std::string& wanted) {
    if (!at_token_end(p_, text_.end)) text_.fail_at(Errc::corrupt, p_, "a blank");
    word_ = p_ = skip_blanks(p_, text_.end);
    const std::string_view token = token_at(p_, text_.end);
    if (token.empty()) text_.fail_at(Errc::corrupt, p_, wanted);
    p_ += token.size();
    return to_lower(token);
  }

  void skip_comments() {
    for (;;) {
      sizes_ = skip_blanks(p_, text_.end);
      const bool passed_over = sizes_ != text_.end && (*sizes_ == '%' || *sizes_ == '\n');
      if (!passed_over) break;
      p_ = next_line(sizes_, text_.end);
    }
    p_ = sizes_;
  }

  void size(std::uint64_t& value, const std::string& wanted) {
    p_ = skip_blanks(p_, text_.end);
    const NumberText number = read_number(p_, text_.end, value);
    if (number.error != NumberError::none || !at_token_end(number.end, text_.end)) {
      text_.fail_at(Errc::corrupt, p_, wanted);
    }
    p_ = number.end;
  }

  void end_of_line() {
    p_ = skip_blanks(p_, text_.end);
    if (p_ != text_.end && *p_ != '\n') text_.fail_at(Errc::corrupt, p_, "the end of the line");
    if (p_ != text_.end) ++p_;
  }

  const Text& text_;
  const char* p_;
  const char* word_ = nullptr;   // the last word read
  const char* sizes_ = nullptr;  // first byte of the line of sizes
  Header header_;
};

}  // namespace

std::string Text::line(const char* p) const {
  return std::to_string(1 + std::count(base, p, '\n'));
}

void Text::fail(Errc code, const char* p, const std::string& what, std::string_view option) const {
  throw Error(code, file, offset(p), "line " + line(p) + ": " + what, option);
}

void Text::fail_at(Errc code, const char* p, const std::string& wanted) const {
  const std::string_view token = token_at(p, end);
  const std::string found = p == end        ? "the file ends"
                            : token.empty() ? "line " + line(p) + " ends"
                                            : "line " + line(p) + " has " + shown(token);
  throw Error(code, file, offset(p), found + " where " + wanted + " should be");
}

void Text::fail_range(const char* p, ValueType type) const {
  fail(Errc::type_mismatch, p,
       shown(token_at(p, end)) + " is out of range for " + std::string(name(type)));
}

const char* next_line(const char* p, const char* end) noexcept {
  const void* const stop = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return stop != nullptr ? static_cast<const char*>(stop) + 1 : end;
}

std::string_view token_at(const char* p, const char* end) noexcept {
  const char* stop = p;
  while (!at_token_end(stop, end)) ++stop;
  return {p, static_cast<std::size_t>(stop - p)};
}

std::uint64_t negated(ValueType type, std::uint64_t bits) noexcept {
  if (type != ValueType::f64) return 0 - bits;
  const double value = std::bit_cast<double>(bits);
  return value == 0 ? bits : std::bit_cast<std::uint64_t>(-value);
}

NumberText with_fortran_exponent(const char* p, const char* end, const NumberText& read,
                                 double& value) {
  std::string token(token_at(p, end));
  token[static_cast<std::size_t>(read.end - p)] = 'e';
  const NumberText whole = read_number(token.data(), token.data() + token.size(), value);
  return {p + (whole.end - token.data()), whole.error};
}

Header read_header(const Text& text) { return HeaderReader(text).read(); }

bool has_banner(std::string_view head) noexcept {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  return starts_with_word(head, kBanner);
}

Match recognise_mtx(const Probe& probe) {
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  if (has_banner(head)) return Match::by_content;
  return probe.extension == ".mtx" ? Match::by_name : Match::no;
}

void parse_mtx(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
               texts::Import& import) {
  const Text text(*file);
  const Header header = read_header(text);
  if (header.coordinate) {
    parse_coordinate(text, header, options.threads, import);
  } else {
    parse_array(text, header, import);
  }
}

}  // namespace dapple::detail::mtx
