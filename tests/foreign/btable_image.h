// BTables put together field by field, whether they make sense or not; and as the library opens
// and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "tests/support.h"

namespace dapple::test {

using Bytes = std::vector<std::byte>;
using Row = std::vector<std::pair<std::int32_t, double>>;

template <class T>
void add_be(Bytes& bytes, T value) {
  bytes.resize(bytes.size() + sizeof value);
  detail::store_be(bytes.data() + bytes.size() - sizeof value, value);
}

inline Bytes table(const std::u16string& labels, const std::vector<Row>& rows) {
  Bytes bytes;
  add_be<std::int32_t>(bytes, 0);
  add_be(bytes, static_cast<std::int32_t>(labels.size()));
  for (const char16_t unit : labels) add_be(bytes, static_cast<std::uint16_t>(unit));
  for (const Row& row : rows) {
    add_be(bytes, static_cast<std::int32_t>(row.size()));
    for (const auto& [col, value] : row) {
      add_be(bytes, col);
      add_be(bytes, value);
    }
  }
  return bytes;
}

inline Frame open_table(const std::filesystem::path& path) {
  return Frame::open(path, {.format = "btable", .check = Check::never});
}

inline Frame open_table(const TempDir& dir, const Bytes& bytes) {
  return open_table(dir.write("t.btable", bytes));
}

inline std::vector<double> row_of(const Frame& frame, std::uint64_t row) {
  std::vector<double> cells(frame.cols());
  frame.read<double>({{row, row + 1}, {0, frame.cols()}}, std::span(cells));
  return cells;
}

inline void to_file(const std::variant<Matrix, Frame>& object, const std::filesystem::path& out) {
  ConvertOptions options;
  options.write.overwrite = true;
  options.write.sync = false;
  convert(object, {}, out, options);
}

}  // namespace dapple::test
