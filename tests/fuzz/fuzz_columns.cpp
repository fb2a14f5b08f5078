// Door: what the columns of a frame mean, with their dictionaries. The input changes the table of a
// file: signed, so that a lie gets past its hashes, or not, when no word may be
// wrong.
#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/io/local/local_file.h"
#include "lib/object/dictionary.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::columns_target {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kRows = 12;

/// Each row as it is stored, whatever it means.
std::vector<std::int64_t> stored_numbers(const Frame& frame) {
  std::vector<std::int64_t> numbers;
  for (std::uint64_t c = 0; c < frame.cols(); ++c) {
    const auto column = frame.read_column<std::int64_t>(c, {0, frame.rows()});
    numbers.insert(numbers.end(), column.begin(), column.end());
  }
  return numbers;
}

std::vector<Column> sample_columns() {
  const auto words = std::make_shared<detail::WordTable>();
  for (const char* word : {"Ann", "", "B\xc3\xb6rge", "a,\"b\"\n", "Ann "}) words->add(word);
  std::vector<Column> columns(7);
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c].label = std::string(1, "abcdefg"[c]);
  columns[0] = {"n", ValueType::u16, {}};
  columns[1].value_type = columns[2].value_type = ValueType::u8;
  columns[1].meaning = {.kind = MeaningKind::category, .missing = kMissingCode, .words = words};
  columns[2].meaning = {.kind = MeaningKind::boolean, .missing = kMissingBoolean};
  columns[3].value_type = columns[4].value_type = columns[6].value_type = ValueType::i64;
  columns[3].meaning = {.kind = MeaningKind::timestamp,
                        .unit = TimeUnit::millisecond,
                        .zone = "Europe/Vienna",
                        .missing = kMissingTick};
  columns[4].meaning = {.kind = MeaningKind::duration, .unit = TimeUnit::nanosecond};
  columns[5].value_type = ValueType::u8;
  columns[5].meaning = {.kind = MeaningKind::text, .words = words};
  columns[6].meaning.missing = 7;
  const auto names = detail::listed_dictionary({"from", ""});
  const auto group = std::make_shared<ColumnGroup>(ColumnGroup{"v", 2, names});
  columns[3].group = columns[4].group = group;
  columns[4].slot = 1;
  return columns;
}

/// The stored value of row `r` of a column.
std::int64_t sample_number(const Column& column, std::uint64_t r) {
  const auto number = static_cast<std::int64_t>(r);
  switch (column.meaning.kind) {
    case MeaningKind::boolean:
      return number % 3;
    case MeaningKind::category:
      return number % 6;
    case MeaningKind::text:
      return 1 + number % 5;
    default:
      return (number - 3) * (number - 3) * 1'234'567'891;
  }
}

struct Victim {
  Bytes bytes;
  detail::dbdf::Hint hint;
  std::string text;
  std::vector<std::int64_t> numbers;

  Victim() {
    const test::TempDir dir;
    WriteOptions options;
    options.tile = TileShape{8, 8};
    auto columns = sample_columns();
    columns[0].value_type = ValueType::i64;
    auto writer = FrameWriter::create(dir / "f.dbdf", kRows, columns, options);
    for (const Range& strip : writer.column_strips()) {
      for (std::uint64_t row = 0; row < kRows; row += 8) {
        const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(8, kRows - row));
        const auto cols = static_cast<std::uint32_t>(strip.size());
        std::vector<std::int64_t> cells;
        for (std::uint64_t r = row; r < row + rows; ++r) {
          for (std::uint64_t c = strip.begin; c < strip.end; ++c) {
            cells.push_back(sample_number(columns[c], r));
          }
        }
        writer.put<std::int64_t>({row, strip.begin}, {cells.data(), rows, cols, cols});
      }
    }
    writer.finish();
    bytes = test::read_bytes(dir / "f.dbdf");
    hint = fuzz::hint_of((dir / "f.dbdf").string(), detail::dbdf::kColumnsTag);
    const Frame frame = Frame::open(dir / "f.dbdf");
    text = test::as_csv(frame);
    numbers = stored_numbers(frame);
  }
};

/// Right hashes for the table and its dictionaries (lib/dbdf/FORMAT.md, "Columns").
void sign_columns(std::span<std::byte> content) {
  using detail::load_le, detail::store_le, detail::xxh3;
  constexpr std::size_t kHead = 32, kRecord = 64;
  const auto table = load_le<std::uint64_t>(content.data() + 16);
  if (table < kHead || table > content.size()) return;
  const auto count = load_le<std::uint32_t>(content.data() + 12);
  for (std::size_t k = 0; k < count && kHead + (k + 1) * kRecord <= table; ++k) {
    std::byte* const record = content.data() + kHead + k * kRecord;
    const auto words = load_le<std::uint64_t>(record + 24);
    const auto begin = load_le<std::uint64_t>(record + 32);
    const auto bytes = load_le<std::uint64_t>(record + 40);
    if (begin > content.size() || words >= (content.size() - begin) / 8) continue;
    const std::size_t first = begin + 8 * (words + 1);
    if (bytes > content.size() - first) continue;
    store_le(record + 48, detail::dictionary_hash(content.subspan(begin, 8 * (words + 1)),
                                                  content.subspan(first, bytes)));
  }
  store_le(content.data() + 24, xxh3(content.first(table).subspan(kHead), xxh3(content.first(24))));
}

void look_at(const Frame& frame, const Victim& victim, bool is_signed) {
  require(stored_numbers(frame) == victim.numbers, "number");
  try {
    require(test::as_csv(frame) == victim.text || is_signed, "word");
  } catch (const Error&) {
  }
  for (const Range& group : frame.groups()) {
    for (std::uint64_t col = group.begin; col < group.end; ++col) {
      const Column& column = frame.column_info(col);
      try {
        const std::string label = column.group->label(column.slot);
        require(is_signed || label == "from" || label == "v.1", "slot name");
      } catch (const Error&) {
      }
    }
  }
  const std::variant<Matrix, Frame> twice[] = {frame, frame};
  for (const Axis axis : {Axis::rows, Axis::columns}) {
    try {
      test::as_csv(concat(twice, axis));
    } catch (const Error&) {
    }
  }
}

/// What `repair` takes from the table, which is written again. No bytes are too bad for it.
void save_from(const std::string& path, const Victim& victim) {
  const auto mapped = detail::LocalFile::open(path);
  std::uint64_t body = 0;
  detail::Schema schema = detail::dbdf::read_header(*mapped, body);
  std::vector<Error> lost;
  detail::dbdf::save_columns(mapped, victim.hint.offset, victim.hint.bytes, schema, lost);
  detail::dbdf::emit_columns(schema);
}

}  // namespace

FUZZ_TARGET(columns) {
  static fuzz::MemoryFile file;
  static const Victim victim;
  if (size == 0) return 0;
  Bytes bytes = victim.bytes;
  const auto content =
      std::span(bytes).subspan(victim.hint.offset, static_cast<std::size_t>(victim.hint.bytes));
  for (std::size_t i = 0; i < std::min(size - 1, content.size()); ++i) {
    content[i] ^= static_cast<std::byte>(data[i + 1]);
  }
  const bool is_signed = data[0] % 2 == 1;
  if (is_signed) {
    sign_columns(content);
    fuzz::sign_hint(bytes, victim.hint);
  }
  file.set(std::span<const std::byte>(bytes));
  try {
    look_at(Frame::open(file.path()), victim, is_signed);
  } catch (const Error& error) {
    require(error.code() == Errc::corrupt, error.what());
  }
  save_from(file.path().string(), victim);
  try {
    verify(file.path(), Level::payload);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::columns_target
