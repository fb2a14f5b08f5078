// Door: the row directory. The input changes the hint of a file with one CSR block; signed, so that
// a lie gets past its hashes, or not, when it must make no difference.
#include <algorithm>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/row_directory.h"
#include "lib/io/hash.h"
#include "lib/object/store.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::row_directory_target {

namespace {

constexpr std::uint32_t kRows = 1200, kCols = 40;  // a multiple of the rows of any count

struct Victim {
  std::vector<std::byte> bytes;
  detail::dbdf::Hint hint;
  std::uint64_t block_hash = 0;
  std::vector<std::uint64_t> rows;
  Csr<std::uint16_t> found;

  Victim() {
    const test::TempDir dir;
    WriteOptions options;
    options.tile = TileShape{kRows, kCols};
    options.kind = KindChoice::csr;
    auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::u16, options);
    std::vector<Triplet<std::uint16_t>> entries;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t k = 0; k < row % 11; ++k) {
        entries.push_back({row, k * 3, static_cast<std::uint16_t>(1000 + row + k)});
      }
      rows.push_back(row * 7 % kRows);
    }
    writer.put<std::uint16_t>({0, 0}, {kRows, kCols}, entries);
    writer.finish();
    bytes = test::read_bytes(dir / "m.dbdf");
    hint = fuzz::hint_of((dir / "m.dbdf").string(), detail::dbdf::kRowsTag);
    const Matrix m = Matrix::open(dir / "m.dbdf");
    block_hash = m.share()->confirmed_entry(0).hash;
    gather_csr(m, rows, found);
  }
};

/// Makes the hashes of the counts and of the hint right, wherever the record says that they are.
void sign(std::vector<std::byte>& bytes, const Victim& victim) {
  using namespace detail::dbdf;
  const detail::dbdf::Hint& hint = victim.hint;
  std::byte* const record = bytes.data() + hint.offset + kLine;
  const auto start = detail::load_le<std::uint64_t>(record + 8);
  const auto shift = std::to_integer<unsigned>(record[4]) & 3;
  const std::uint64_t length = (kRows >> shift) * std::to_integer<unsigned>(record[5]);
  if (start <= hint.bytes && length <= hint.bytes - start) {
    detail::store_le(record + 16, detail::xxh3({bytes.data() + hint.offset + start,
                                                static_cast<std::size_t>(length)},
                                               victim.block_hash));
  }
  fuzz::sign_hint(bytes, hint);
}

}  // namespace

FUZZ_TARGET(row_directory) {
  static fuzz::MemoryFile file;
  static const Victim victim;
  if (size == 0) return 0;
  std::vector<std::byte> bytes = victim.bytes;
  const auto input = std::as_bytes(std::span(data + 1, size - 1));
  for (std::size_t i = 0; i < std::min<std::size_t>(input.size(), victim.hint.bytes); ++i) {
    bytes[victim.hint.offset + i] ^= input[i];
  }
  const bool is_signed = data[0] % 2 == 1;
  if (is_signed) sign(bytes, victim);
  file.set(std::span<const std::byte>(bytes));
  const auto gather = [&](Check check) {
    const Matrix m = Matrix::open(file.path(), {.check = check});
    Csr<std::uint16_t> found;
    gather_csr(m, victim.rows, found);
    std::vector<double> dense(m.cols() * 3);
    gather_rows<double>(m, std::span(victim.rows).first(3), dense);
    return found.row_ptr == victim.found.row_ptr && found.col_idx == victim.found.col_idx &&
           found.values == victim.found.values;
  };
  require(gather(Check::first_touch), "rows although hashes are checked");
  try {
    const bool right = gather(Check::never);
    require(right || is_signed, "rows without a directory");
  } catch (const Error&) {
    require(is_signed, "error without a directory");
  }
  static_cast<void>(verify(file.path(), Level::payload));
  return 0;
}

}  // namespace dapple::fuzz::row_directory_target
