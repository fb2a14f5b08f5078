// Opened files as lines of text, for tests of ML.NET files.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/idv_image.h"
#include "tests/support.h"

namespace dapple::test::idv {

inline std::string meaning_text(const Column& column) {
  const Meaning& meaning = column.meaning;
  std::string text(name(meaning.kind));
  if (meaning.has_time()) text += " " + std::string(name(meaning.unit)) + meaning.zone;
  if (meaning.missing) text += ", missing " + std::to_string(*meaning.missing);
  return text;
}

/// Label, meaning, then all cells as people read them.
inline std::vector<std::string> columns_of(const std::filesystem::path& path) {
  const Frame frame = Frame::open(path);
  std::vector<std::string> lines;
  for (std::uint64_t col = 0; col < frame.cols(); ++col) {
    const Column& column = frame.column_info(col);
    std::string line = column.label + ' ' + std::string(name(column.value_type)) + ' ' +
                       meaning_text(column) + ':';
    visit_type(column.value_type, [&](auto tag) {
      for (const auto value : frame.read_column<decltype(tag)>(col, {0, frame.rows()})) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        line += " <";
        append_text(column, bits, line);
        line += '>';
      }
    });
    lines.push_back(line);
  }
  return lines;
}

/// What `info` tells under this title.
inline std::vector<std::string> details_of(const std::filesystem::path& path,
                                           std::string_view title) {
  std::vector<std::string> lines;
  const auto object = open(path);
  for (const Detail& detail : test::base(object).details()) {
    if (detail.title == title) lines.push_back(detail.text);
  }
  return lines;
}

inline std::vector<std::string> metadata_of(const std::filesystem::path& path) {
  return details_of(path, "metadata");
}

/// Options that replace files.
inline ConvertOptions over() {
  ConvertOptions options;
  options.write.overwrite = true;
  return options;
}

using Notes = std::vector<std::string>;

/// 1970 in ticks of .NET.
inline constexpr std::int64_t kUnixTicks = 621'355'968'000'000'000;

inline Metadata text_values(std::int32_t n, const Bytes& block) {
  return {"KeyValues", vector_codec(codec("TextSpan"), {n}), vectors({{n}}, n, block)};
}

/// Writes a file, not compressed, and returns the notes.
inline Notes written(const std::variant<Matrix, Frame>& object, const std::filesystem::path& path,
                     const Selection& part = {}) {
  Notes notes;
  ConvertOptions options = over();
  options.format_options = {{"idv.deflate", "false"}};
  options.note = [&](const std::string& note) { notes.push_back(note); };
  convert(object, part, path, options);
  return notes;
}

/// The rows of these files.
inline std::variant<Matrix, Frame> below(const std::vector<std::filesystem::path>& files) {
  std::vector<std::variant<Matrix, Frame>> parts;
  for (const auto& file : files) parts.push_back(open(file));
  return concat(parts, Axis::rows);
}

}  // namespace dapple::test::idv
