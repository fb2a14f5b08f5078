#include "lib/foreign/meta/daphne_meta.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/io/byte_source.h"
#include "lib/io/local/local_file.h"

namespace dapple::detail {

namespace {

constexpr std::array<std::pair<ValueType, std::string_view>, 8> kTypes = {{
    {ValueType::f64, "f64"},
    {ValueType::f32, "f32"},
    {ValueType::i64, "si64"},
    {ValueType::i32, "si32"},
    {ValueType::i8, "si8"},
    {ValueType::u64, "ui64"},
    {ValueType::u32, "ui32"},
    {ValueType::u8, "ui8"},
}};

std::string_view type_name_or_fail(ValueType type) {
  const std::string_view name = daphne_type_name(type);
  if (!name.empty()) return name;
  throw Error(Errc::unsupported, "DAPHNE has no value type " + std::string(dapple::name(type)) +
                                     ", only f64, f32, i64, i32, i8, u64, u32 and u8");
}

/// Of a .meta file, which has some forty for each column of a frame.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// What DAPHNE's members say; others are passed over. Of the columns no tree is made as a whole.
class MetaReader {
 public:
  MetaReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  DaphneMeta read() {
    json_.kind = check_json(text_, file_, kMostBytes);
    if (!json_.is(Json::Kind::object)) fail(json_, "not a JSON object");
    const std::string_view columns = take_members();
    DaphneMeta meta;
    if (const Json* const stored = member(json_, "numNonZeros")) {  // -1: not known
      if (!whole_number(*stored, "numNonZeros").starts_with('-')) meta.stored = stored->count();
    }
    const auto type = type_in(json_);
    const Json* const schema = member(json_, "schema");
    if (schema != nullptr) {
      require(*schema, Json::Kind::array, "schema", "an array");
      meta.kind = ObjectKind::frame;
      for_each_json_item(columns, [&](std::string_view column) {
        meta.columns.push_back(read_column(parsed(column), type));
      });
    }
    meta.rows = extent("numRows");
    meta.cols = extent("numCols");
    if (schema != nullptr && meta.columns.size() != meta.cols) {
      fail(*schema, "'numCols' is " + std::to_string(meta.cols) + ", but the schema has " +
                        counted(meta.columns.size(), "column"));
    }
    if (schema == nullptr && !type) {
      fail(json_, "there is neither a member 'valueType' nor a 'schema'");
    }
    meta.value_type = type.value_or(ValueType::f64);
    return meta;
  }

 private:
  [[noreturn]] void fail(const Json& at, const std::string& detail) const {
    throw Error(Errc::corrupt, file_, at.at, detail);
  }

  /// Keeps what this reads, but of the schema only what kind it is; gives the schema's text.
  std::string_view take_members() {
    static constexpr std::array<std::string_view, 5> kRead = {"numNonZeros", "valueType", "schema",
                                                              "numRows", "numCols"};
    std::string_view columns;
    json_.at = text_.find('{');
    for_each_json_member(text_, [&](JsonMember found) {
      if (std::find(kRead.begin(), kRead.end(), found.key) == kRead.end()) return;
      Json value;
      if (found.key == "schema" && found.text.starts_with('[')) {
        columns = found.text;
        value.kind = Json::Kind::array;
        value.at = place(columns);
      } else {
        value = parsed(found.text);
      }
      json_.keys.push_back(std::move(found.key));
      json_.items.push_back(std::move(value));
      member(json_, json_.keys.back());  // it is there once
    });
    return columns;
  }
  std::uint64_t place(std::string_view part) const {
    return static_cast<std::uint64_t>(part.data() - text_.data());
  }
  /// A part of the text, which it and its members are at.
  Json parsed(std::string_view part) const {
    Json value = Json::parse(part, file_);
    value.at += place(part);
    for (Json& item : value.items) item.at += place(part);
    return value;
  }

  const Json* member(const Json& in, std::string_view name) const {
    const Json* found = nullptr;
    for (std::size_t i = 0; i < in.keys.size(); ++i) {
      if (in.keys[i] != name) continue;
      if (found != nullptr) fail(in.items[i], "the member " + shown(name) + " is there twice");
      found = &in.items[i];
    }
    return found;
  }

  void require(const Json& value, Json::Kind kind, const std::string& name,
               const char* wanted) const {
    static constexpr std::array kKinds = {"null",     "a truth value", "a number",
                                          "a string", "an array",      "an object"};
    if (value.is(kind)) return;
    fail(value, "the member '" + name + "' must be " + wanted + ", not " +
                    kKinds[static_cast<std::size_t>(value.kind)]);
  }

  /// Its digits, perhaps after a minus.
  const std::string& whole_number(const Json& value, const std::string& name) const {
    require(value, Json::Kind::number, name, "a whole number");
    if (value.text.find_first_not_of("0123456789", value.text[0] == '-' ? 1 : 0) !=
        value.text.npos) {
      fail(value, "the member '" + name + "' must be a whole number of 64 bits, not " + value.text);
    }
    return value.text;
  }

  std::uint64_t extent(const std::string& name) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    const Json* const value = member(json_, name);
    if (value == nullptr) fail(json_, "there is no member '" + name + "'");
    const bool negative = whole_number(*value, name).starts_with('-');
    const auto count = value->count();
    if (count && *count <= kMost) return *count;
    fail(*value, "the member '" + name + "' is " + value->text +
                     (negative ? ", but a count is never negative" : ", which is too large"));
  }

  std::optional<ValueType> type_in(const Json& in) const {
    const Json* const value = member(in, "valueType");
    if (value == nullptr || value->is(Json::Kind::null)) return std::nullopt;
    require(*value, Json::Kind::string, "valueType", "a string");
    if (const auto type = find_daphne_type(value->text)) return type;
    throw Error(Errc::unsupported, file_, value->at,
                "the value type " + shown(value->text) +
                    " is none of f64, f32, si64, si32, si8, ui64, ui32 and ui8");
  }

  /// `type` is of columns that name none.
  Column read_column(const Json& in, std::optional<ValueType> type) const {
    if (!in.is(Json::Kind::object)) fail(in, "a column of the schema must be an object");
    Column column{"", ValueType::u32};
    if (const Json* const label = member(in, "label")) {
      require(*label, Json::Kind::string, "label", "a string");
      column.label = label->text;
    }
    if (const Json* const words = member(in, "valueType"); words && words->is_text("str")) {
      column.meaning.kind = MeaningKind::text;
      return column;
    }
    if (const auto own = type_in(in)) type = own;
    if (!type) fail(in, "the column has no value type");
    column.value_type = *type;
    return column;
  }

  std::string_view text_;
  const std::string& file_;
  Json json_{};  // the members that are read
};

}  // namespace

std::string_view daphne_type_name(ValueType type) noexcept {
  for (const auto& [its_type, name] : kTypes) {
    if (its_type == type) return name;
  }
  return {};
}

std::optional<ValueType> find_daphne_type(std::string_view name) noexcept {
  for (const auto& [type, its_name] : kTypes) {
    if (its_name == name) return type;
  }
  return std::nullopt;
}

std::filesystem::path daphne_meta_path(const std::filesystem::path& data) {
  std::filesystem::path path = data;
  path += kMetaEnding;
  return path;
}

void require_meta_unread(const std::filesystem::path& data, const ByteSource& read) {
  const std::filesystem::path meta = daphne_meta_path(data);
  std::error_code ignored;
  if (!std::filesystem::equivalent(meta, read.name(), ignored)) return;
  throw Error(Errc::invalid_argument, meta.string(), std::nullopt,
              "this file is being read; the .meta file of the output would take its place");
}

bool may_be_daphne_meta(std::string_view text) noexcept {
  return text.find("\"numRows\"") != text.npos || text.find("\"numCols\"") != text.npos;
}

namespace {

std::string_view text_of(const ByteSource& file) {
  const auto size = static_cast<std::size_t>(file.size());
  return size > 0 ? std::string_view(reinterpret_cast<const char*>(file.at(0, size)), size) : "";
}

}  // namespace

bool has_daphne_meta(const std::filesystem::path& data) {
  const std::string meta = daphne_meta_path(data).string();
  std::error_code reason;
  const auto status = std::filesystem::status(meta, reason);
  if (reason == std::errc::filename_too_long) return false;
  // One that cannot be looked at might be DAPHNE's.
  if (status.type() == std::filesystem::file_type::none) throw_io(meta, "open", reason.value());
  return std::filesystem::is_regular_file(status) &&
         may_be_daphne_meta(text_of(*LocalFile::open(meta)));
}

std::optional<DaphneMeta> find_daphne_meta(const ByteSource& data) {
  auto file = data.sibling(kMetaEnding);
  if (data.name().ends_with(".csv") || data.name().ends_with(".tsv")) {
    if (data.fetches()) file = data.fetch_sibling(kMetaEnding);
  }
  if (file == nullptr || !may_be_daphne_meta(text_of(*file))) return std::nullopt;
  return parse_daphne_meta(text_of(*file), file->name());
}

namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// Appends "name":value.
void append_member(std::string& text, std::string_view name, std::string_view value) {
  if (text.back() != '{') text += ',';
  append_json_string(text, name);
  text.append(":").append(value);
}

}  // namespace

std::string daphne_meta_text(const Schema& schema, std::optional<std::uint64_t> stored) {
  std::string text = "{";
  append_member(text, "numCols", std::to_string(schema.cols));
  if (stored) append_member(text, "numNonZeros", std::to_string(*stored));
  append_member(text, "numRows", std::to_string(schema.rows));
  if (schema.kind == ObjectKind::matrix) {
    append_member(text, "valueType", json_string(type_name_or_fail(schema.value_type)));
    return text += '}';
  }
  append_member(text, "schema", "[");
  for (const Column& column : schema.columns) {
    if (!is_utf8(column.label)) {
      throw Error(Errc::unsupported, "the label " + shown(column.label) +
                                         " is not UTF-8, as labels in a .meta file must be");
    }
    if (text.back() == '}') text += ',';
    text += '{';
    append_member(text, "label", json_string(column.label));
    append_member(text, "valueType", json_string(type_name_or_fail(column.value_type)));
    text += '}';
  }
  return text += "]}";
}

DaphneMeta parse_daphne_meta(std::string_view text, const std::string& file) {
  return MetaReader(text, file).read();
}

}  // namespace dapple::detail
