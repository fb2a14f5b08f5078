#include "lib/foreign/futhark/stream.h"

#include <algorithm>
#include <limits>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint64_t kMostElements = std::numeric_limits<std::int64_t>::max();

bool has_columns(std::span<const std::uint64_t> dims) noexcept { return dims.size() >= 2; }

// What is at `at`, for messages: a whole token, or one character.
std::string found_at(const char* at, const char* end) {
  if (at == end) return "the file ends";
  const char* stop = at + 1;
  while (is_constituent(*at) && stop != end && is_constituent(*stop)) ++stop;
  return shown({at, static_cast<std::size_t>(stop - at)});
}

}  // namespace

std::uint64_t StreamValue::rows() const noexcept {
  std::uint64_t rows = 1;
  const std::size_t folded = has_columns(dims) ? dims.size() - 1 : dims.size();
  for (std::size_t i = 0; i < folded; ++i) rows *= dims[i];
  return rows;
}

std::uint64_t StreamValue::cols() const noexcept { return has_columns(dims) ? dims.back() : 1; }

std::uint64_t StreamValue::tile_rows() const noexcept {
  return std::max<std::uint64_t>(1, kTileElements / std::max<std::uint64_t>(1, cols()));
}

std::uint64_t StreamValue::tile_cols() const noexcept { return std::min(kTileElements, cols()); }

std::optional<std::uint64_t> count_elements(std::span<const std::uint64_t> dims) noexcept {
  // A zero makes a product zero, whatever comes before or after it.
  const auto product = [](std::span<const std::uint64_t> part) -> std::optional<std::uint64_t> {
    if (std::find(part.begin(), part.end(), 0U) != part.end()) return 0;
    std::uint64_t n = 1;
    for (const std::uint64_t dim : part) {
      if (!multiply(n, dim, n) || n > kMostElements) return std::nullopt;
    }
    return n;
  };
  for (const std::uint64_t dim : dims) {
    if (dim > kMostElements) return std::nullopt;
  }
  if (has_columns(dims) && !product(dims.first(dims.size() - 1))) return std::nullopt;
  return product(dims);
}

void StreamBytes::fail(const char* at, std::string_view wanted) const {
  fail_as(Errc::corrupt, at, found_at(at, end).append(" where ").append(wanted) + " should be");
}

void StreamBytes::fail_as(Errc code, const char* at, const std::string& detail) const {
  std::string where;
  if (text_only) where = ", in line " + std::to_string(1 + std::count(begin, at, '\n'));
  throw Error(code, file, offset(at), detail + where);
}

std::string too_many_elements(const std::string& type) {
  return "a " + type + " has more elements than 2^63 - 1";
}

std::string uneven_row(std::uint64_t found, std::uint64_t wanted) {
  return "this row has " + counted(found, "element") + ", the array's first " +
         std::to_string(wanted);
}

StreamReader::StreamReader(const ByteSource& file, std::vector<Type> types)
    : in_{nullptr, nullptr, file.name()}, types_(std::move(types)) {
  if (file.size() > 0) in_.begin = reinterpret_cast<const char*>(file.at(0, file.size()));
  in_.end = in_.begin + file.size();
  at_ = in_.begin;
}

bool StreamReader::next(StreamValue& value, TextCells* cells) {
  const bool typed = dialect() == Dialect::typed;
  if (typed && read_ == types_.size()) return !at_typed_end();
  at_ = typed ? skip_spaces<Dialect::typed>(at_, in_.end)
              : skip_blank<Dialect::untyped>(at_, in_.end);
  if (!typed && at_ == in_.end) {
    if (read_ == 0) in_.fail(at_, "a Futhark value");
    return false;
  }
  value.begin = in_.offset(at_);
  if (at_ != in_.end && *at_ == 'b') {
    in_.text_only = false;
    read_binary(value);
    at_ = in_.begin + value.end;
  } else {
    value.binary = false;
    if (cells != nullptr) cells->expect(static_cast<std::uint64_t>(in_.end - at_));
    value.data = cells != nullptr ? cells->size() : 0;
    at_ = scan_text(in_, at_, typed ? &types_[read_] : nullptr, value, cells);
    value.end = in_.offset(at_);
  }
  ++read_;
  return true;
}

// Compiled programs ask for the end after the last value; a NUL byte passes for it.
bool StreamReader::at_typed_end() {
  at_ = skip_blank<Dialect::typed>(at_, in_.end);
  if (at_ != in_.end && *at_ != '\0') {
    in_.fail(at_, "the end of the input after " + std::to_string(read_) +
                      (read_ == 1 ? " value" : " values"));
  }
  return true;
}

void StreamReader::read_binary(StreamValue& value) {
  const std::uint64_t start = value.begin;
  ByteReader reader(std::as_bytes(std::span(at_, in_.end)), start, in_.file);
  reader.take(1, "the letter b");
  const auto version = reader.le<std::uint8_t>("the version of a binary value");
  if (version != kVersion) {
    reader.fail(start + 1, "binary values of version " + std::to_string(version) +
                               " cannot be read, only those of version 2");
  }
  const auto rank = reader.le<std::uint8_t>("the rank of a binary value");
  if (rank > kMaxRank) {
    reader.fail(start + 2, "a value of rank " + std::to_string(rank) +
                               " has too many dimensions: 127 are possible");
  }
  const auto code = reader.take(4, "the element type of a binary value");
  const std::string_view word(reinterpret_cast<const char*>(code.data()), code.size());
  const auto element = find_element(&ElementInfo::code, word);
  if (!element) reader.fail(start + 3, shown(word) + " is no element type");
  value.binary = true;
  value.element = *element;
  value.dims.clear();
  const std::uint64_t dims_at = reader.offset();
  for (unsigned i = 0; i < rank; ++i) {
    value.dims.push_back(reader.le<std::uint64_t>("a dimension of a binary value"));
    if (value.dims.back() > kMostElements) {
      reader.fail(reader.offset() - 8, "a dimension of " + std::to_string(value.dims.back()) +
                                           " is larger than 2^63 - 1");
    }
  }
  if (dialect() == Dialect::typed) {
    const Type& wanted = types_[read_];
    if (wanted.element != *element || wanted.rank != rank) {
      in_.fail_as(Errc::type_mismatch, in_.begin + start,
                  "the value is a " + text(Type{*element, rank}) + ", not the " + text(wanted) +
                      " that was asked for");
    }
  }
  const auto count = count_elements(value.dims);
  std::uint64_t bytes = 0;
  if (!count || !multiply(*count, info(*element).size, bytes)) {
    reader.fail(dims_at, too_many_elements(text(*element, value.dims)));
  }
  value.data = reader.offset();
  reader.take(bytes, "the elements of a " + text(*element, value.dims));
  value.end = reader.offset();
}

}  // namespace dapple::detail::futhark
