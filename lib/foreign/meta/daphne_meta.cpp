#include "lib/foreign/meta/daphne_meta.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

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
  // One that cannot be looked at might be DAPHNE's.
  if (status.type() == std::filesystem::file_type::none) throw_io(meta, "open", reason.value());
  return std::filesystem::is_regular_file(status) &&
         may_be_daphne_meta(text_of(*LocalFile::open(meta)));
}

std::optional<DaphneMeta> find_daphne_meta(const ByteSource& data) {
  const auto file = data.sibling(kMetaEnding);
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

}  // namespace dapple::detail
