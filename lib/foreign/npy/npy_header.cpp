#include "lib/foreign/npy/npy_header.h"

#include <algorithm>
#include <limits>
#include <set>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/foreign/npy/python_literal.h"

namespace dapple::detail::npy {

namespace {

constexpr std::size_t kMostDimensions = 64;  // NumPy 2 holds 64, NumPy 1 only 32

class HeaderParser {
 public:
  HeaderParser(LiteralReader& in, const std::string& file, Words words)
      : in_(in), file_(file), words_(words) {}

  Header parse() {
    bool seen[3] = {};
    in_.expect('{');
    while (!in_.take('}')) {
      const std::uint64_t at = in_.offset();
      const std::string key = in_.string();
      const std::size_t number = key == "descr" ? 0 : key == "fortran_order" ? 1 : 2;
      if ((number == 2 && key != "shape") || seen[number]) {
        throw Error(Errc::corrupt, file_, at,
                    "the header has a " + shown(key) +
                        "; each of 'descr', 'fortran_order' and 'shape' is there once");
      }
      seen[number] = true;
      in_.expect(':');
      if (number == 0) parse_descr();
      if (number == 1) header_.fortran = in_.boolean();
      if (number == 2) header_.shape = parse_shape();
      if (!in_.sees('}')) in_.expect(',');
    }
    if (!seen[0] || !seen[1] || !seen[2]) {
      throw Error(Errc::corrupt, file_, in_.offset(),
                  std::string("expected the key '") +
                      (!seen[0]   ? "descr"
                       : !seen[1] ? "fortran_order"
                                  : "shape") +
                      "' in the header, got none");
    }
    in_.expect_end();
    return std::move(header_);
  }

 private:
  void parse_descr() {
    if (in_.sees('[')) {
      header_.records = true;
      parse_fields();
      return;
    }
    const std::uint64_t at = in_.offset();
    if (in_.sees('(')) fail_unsupported(at, "an array of sub-arrays");
    const std::string dtype = in_.string();
    Field field = field_of({}, dtype, at);
    if ((field.has_words() && words_ == Words::in_records) || field.meaning.has_time()) {
      fail_unsupported(at, "the dtype " + shown(dtype) + " outside of records");
    }
    field.meaning = {};
    header_.item_size = field.size;
    header_.fields.push_back(std::move(field));
  }

  /// The fields of a record: (name, type), ((title, name), type) or (name, type, ()).
  void parse_fields() {
    std::set<std::string> labels;
    in_.expect('[');
    while (!in_.take(']')) {
      in_.expect('(');
      const std::uint64_t at = in_.offset();
      std::string label;
      if (in_.take('(')) {
        in_.string();  // the title
        in_.expect(',');
        label = in_.string();
        in_.expect(')');
      } else {
        label = in_.string();
      }
      in_.expect(',');
      if (in_.sees('[')) fail_unsupported(at, "a record inside a record, " + shown(label));
      const std::string dtype = in_.string();
      if (in_.take(',') && !in_.sees(')') && !parse_shape().empty()) {
        fail_unsupported(at, "a field that is an array, " + shown(label));
      }
      in_.expect(')');
      add_field(std::move(label), dtype, at, labels);
      if (!in_.sees(']')) in_.expect(',');
    }
  }

  void add_field(std::string label, const std::string& dtype, std::uint64_t at,
                 std::set<std::string>& labels) {
    std::uint64_t size = 0;
    if (const Dtype split = split_dtype(dtype); label.empty() && split.kind == 'V') {
      size = split.size;  // padding between the fields
    } else {
      if (!labels.insert(label).second) {
        throw Error(Errc::corrupt, file_, at, "the field " + shown(label) + " is there twice");
      }
      header_.fields.push_back(field_of(std::move(label), dtype, at));
      header_.fields.back().offset = header_.item_size;
      size = header_.fields.back().size;
    }
    if (size > std::numeric_limits<std::uint64_t>::max() - header_.item_size) {
      throw Error(Errc::corrupt, file_, at, "the records have 2^64 bytes or more");
    }
    header_.item_size += size;
  }

  Field field_of(std::string label, const std::string& dtype, std::uint64_t at) const {
    Field field;
    if (!describe(split_dtype(dtype), field)) {
      fail_unsupported(
          at, "the dtype " + shown(dtype) + (label.empty() ? "" : " of field " + shown(label)));
    }
    field.label = std::move(label);
    return field;
  }

  std::vector<std::uint64_t> parse_shape() {
    std::vector<std::uint64_t> shape;
    in_.expect('(');
    while (!in_.take(')')) {
      if (shape.size() == kMostDimensions) {
        throw Error(Errc::corrupt, file_, in_.offset(),
                    "an array has at most " + std::to_string(kMostDimensions) + " dimensions");
      }
      shape.push_back(in_.integer());
      if (shape.size() == 1 || !in_.sees(')')) in_.expect(',');  // (3) is a number, (3,) a shape
    }
    return shape;
  }

  [[noreturn]] void fail_unsupported(std::uint64_t at, const std::string& got) const {
    throw Error(
        Errc::unsupported, file_, at,
        "items may be b1, i1 to i8, u1 to u8, f2, f4, f8, or records of these, of S, U, and "
        "of M8 and m8 in D, s, ms, us or ns, not " +
            got);
  }

  LiteralReader& in_;
  const std::string& file_;
  Words words_;
  Header header_;
};

/// 'descr' of a schema: a type, or a list of (label, type).
std::string descr_of(const Schema& schema, bool meanings, std::span<const std::uint64_t> widths) {
  if (schema.kind == ObjectKind::matrix) {
    std::string text = "'";
    text += spell_dtype(schema.value_type);
    text += '\'';
    return text;
  }
  std::string list = "[";
  std::set<std::string_view> labels;
  for (std::uint64_t col = 0; col < schema.cols; ++col) {
    const Column& column = schema.columns[col];
    const bool utf8 = is_utf8(column.label);
    if (column.label.empty() || !utf8 || !labels.insert(column.label).second) {
      throw Error(Errc::unsupported, "NumPy cannot hold the label of column " +
                                         std::to_string(col) + ", which is " +
                                         (column.label.empty() ? "empty"
                                          : !utf8              ? "not UTF-8"
                                                  : "used twice: " + shown(column.label)));
    }
    if (col > 0) list += ", ";
    list.append("(").append(python_repr(column.label)).append(", ");
    const Meaning& meaning = column.meaning;
    if (meanings && meaning.has_words()) {
      list.append("'<U").append(std::to_string(widths[col])).append("')");
    } else if (meanings && meaning.has_time()) {
      list.append(meaning.kind == MeaningKind::timestamp ? "'<M8[" : "'<m8[");
      list.append(name(meaning.unit)).append("]')");
    } else if (meanings && meaning.kind == MeaningKind::boolean) {
      list.append("'|b1')");
    } else {
      list.append("'").append(spell_dtype(column.value_type)).append("')");
    }
  }
  return list.append("]");
}

/// NumPy counts items, and their bytes, in a signed 64-bit number.
void require_countable(const Schema& schema, std::span<const std::uint64_t> widths) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t items = schema.rows, item = 0, bytes = 0;
  bool fits = schema.rows <= most;
  if (schema.kind == ObjectKind::matrix) {
    fits = fits && schema.cols <= most && multiply(items, schema.cols, items);
    item = size_of(schema.value_type);
  } else {
    for (std::uint64_t col = 0; col < schema.cols; ++col) {
      const std::uint64_t width = widths.empty() ? 0 : widths[col];
      item += width > 0 ? width * 4 : size_of(schema.columns[col].value_type);
    }
  }
  if (!fits || !multiply(items, item, bytes) || bytes > most) {
    throw Error(Errc::unsupported, extents_text(schema.rows, schema.cols) +
                                       " cells are more than NumPy can hold: 2^63 bytes");
  }
}

/// `text` as Latin-1, or nothing when it holds other characters.
std::optional<std::string> latin1(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = *next_utf8(text);
    if (c.value > 0xff) return std::nullopt;
    out += static_cast<char>(static_cast<unsigned char>(c.value));
    text.remove_prefix(c.size);
  }
  return out;
}

/// The dictionary of a header, and where the array starts.
struct Literal {
  LiteralReader text;
  std::uint64_t end;
};

Literal find_literal(const ByteSource& file, Range within) {
  const std::uint64_t size = std::min<std::uint64_t>(within.size(), 12);
  ByteReader head(file.bytes(within.begin, size), within.begin, file.name());
  const auto magic = head.take(kMagic.size(), "the magic of an npy file");
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(Errc::corrupt, file.name(), within.begin,
                "the file does not start with \\x93NUMPY");
  }
  const std::uint64_t version = head.offset();
  const auto major = head.le<std::uint8_t>("the version");
  const auto minor = head.le<std::uint8_t>("the version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(Errc::unsupported, file.name(), version,
                "npy version " + std::to_string(major) + "." + std::to_string(minor) +
                    " is not known, only 1.0, 2.0 and 3.0");
  }
  const std::uint64_t length = major == 1 ? head.le<std::uint16_t>("the header's length")
                                          : head.le<std::uint32_t>("the header's length");
  const std::uint64_t start = head.offset();
  if (length > within.end - start) {
    throw Error(Errc::corrupt, file.name(), start,
                too_short(length, "a header", within.end - start));
  }
  return {LiteralReader(file.bytes(start, length), start, major == 3, file.name()), start + length};
}

}  // namespace

Header parse_header(const ByteSource& file, Range within, Words words) {
  Literal literal = find_literal(file, within);
  Header header = HeaderParser(literal.text, file.name(), words).parse();
  header.data = literal.end;
  return header;
}

std::uint64_t array_bytes(const Header& header, std::uint64_t items, const ByteSource& file,
                          Range within) {
  const std::uint64_t left = within.end - header.data;
  std::uint64_t bytes = 0;
  const bool counted = multiply(items, header.item_size, bytes);
  if (!counted || bytes > left) {
    throw Error(Errc::corrupt, file.name(), header.data,
                "the array takes " + (counted ? std::to_string(bytes) : "more than 2^64") +
                    " bytes, and the file has " + std::to_string(left) + " for it");
  }
  return bytes;
}

std::string emit_header(const Schema& schema, bool meanings,
                        std::span<const std::uint64_t> widths) {
  require_countable(schema, widths);
  // NumPy leaves room for the first dimension to grow to as many digits as this.
  constexpr std::size_t growth_digits = 21, align = 64;
  const std::string rows = std::to_string(schema.rows);
  std::string cols;
  if (schema.kind == ObjectKind::matrix) cols.append(1, ' ').append(std::to_string(schema.cols));
  std::string text = "{'descr': " + descr_of(schema, meanings, widths) +
                     ", 'fortran_order': False, 'shape': (" + rows + "," + cols + "), }" +
                     std::string(growth_digits - rows.size(), ' ');
  const auto narrow = latin1(text);
  if (narrow) text = *narrow;
  const auto padded_to = [&](std::size_t prefix) {
    return text.size() + 1 + align - (prefix + text.size() + 1) % align;
  };
  std::string head(kMagic);
  std::size_t length = padded_to(10);
  if (narrow && length <= std::numeric_limits<std::uint16_t>::max()) {
    head += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  } else {
    length = padded_to(12);
    if (length > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(Errc::unsupported,
                  "the labels take 2^32 bytes or more, which no .npy header holds");
    }
    head += {narrow ? '\2' : '\3', '\0'};
    for (int shift = 0; shift < 32; shift += 8) head += static_cast<char>(length >> shift & 0xff);
  }
  text.resize(length - 1, ' ');
  return head + text + '\n';
}

}  // namespace dapple::detail::npy
