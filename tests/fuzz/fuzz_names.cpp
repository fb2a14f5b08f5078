// Door: the names of rows. The input changes the hint of a file whose rows have names; signed, so
// that a lie gets past its hashes, or not, when what is found must be right.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/object_hints.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::names_target {

namespace {

constexpr std::uint32_t kRows = 40;

std::string name_of_row(std::uint32_t row) {
  return row % 10 == 9 ? "twice" : std::string(row % 5, 'a') + std::to_string(row);
}

struct Victim {
  std::vector<std::byte> bytes;
  detail::dbdf::Hint hint;

  Victim() {
    const test::TempDir dir;
    NamesBuilder names;
    for (std::uint32_t row = 0; row < kRows; ++row) names.add(name_of_row(row));
    WriteOptions options;
    options.row_names = names.finish();
    const std::vector<std::uint8_t> cells(kRows, 1);
    auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, 1, ValueType::u8, options);
    writer.put<std::uint8_t>({0, 0}, {cells.data(), kRows, 1});
    writer.finish();
    bytes = test::read_bytes(dir / "m.dbdf");
    hint = fuzz::hint_of((dir / "m.dbdf").string(), detail::dbdf::kRowNamesTag);
  }
};

void look_at(const Names& names, bool is_signed) {
  for (std::uint64_t i = 0; i < names.size(); ++i) static_cast<void>(names[i]);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::string wanted = name_of_row(row);
    try {
      const auto found = names.find(wanted);
      if (found) require(names[*found] == wanted, "row for a name");
      require(found.has_value() || is_signed, "answer for a name that is there");
    } catch (const Error& e) {
      if (e.code() != Errc::invalid_argument) throw;  // it is there twice
    }
  }
}

}  // namespace

FUZZ_TARGET(names) {
  static fuzz::MemoryFile file;
  static const Victim victim;
  if (size == 0) return 0;
  std::vector<std::byte> bytes = victim.bytes;
  const auto input = std::as_bytes(std::span(data + 1, size - 1));
  for (std::size_t i = 0; i < std::min<std::size_t>(input.size(), victim.hint.bytes); ++i) {
    bytes[victim.hint.offset + i] ^= input[i];
  }
  const bool is_signed = data[0] % 2 == 1;
  if (is_signed) fuzz::sign_hint(bytes, victim.hint);
  file.set(std::span<const std::byte>(bytes));
  try {
    const auto names = Matrix::open(file.path()).row_names();
    if (names != nullptr) look_at(*names, is_signed);
  } catch (const Error& e) {
    require(e.code() == Errc::corrupt, "error");
  }
  static_cast<void>(verify(file.path(), Level::payload));
  return 0;
}

}  // namespace dapple::fuzz::names_target
