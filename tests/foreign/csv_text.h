// Delimited text as tests open it, and what they look at then.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

namespace dapple::test {

/// Opens delimited text that came as a file of that name.
class CsvText {
 public:
  std::variant<Matrix, Frame> open(std::string_view text, const FormatOptions& csv = {}) {
    const auto path = dir_ / "t.csv";
    write_text(path, text);
    return dapple::open(path, {.format = "", .check = Check::never, .format_options = csv});
  }
  void meta(std::string_view text) { write_text(dir_ / "t.csv.meta", text); }
  const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
};

/// Types of the columns: "i64 f64".
inline std::string types_of(const std::variant<Matrix, Frame>& object) {
  const auto& base = std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
  std::string names = std::holds_alternative<Matrix>(object) ? "matrix" : "frame";
  for (std::uint64_t c = 0; c < base.cols(); ++c) {
    names += ' ';
    names += name(base.column_type(c));
  }
  return names;
}

inline std::vector<std::string> labels_of(const std::variant<Matrix, Frame>& object) {
  const Frame& frame = std::get<Frame>(object);
  std::vector<std::string> all;
  for (std::uint64_t c = 0; c < frame.cols(); ++c) all.push_back(frame.label(c));
  return all;
}

/// All cells, row after row.
inline std::vector<double> cells_of(const std::variant<Matrix, Frame>& object) {
  return std::visit(
      [](const auto& o) {
        std::vector<double> all(o.rows() * o.cols());
        o.template read<double>({{0, o.rows()}, {0, o.cols()}}, std::span<double>(all));
        return all;
      },
      object);
}

}  // namespace dapple::test
