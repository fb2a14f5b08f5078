// Door: opening an ML.NET file. Any bytes give an object or an Error; so do its blocks, its texts,
// its metadata, and the matrix that each vector column makes by itself.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::idv_target {

namespace {

constexpr std::uint64_t kMostCells = 1 << 16;
constexpr std::uint64_t kMostRows = 64;

template <class F>
void allow_error(const F& f) {
  try {
    f();
  } catch (const Error&) {
  }
}

void look_at_blocks(const BlockedObject& object) {
  std::uint64_t left = 64;
  for (const BlockInfo& info : object.blocks()) {
    if (left-- == 0) return;
    if (std::uint64_t{info.rows} * info.cols > kMostCells) continue;
    allow_error([&] {
      const Block block = object.block(info.pos);
      std::vector<double> cells(std::size_t{info.rows} * info.cols);
      block.decode(std::span(cells));
      block.to_csr<double>();
    });
  }
}

void look_at_texts(const BlockedObject& object) {
  for (std::size_t k = 0; k < object.text_columns().size(); ++k) {
    allow_error([&] {
      object.read_text(k, {0, std::min(object.rows(), kMostRows)},
                       [](std::uint64_t, std::string_view) {});
    });
  }
}

template <class Object>
void look_at(const Object& object) {
  allow_error([&] { object.counts(); });
  allow_error([&] { object.details(); });
  allow_error([&] { look_at_blocks(object); });
  look_at_texts(object);
  allow_error([&] {
    const Region corner{{0, std::min<std::uint64_t>(object.rows(), 40)},
                        {0, std::min<std::uint64_t>(object.cols(), 40)}};
    std::vector<double> cells(corner.rows.size() * corner.cols.size());
    object.template read<double>(corner, std::span(cells));
  });
}

}  // namespace

FUZZ_TARGET(idv) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  OpenOptions options;
  options.format = "idv";
  std::vector<std::string> wide;
  allow_error([&] {
    const auto object = open(file.path(), options);
    std::visit([](const auto& o) { look_at(o); }, object);
    const auto& base = std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
    for (const TextColumn& column : base.text_columns()) wide.push_back(column.label);
    if (base.rows() <= kMostRows) verify(file.path(), Level::payload, options);
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(wide.size(), 4); ++i) {
    options.format_options = {{"idv.column", wide[i]}};
    allow_error([&] { std::visit([](const auto& o) { look_at(o); }, open(file.path(), options)); });
  }
  return 0;
}

}  // namespace dapple::fuzz::idv_target
