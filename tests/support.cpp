#include "tests/support.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace dapple::test {

namespace fs = std::filesystem;

// It may be the library alone that is watched, with the sanitizer loaded in front of this program.
std::size_t one_of(std::size_t n) noexcept {
  constexpr std::size_t kOrdinarily = 8;
  if (dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) return n;
  return ::getenv("DAPPLE_TEST_ALL") != nullptr ? 1 : std::min(n, kOrdinarily);
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

BlockInfo block_info(const std::filesystem::path& path, BlockPos pos) {
  const Matrix m = Matrix::open(path);
  return m.block(pos).info();
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  const std::string text = read_text(path);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string converted(const std::variant<Matrix, Frame>& object, const ConvertOptions& options,
                      const Selection& part) {
  std::string text;
  convert(
      object, part,
      [&](std::span<const std::byte> bytes) {
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      options);
  return text;
}

std::string as_csv(const std::variant<Matrix, Frame>& object) {
  ConvertOptions options;
  options.to = "csv";
  return converted(object, options);
}

std::string told(const Error& error) {
  std::string line(name(error.code()));
  if (error.offset()) line += " at byte " + std::to_string(*error.offset());
  return line + ": " + error.detail();
}

std::vector<std::string> lines(std::span<const Error> errors) {
  std::vector<std::string> all;
  for (const Error& e : errors) {
    all.push_back(std::to_string(e.offset().value_or(0)) + ": " + e.detail());
  }
  return all;
}

TempDir::TempDir(const fs::path& home) {
  std::string name = (home / "dapple-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempDir::write(std::string_view name, std::span<const std::byte> bytes) const {
  fs::path path = path_ / name;
  write_bytes(path, bytes);
  return path;
}

std::vector<std::string> TempDir::names() const {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::uint64_t Rng::bits() noexcept {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

Image Image::matrix(std::uint64_t rows, std::uint64_t cols, ValueType type,
                    std::uint8_t data_type) {
  Image image;
  image.number(std::uint8_t{1}).number(data_type).number(rows).number(cols).value_type(type);
  return image;
}

Image Image::frame(std::uint64_t rows,
                   const std::vector<std::pair<std::string, ValueType>>& columns) {
  Image image;
  image.number(std::uint8_t{1}).number(std::uint8_t{3}).number(rows);
  image.number(std::uint64_t{columns.size()});
  for (const auto& column : columns) image.value_type(column.second);
  for (const auto& column : columns) {
    image.number(static_cast<std::uint16_t>(column.first.size())).text(column.first);
  }
  return image;
}

Image& Image::text(std::string_view characters) {
  const auto bytes = std::as_bytes(std::span(characters.data(), characters.size()));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

Image& Image::zeros(std::size_t n) {
  bytes_.resize(bytes_.size() + n);
  return *this;
}

Image& Image::auxiliary(std::span<const std::byte> payload) {
  constexpr std::uint64_t kOutside = ~std::uint64_t{0};
  block_header({kOutside, kOutside}, 1, static_cast<std::uint32_t>(payload.size()),
               BlockKind::dense)
      .value_type(ValueType::u8);
  bytes_.insert(bytes_.end(), payload.begin(), payload.end());
  return *this;
}

Image& Image::block_header(BlockPos pos, std::uint32_t rows, std::uint32_t cols, BlockKind kind) {
  return number(pos.rx).number(pos.cx).number(rows).number(cols).number(
      static_cast<std::uint8_t>(kind));
}

}  // namespace dapple::test
