#include "lib/foreign/meta/daphne_meta.h"

#include <array>
#include <filesystem>
#include <utility>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/foreign/meta/json_reader.h"
#include "lib/io/file.h"

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

/// Reads one .meta file; each key at most once.
class MetaReader {
 public:
  MetaReader(std::string_view text, const std::string& file) : json_(text, file), file_(file) {}

  DaphneMeta read() {
    json_.open('{');
    for (bool first = true; json_.more('}', first);) {
      const std::uint64_t offset = json_.offset();
      member(json_.key(), offset);
    }
    const std::uint64_t end = json_.offset() - 1;
    json_.end();
    if (!rows_) fail(end, "a member 'numRows'", "none");
    if (!cols_) fail(end, "a member 'numCols'", "none");
    meta_.rows = *rows_;
    meta_.cols = *cols_;
    if (meta_.kind == ObjectKind::frame) {
      finish_frame(end);
    } else if (!type_) {
      fail(end, "a member 'valueType' or 'schema'", "none");
    } else {
      meta_.value_type = *type_;
    }
    return std::move(meta_);
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& expected,
                         const std::string& got) const {
    throw Error(Errc::corrupt, file_, offset, "expected " + expected + ", got " + got);
  }

  void member(const std::string& name, std::uint64_t offset) {
    if (name == "numRows") {
      once(rows_.has_value(), name, offset);
      rows_ = count();
    } else if (name == "numCols") {
      once(cols_.has_value(), name, offset);
      cols_ = count();
    } else if (name == "numNonZeros") {
      once(meta_.stored.has_value(), name, offset);
      const std::int64_t n = json_.integer();
      if (n >= 0) meta_.stored = static_cast<std::uint64_t>(n);  // -1: not known
    } else if (name == "valueType") {
      once(type_.has_value(), name, offset);
      type_ = type();
    } else if (name == "schema") {
      once(meta_.kind == ObjectKind::frame, name, offset);
      schema();
    } else {
      json_.skip_value();
    }
  }

  void once(bool seen, const std::string& name, std::uint64_t offset) const {
    if (seen) fail(offset, "one member '" + name + "'", "another");
  }

  std::uint64_t count() {
    const std::uint64_t offset = json_.offset();
    const std::int64_t n = json_.integer();
    if (n < 0) fail(offset, "a count", std::to_string(n));
    return static_cast<std::uint64_t>(n);
  }

  /// A value type's name; nothing for null.
  std::optional<ValueType> type() {
    const std::uint64_t offset = json_.offset();
    if (json_.take_null()) return std::nullopt;
    const std::string name = json_.string();
    for (const auto& [type, its_name] : kTypes) {
      if (its_name == name) return type;
    }
    throw Error(
        Errc::unsupported, file_, offset,
        "expected a value type f64, f32, si64, si32, si8, ui64, ui32 or ui8, got " + shown(name));
  }

  void schema() {
    meta_.kind = ObjectKind::frame;
    json_.open('[');
    for (bool first = true; json_.more(']', first);) {
      std::optional<std::string> label;
      std::optional<ValueType> its_type;
      json_.open('{');
      for (bool first_member = true; json_.more('}', first_member);) {
        const std::uint64_t offset = json_.offset();
        const std::string name = json_.key();
        if (name == "label") {
          once(label.has_value(), name, offset);
          label = json_.string();
        } else if (name == "valueType") {
          once(its_type.has_value(), name, offset);
          its_type = type();
        } else {
          json_.skip_value();
        }
      }
      meta_.columns.push_back({std::move(label).value_or(""), ValueType::f64});
      column_types_.push_back(its_type);
    }
  }

  void finish_frame(std::uint64_t end) {
    if (meta_.columns.size() != meta_.cols) {
      fail(end, "a schema of " + std::to_string(meta_.cols) + " columns",
           std::to_string(meta_.columns.size()));
    }
    for (std::size_t i = 0; i < meta_.columns.size(); ++i) {
      const std::optional<ValueType> its_type = column_types_[i] ? column_types_[i] : type_;
      if (!its_type) fail(end, "a value type for column " + std::to_string(i), "none");
      meta_.columns[i].value_type = *its_type;
    }
  }

  JsonReader json_;
  const std::string& file_;
  DaphneMeta meta_;
  std::optional<std::uint64_t> rows_, cols_;
  std::optional<ValueType> type_;  // of a matrix, or of columns that name none
  std::vector<std::optional<ValueType>> column_types_;
};

std::string_view type_name_or_fail(ValueType type) {
  const std::string_view name = daphne_type_name(type);
  if (!name.empty()) return name;
  throw Error(Errc::unsupported,
              "expected a value type that DAPHNE has (f64 f32 i64 i32 i8 u64 "
              "u32 u8), got " +
                  std::string(dapple::name(type)));
}

/// Appends "name":value.
void append_member(std::string& text, std::string_view name, std::string_view value) {
  if (text.back() != '{') text += ',';
  text.append(json_string(name)).append(":").append(value);
}

}  // namespace

std::string_view daphne_type_name(ValueType type) noexcept {
  for (const auto& [its_type, name] : kTypes) {
    if (its_type == type) return name;
  }
  return {};
}

DaphneMeta parse_daphne_meta(std::string_view text, const std::string& file) {
  return MetaReader(text, file).read();
}

std::filesystem::path daphne_meta_path(const std::filesystem::path& data) {
  std::filesystem::path path = data;
  path += ".meta";
  return path;
}

void require_meta_unread(const std::filesystem::path& data, const MappedFile& read) {
  const std::filesystem::path meta = daphne_meta_path(data);
  std::error_code ignored;
  if (!read.has_path() || !std::filesystem::equivalent(meta, read.name(), ignored)) return;
  throw Error(Errc::invalid_argument, meta.string(), std::nullopt,
              "expected another file than the one that is read beside the output, which would take "
              "its place");
}

std::optional<DaphneMeta> find_daphne_meta(const MappedFile& data) {
  if (!data.has_path()) return std::nullopt;
  const std::string name = daphne_meta_path(data.name()).string();
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return std::nullopt;
  const std::shared_ptr<MappedFile> file = MappedFile::open(name);
  const std::uint64_t size = file->size();
  const char* const text = size > 0 ? reinterpret_cast<const char*>(file->at(0, size)) : "";
  return parse_daphne_meta({text, size}, file->name());
}

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
      throw Error(Errc::unsupported,
                  "expected labels in UTF-8 for a .meta file, got " + shown(column.label));
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
