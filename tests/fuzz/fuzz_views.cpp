// Door: views of sparse blocks. The input is the payload of a CSR block, after seven bytes that
// choose its rows, columns, number of entries and value type. The view, the decoder and the three
// arrays must see what a plain loop sees; what it refuses, the decoder refuses.
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::views_target {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kChoices = 7;

struct Stored {
  std::uint32_t row, col;
  std::uint64_t bits;
  friend bool operator==(const Stored&, const Stored&) = default;
};

template <class N>
void append(Bytes& bytes, N number) {
  const auto* p = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), p, p + sizeof number);
}

// A matrix of one block. `kind` 2 is CSR, 3 COO.
Bytes image(std::uint32_t rows, std::uint32_t cols, ValueType type, std::uint8_t kind,
            std::uint64_t nnz, std::span<const std::byte> payload) {
  Bytes bytes;
  append(bytes, std::uint16_t{0x0201});
  append(bytes, std::uint64_t{rows});
  append(bytes, std::uint64_t{cols});
  append(bytes, type);
  append(bytes, std::uint64_t{0});
  append(bytes, std::uint64_t{0});
  append(bytes, rows);
  append(bytes, cols);
  append(bytes, kind);
  append(bytes, type);
  if (kind == 2) append(bytes, nnz);
  if (kind == 3) append(bytes, static_cast<std::uint32_t>(nnz));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

// The entries of a CSR payload; nothing when its counts leave it.
template <Value T>
std::optional<std::vector<Stored>> plain_csr(std::span<const std::byte> bytes, std::uint32_t rows) {
  std::vector<Stored> entries;
  std::size_t at = 0;
  const auto next = [&](void* to, std::size_t n) {
    if (n > bytes.size() - at) return false;
    std::memcpy(to, bytes.data() + at, n);
    at += n;
    return true;
  };
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::uint32_t count = 0;
    if (!next(&count, 4) || count > bytes.size() - at) return std::nullopt;
    for (std::uint32_t i = 0; i < count; ++i) {
      Stored entry{r, 0, 0};
      if (!next(&entry.col, 4) || !next(&entry.bits, sizeof(T))) return std::nullopt;
      entries.push_back(entry);
    }
  }
  return entries;
}

template <Value T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <Value T>
void look(const Block& block, std::span<const std::byte> payload, std::uint64_t nnz) {
  const BlockInfo info = block.info();
  const auto plain = plain_csr<T>(payload, info.rows);
  std::vector<Stored> seen;
  bool refused = false;
  try {
    std::uint32_t r = 0;
    for (const auto row : block.csr_view<T>()) {
      for (std::uint32_t i = 0; i < row.size(); ++i) {
        seen.push_back({r, row.col(i), bits_of(row.value(i))});
      }
      ++r;
    }
    block.csr_view<T>().row_offsets();
  } catch (const Error&) {
    refused = true;
  }
  require(refused == !plain.has_value(), "the view refuses what a loop reads, or the other way");
  require(refused || seen == *plain, "the view shows other entries");

  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  bool sound = plain.has_value() && plain->size() == nnz;
  for (const Stored& s : plain.value_or(std::vector<Stored>())) {
    sound = sound && s.col < info.cols && places.emplace(s.row, s.col).second;
  }
  std::vector<T> cells(std::size_t{info.rows} * info.cols);
  bool decoded = true;
  try {
    block.decode(std::span(cells));
    const auto csr = block.to_csr<T>();
    require(csr.values.size() == nnz, "another number of entries in the arrays");
  } catch (const Error&) {
    decoded = false;
  }
  require(decoded == sound, "the decoder takes what breaks R5, or refuses what does not");
  if (!decoded) return;
  std::vector<std::uint64_t> wanted(cells.size());
  for (const Stored& s : *plain) wanted[std::size_t{s.row} * info.cols + s.col] = s.bits;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    require(bits_of(cells[i]) == wanted[i], "another cell");
  }
}

}  // namespace

FUZZ_TARGET(views) {
  static fuzz::MemoryFile file;
  if (size < kChoices) return 0;
  const std::uint32_t rows = 1U + data[0] % 20, cols = 1U + data[1] % 20;
  const auto type = static_cast<ValueType>(1 + data[2] % 10);
  const auto payload = std::as_bytes(std::span(data, size)).subspan(kChoices);
  // A block's length follows from its number of entries: the file must be that long.
  const std::size_t stride = 4 + size_of(type);
  if (payload.size() < 4 * rows) return 0;
  const std::uint64_t nnz = (payload.size() - 4 * rows) / stride;
  const auto exact = payload.first(4 * rows + nnz * stride);
  file.set(std::span<const std::byte>(image(rows, cols, type, 2, nnz, exact)));
  try {
    const Matrix m = Matrix::open(file.path(), {.format = "dbdf"});
    const Block block = m.block({0, 0});
    visit_type(type, [&](auto tag) { look<decltype(tag)>(block, exact, nnz); });
  } catch (const Error& error) {
    require(false, error.what());
  }
  return 0;
}

}  // namespace dapple::fuzz::views_target
