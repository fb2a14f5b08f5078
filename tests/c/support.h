// What the tests of the C functions share: handles that free themselves, and small objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple_c.h"
#include "tests/check.h"
#include "tests/support.h"

namespace dapple::test::c {

/// A handle that is freed in the end.
template <class Handle, void (*kFree)(Handle**)>
struct Owned {
  Handle* handle = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { kFree(&handle); }
  operator Handle*() const noexcept { return handle; }  // NOLINT
  Handle** operator&() noexcept { return &handle; }     // NOLINT
};
using Object = Owned<dapple_object, dapple_close>;
using Sparse = Owned<dapple_sparse, dapple_sparse_free>;
using Writer = Owned<dapple_writer, dapple_abandon>;

/// 3 x 4, row after row 0 to 11, in two blocks.
inline std::vector<std::byte> small_file() {
  return test::Image::matrix(3, 4, ValueType::i32)
      .dense<std::int32_t>({0, 0}, 2, 4, {0, 1, 2, 3, 4, 5, 6, 7})
      .dense<std::int8_t>({2, 0}, 1, 4, {8, 9, 10, 11})
      .bytes();
}

inline void open_bytes(const std::vector<std::byte>& bytes, Object& object) {
  REQUIRE(dapple_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, "bytes", nullptr,
                             &object, nullptr) == DAPPLE_OK);
}

inline void open_path(const std::filesystem::path& path, Object& object) {
  dapple_error error;
  const int32_t code = dapple_open(path.c_str(), nullptr, &object, &error);
  INFO(error.message);
  REQUIRE(code == DAPPLE_OK);
}

/// A frame of words, times and numbers, some of them missing.
inline std::filesystem::path people(const TempDir& dir) {
  test::write_text(
      dir / "p.csv",
      "name,born,height\n\"Ann\",2001-02-03,1.5\n\"Bob\",,1.75\n\"Ann\",1999-12-31,\n");
  return dir / "p.csv";
}

constexpr dapple_region kAll{0, 3, 0, 4};  // of small_file()

}  // namespace dapple::test::c
