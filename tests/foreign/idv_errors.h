// What is wrong with an ML.NET file, when the library reads all of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/foreign/idv_image.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

namespace dapple::test::idv {

/// Opens a file and reads every cell and text of it.
inline void read_all(const std::filesystem::path& path) {
  const auto object = open(path, {.format = "idv"});
  const BlockedObject& o = base(object);
  o.counts();
  for (const BlockInfo& info : o.blocks()) o.block(info.pos);
  const std::uint64_t cols = std::min<std::uint64_t>(o.cols(), 64);
  const std::uint64_t rows = std::min<std::uint64_t>(o.rows(), 64);
  std::vector<double> cells(rows * cols);
  const auto read = [&](const auto& x) {
    x.template read<double>({{0, rows}, {0, cols}}, std::span(cells));
  };
  std::visit(read, object);
  for (std::size_t k = 0; k < o.text_columns().size(); ++k) {
    if (!o.text_columns()[k].readable) continue;
    o.read_text(k, {0, rows}, [](std::uint64_t, std::string_view) {});
  }
}

struct Wrong {
  Errc code;
  std::uint64_t offset;
  std::string detail;
};

inline std::string text(const Wrong& w) {
  return std::string(name(w.code)) + " at byte " + std::to_string(w.offset) + ": " + w.detail;
}

/// What is wrong with a file, when all of it is read.
inline std::string error_in(const Bytes& bytes) {
  fuzz::MemoryFile file;
  file.set(bytes);
  const auto error = error_of([&] { read_all(file.path()); });
  if (!error) return "none";
  return text({error->code(), error->offset().value_or(0), error->detail()});
}

}  // namespace dapple::test::idv
