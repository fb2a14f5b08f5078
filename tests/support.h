// What tests share: bytes of DAPHNE files built by hand, temporary folders, a deterministic
// random number generator, golden files, a way to skip, and short names for what many of them do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/block.h"
#include "dapple/convert.h"
#include "dapple/error.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/value_type.h"
#include "dapple/view.h"
#include "dapple/writer.h"

namespace dapple::test {

/// One of how many changes, cuts and the like is tried: of `n`, at most eight, or of `n` while a
/// sanitizer watches; all where DAPPLE_TEST_ALL is set, as the soak suite does.
std::size_t one_of(std::size_t n) noexcept;

/// Counts the running test case as skipped, and prints why.
void skip(std::string reason);

/// A folder of tests/golden, whose README tells who wrote its files.
std::filesystem::path golden(std::string_view name);
/// Its files whose names end in `suffix`, sorted; the running test case fails if there is none.
std::vector<std::filesystem::path> golden_files(std::string_view name, std::string_view suffix);

/// What the index of a matrix says of the block at a position.
BlockInfo block_info(const std::filesystem::path& path, BlockPos pos);

std::vector<std::byte> read_bytes(const std::filesystem::path& path);
std::string read_text(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_text(const std::filesystem::path& path, std::string_view text);

/// The elements of any sequence, to compare with.
template <class Sequence>
std::vector<typename Sequence::value_type> list(const Sequence& sequence) {
  return {sequence.begin(), sequence.end()};
}

/// A new empty folder, removed with everything in it.
class TempDir {
 public:
  /// Where the test's own files go, in memory if the tests run there.
  explicit TempDir(const std::filesystem::path& home = std::filesystem::temp_directory_path());
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// Writes the bytes to a file of that name and gives its path.
  std::filesystem::path write(std::string_view name, std::span<const std::byte> bytes) const;
  /// Names of everything inside, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// The same numbers for the same seed on every machine (SplitMix64).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t bits() noexcept;
  /// 0 <= result < n; n > 0.
  std::uint64_t below(std::uint64_t n) noexcept { return bits() % n; }
  /// first <= result <= last.
  std::uint64_t between(std::uint64_t first, std::uint64_t last) noexcept {
    return first + below(last - first + 1);
  }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }
  /// Some of 0 to `size`, perhaps none.
  Range range(std::uint64_t size) noexcept {
    const std::uint64_t begin = below(size);
    return {begin, between(begin, size)};
  }

 private:
  std::uint64_t state_;
};

/// Bytes of rx and cx in front of a block, and of each line of an index (FORMAT.md).
inline constexpr std::uint64_t kPosition = 16, kLine = 64;

/// The bytes of a DAPHNE file, put together piece by piece, whether they make sense or not.
class Image {
 public:
  /// Header of a matrix: data type 1 (dense) or 2 (CSR).
  static Image matrix(std::uint64_t rows, std::uint64_t cols, ValueType type,
                      std::uint8_t data_type = 1);
  static Image frame(std::uint64_t rows,
                     const std::vector<std::pair<std::string, ValueType>>& columns);

  /// One number, little endian.
  template <class T>
  Image& number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  Image& text(std::string_view characters);
  Image& zeros(std::size_t n);

  Image& empty(BlockPos pos, std::uint32_t rows, std::uint32_t cols) {
    return block_header(pos, rows, cols, BlockKind::empty);
  }

  /// `values` row after row.
  template <Value T>
  Image& dense(BlockPos pos, std::uint32_t rows, std::uint32_t cols, const std::vector<T>& values) {
    block_header(pos, rows, cols, BlockKind::dense).value_type(value_type_of<T>());
    for (T v : values) number(v);
    return *this;
  }

  /// `rows[r]` holds (column, value) pairs of row r.
  template <Value T>
  Image& csr(BlockPos pos, std::uint32_t cols,
             const std::vector<std::vector<std::pair<std::uint32_t, T>>>& rows) {
    block_header(pos, static_cast<std::uint32_t>(rows.size()), cols, BlockKind::csr)
        .value_type(value_type_of<T>());
    std::uint64_t stored = 0;
    for (const auto& row : rows) stored += row.size();
    number(stored);
    for (const auto& row : rows) {
      number(static_cast<std::uint32_t>(row.size()));
      for (const auto& [col, value] : row) number(col).number(value);
    }
    return *this;
  }

  template <Value T>
  Image& coo(BlockPos pos, std::uint32_t rows, std::uint32_t cols,
             const std::vector<Triplet<T>>& entries) {
    block_header(pos, rows, cols, BlockKind::coo).value_type(value_type_of<T>());
    number(static_cast<std::uint32_t>(entries.size()));
    for (const Triplet<T>& e : entries) {
      number(e.row);
      if (cols != 1) number(e.col);
      number(e.value);
    }
    return *this;
  }

  /// An auxiliary block with these payload bytes (rule 2.4).
  Image& auxiliary(std::span<const std::byte> payload);

  /// Replaces the bytes of one number.
  template <class T>
  Image& patch(std::size_t offset, T value) {
    static_assert(std::is_arithmetic_v<T>);
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }

  /// Position, shape and block type; what follows is the caller's.
  Image& block_header(BlockPos pos, std::uint32_t rows, std::uint32_t cols, BlockKind kind);
  Image& value_type(ValueType type) { return number(static_cast<std::uint8_t>(type)); }

 private:
  std::vector<std::byte> bytes_;
};

/// The Error that `f` throws; nothing when it returns.
template <class F>
std::optional<Error> error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// What `error_of` gave; without an error the running test case fails and ends.
Error required_error(const std::optional<Error>& error);

/// "code at byte N: message" or "code: message", without the file's name.
std::string told(const Error& error);

/// "byte: message" of each, without the file's name.
std::vector<std::string> lines(std::span<const Error> errors);

/// A writer of a matrix of `T` that takes blocks of any place and size.
template <Value T>
MatrixWriter writer(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t cols,
                    WriteOptions options = {}) {
  options.off_grid = true;
  return MatrixWriter::create(path, rows, cols, value_type_of<T>(), options);
}

/// What `convert` gives to a stream.
std::string converted(const std::variant<Matrix, Frame>& object, const ConvertOptions& options,
                      const Selection& part = {});
/// The object as CSV.
std::string as_csv(const std::variant<Matrix, Frame>& object);

/// What an opened matrix and an opened frame have in common.
inline const BlockedObject& base(const std::variant<Matrix, Frame>& object) {
  return std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
}

}  // namespace dapple::test
