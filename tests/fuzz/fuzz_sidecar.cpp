// Door: the sidecar. The input is the index of a sidecar, after the line that binds it to a file;
// it is bound to a small file of every kind of block, and its hashes are made right. No lie may
// lead to a wrong cell, a read outside the sidecar, or a long walk. The same input says which bytes
// of a copy by column are changed.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/compare.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::sidecar_target {

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void append_block(Bytes& bytes, std::uint64_t rx, std::uint64_t cx, std::uint64_t rows,
                  std::uint64_t cols, std::uint64_t kind) {
  append(bytes, rx, 8);
  append(bytes, cx, 8);
  append(bytes, rows, 4);
  append(bytes, cols, 4);
  append(bytes, kind, 1);
  if (kind != 0) append(bytes, 1, 1);  // u8
}

// A pinwheel of 3 x 3 cells with all four kinds of block; cell (2, 0) is in none.
Bytes small_file() {
  Bytes bytes;
  append(bytes, 0x0101, 2);
  append(bytes, 3, 8);
  append(bytes, 3, 8);
  append(bytes, 1, 1);
  append_block(bytes, 1, 1, 1, 1, 0);
  append_block(bytes, 0, 0, 1, 2, 1);
  append(bytes, 0x0201, 2);
  append_block(bytes, 0, 2, 2, 1, 3);
  append(bytes, 1, 4);
  append(bytes, 1, 4);
  append(bytes, 7, 1);
  append_block(bytes, 2, 1, 1, 2, 2);
  append(bytes, 1, 8);
  append(bytes, 1, 4);
  append(bytes, 1, 4);
  append(bytes, 9, 1);
  append_block(bytes, 1, 0, 1, 1, 1);
  append(bytes, 5, 1);
  return bytes;
}

// The file in a folder of its own, its sidecar to be overwritten, and what it holds.
struct Bound {
  fs::path folder, path;
  Bytes binding;
  reference::Object truth;

  Bound() {
    std::string name = (fs::temp_directory_path() / "dapple-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    path = folder / "m.dbdf";
    const Bytes bytes = small_file();
    truth = reference::read(bytes);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    write_sidecar(path);
    binding.resize(64);
    std::ifstream(sidecar_path(path), std::ios::binary)
        .read(reinterpret_cast<char*>(binding.data()), 64);
  }
  ~Bound() { fs::remove_all(folder); }
};

// A file of 6 x 9 cells in a folder of its own, and its copy by column, to be overwritten.
struct Copied {
  static constexpr std::uint32_t kRows = 6, kCols = 9;
  fs::path folder, path;
  Bytes copy;
  std::vector<std::int16_t> cells;

  Copied() {
    std::string name = (fs::temp_directory_path() / "dapple-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    path = folder / "m.dbdf";
    for (std::uint32_t k = 0; k < kRows * kCols; ++k) {
      cells.push_back(static_cast<std::int16_t>(k % 5 == 0 ? 300 + k : 0));
    }
    auto w = MatrixWriter::create(path, kRows, kCols, ValueType::i16, {.sync = false});
    w.put<std::int16_t>({0, 0}, {cells.data(), kRows, kCols});
    w.finish();
    write_column_copy(path, {}, {.sync = false});
    copy.resize(fs::file_size(column_copy_path(path)));
    std::ifstream(column_copy_path(path), std::ios::binary)
        .read(reinterpret_cast<char*>(copy.data()), static_cast<std::streamsize>(copy.size()));
  }
  ~Copied() { fs::remove_all(folder); }
};

// Changes up to four bytes of the copy as the input says: where, in two bytes, and which bits. No
// cell may be wrong where hashes are checked.
void change_copy(std::span<const std::byte> input) {
  static Copied copied;
  Bytes bytes = copied.copy;
  for (std::size_t i = 0; i < 12 && i + 2 < input.size(); i += 3) {
    const std::size_t at =
        std::to_integer<std::size_t>(input[i]) << 8 | std::to_integer<std::size_t>(input[i + 1]);
    bytes[at % bytes.size()] ^= input[i + 2];
  }
  std::fstream(column_copy_path(copied.path), std::ios::binary | std::ios::in | std::ios::out)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::vector<std::uint64_t> list(Copied::kCols);
  for (std::uint64_t col = 0; col < list.size(); ++col) list[col] = col;
  Csr<std::int16_t> out;
  for (const Check check : {Check::never, Check::first_touch}) {
    OpenOptions options;
    options.check = check;
    const Matrix m = Matrix::open(copied.path, options);
    gather_columns(m, list, out);
    if (check == Check::never) continue;
    std::vector<std::int16_t> found(copied.cells.size());
    for (std::size_t col = 0; col < list.size(); ++col) {
      for (std::uint64_t k = out.row_ptr[col]; k < out.row_ptr[col + 1]; ++k) {
        found[out.col_idx[k] * Copied::kCols + col] = out.values[k];
      }
    }
    if (found != copied.cells) std::abort();
  }
}

}  // namespace

FUZZ_TARGET(sidecar) {
  static Bound bound;
  const auto input = std::as_bytes(std::span(data, size));
  Bytes sidecar = bound.binding;
  sidecar.insert(sidecar.end(), input.begin(), input.end());
  change_copy(input);
  fuzz::sign_index(sidecar);
  const fs::path path = sidecar_path(bound.path);
  if (truncate(path.c_str(), static_cast<off_t>(sidecar.size())) != 0) std::abort();
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .write(reinterpret_cast<const char*>(sidecar.data()),
             static_cast<std::streamsize>(sidecar.size()));
  const std::string wrong = test::difference(bound.path, bound.truth, test::Demand::cells_or_error);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}

}  // namespace dapple::fuzz::sidecar_target
