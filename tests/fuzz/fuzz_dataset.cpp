// Door: the state of a data set. The input says which bytes of a small state are changed, each in
// two bytes for where and one for which bits; if the first byte is odd, hashes are made right
// again, so that what is forged gets past them. What is read is an error, or cells of the parts.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::dataset_target {

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kRows = 4;  // of a part

// A data set of three frames with words of their own, so that all tables are there.
struct Written {
  fs::path folder, state;
  Bytes bytes;

  Written() {
    std::string name = (fs::temp_directory_path() / "dapple-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    ConvertOptions options;
    options.write.sync = false;
    for (int part = 0; part < 3; ++part) {
      const std::string text = folder / "part.csv";
      std::ofstream out(text);
      out << "word,n,x,y,z\n";
      for (std::uint32_t row = 0; row < kRows; ++row) {
        out << "w" << part * 10 + static_cast<int>(row) % 3 << "," << row << ",1,2,3\n";
      }
      out.close();
      dataset::append(folder / "set", open(text), options);
    }
    state = dataset::latest(folder / "set");
    bytes.resize(fs::file_size(state));
    std::ifstream(state, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~Written() { fs::remove_all(folder); }
};

void sign_state(Bytes& bytes) {
  using detail::load_le, detail::store_le, detail::xxh3;
  std::byte* const p = bytes.data();
  const auto header = detail::round_up(load_le<std::uint64_t>(p + 56) & 0xffff, 8);
  const std::uint64_t body = 128 + header + (load_le<std::uint64_t>(p + 64) & 0xff) * 128 +
                             (load_le<std::uint64_t>(p + 72) & 0xff) * 32 +
                             (load_le<std::uint64_t>(p + 80) & 0xff) * 16;
  if (body <= bytes.size()) store_le(p + 88, xxh3({p + 128, body - 128}));
  store_le(p + 120, xxh3({p, 120}));
  const std::byte* const trailer = p + bytes.size() - 64;
  const auto index = load_le<std::uint64_t>(trailer + 8);
  if (index >= 128 && index <= bytes.size()) {
    std::memcpy(p + bytes.size() - index + 56, p + 88, 8);
  }
  fuzz::sign_index(bytes);
}

/// What is sound is read, although something else is not.
template <class Read>
void try_to(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void read_frame(const Frame& frame) {
  const std::uint64_t rows = std::min<std::uint64_t>(frame.rows(), 64);
  std::vector<double> cells(rows);
  for (std::uint64_t col = 0; col < std::min<std::uint64_t>(frame.cols(), 8); ++col) {
    try_to([&] { frame.read_column<double>(col, {0, rows}, std::span(cells)); });
  }
  try_to([&] { column_stats(frame); });
}

/// Of frames, whose data set says that it is one.
void read_matrix(const Matrix& matrix) {
  const std::uint64_t rows = std::min<std::uint64_t>(matrix.rows(), 64);
  const std::uint64_t cols = std::min<std::uint64_t>(matrix.cols(), 8);
  try_to([&] { matrix.read<double>({{0, rows}, {0, cols}}); });
  try_to([&] { matrix.read_csr<double>({{0, rows}, {0, cols}}); });
  try_to([&] { column_stats(matrix); });
}

void read_all(const fs::path& path, Check check) {
  const auto object = open(path, {.check = check});
  const auto* const frame = std::get_if<Frame>(&object);
  frame != nullptr ? read_frame(*frame) : read_matrix(std::get<Matrix>(object));
}

}  // namespace

FUZZ_TARGET(dataset) {
  static const Written written;
  const auto input = std::as_bytes(std::span(data, size));
  if (input.empty()) return 0;
  Bytes bytes = written.bytes;
  for (std::size_t i = 1; i < 25 && i + 2 < input.size(); i += 3) {
    const std::size_t at =
        std::to_integer<std::size_t>(input[i]) << 8 | std::to_integer<std::size_t>(input[i + 1]);
    bytes[at % bytes.size()] ^= input[i + 2];
  }
  if ((input[0] & std::byte{1}) != std::byte{0}) sign_state(bytes);
  std::ofstream(written.state, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  for (const Check check : {Check::never, Check::first_touch}) {
    try_to([&] { read_all(written.state, check); });
  }
  try_to([&] { verify(written.state, Level::payload); });
  return 0;
}

}  // namespace dapple::fuzz::dataset_target
