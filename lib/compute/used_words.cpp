#include "lib/compute/used_words.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lib/compute/concat_driver.h"
#include "lib/object/dictionary.h"

namespace dapple::detail {

namespace {

/// A dictionary, the columns that share it, and which of its codes they hold.
struct UsedWords {
  std::vector<std::uint64_t> cols;
  std::vector<bool> codes;
};
using UsedByDictionary = std::map<const Dictionary*, UsedWords>;

UsedByDictionary find_dictionaries(const Schema& schema, const Selection& part) {
  std::vector<bool> chosen(schema.cols, !part.cols);
  if (part.cols) {
    for (const std::uint64_t col : *part.cols) chosen[col] = true;
  }
  UsedByDictionary found;
  for (std::uint64_t col = 0; col < schema.columns.size(); ++col) {
    const Meaning& meaning = schema.columns[col].meaning;
    if (!chosen[col] || !meaning.has_words() || meaning.ordered) continue;
    UsedWords& used = found[meaning.words.get()];
    used.cols.push_back(col);
    used.codes.resize(meaning.words->size() + 1);
  }
  return found;
}

void note_codes(const Store& store, Range rows, unsigned threads, UsedByDictionary& found) {
  constexpr std::uint64_t kCells = std::uint64_t{1} << 20;  // at once, 8 MiB
  std::uint64_t width = 0;
  for (const auto& [words, used] : found) width += used.cols.size();
  const std::uint64_t most = std::max<std::uint64_t>(kCells / width, 1);
  std::vector<std::uint64_t> cells;
  for (std::uint64_t begin = rows.begin; begin < rows.end;) {
    const Range piece{begin, begin + std::min(most, rows.end - begin)};
    begin = piece.end;
    cells.resize(piece.size() * width);
    std::vector<ColumnBuffer> buffers;
    for (const auto& [words, used] : found) {
      for (const std::uint64_t col : used.cols) {
        std::uint64_t* const to = cells.data() + buffers.size() * piece.size();
        buffers.push_back(
            {col, ValueType::u64, reinterpret_cast<std::byte*>(to), sizeof(std::uint64_t)});
      }
    }
    store.read_rows(piece, buffers, {Absent::zero, threads});
    const std::uint64_t* cell = cells.data();
    for (auto& [words, used] : found) {
      for (std::uint64_t i = 0; i < used.cols.size() * piece.size(); ++i, ++cell) {
        if (*cell < used.codes.size()) used.codes[*cell] = true;
      }
    }
  }
}

/// Makes a dictionary of the used words; returns what becomes of their codes.
NewCodes shorten(const Dictionary& words, const std::vector<bool>& used,
                 std::shared_ptr<const Dictionary>& shorter) {
  auto table = std::make_shared<WordTable>();
  std::vector<std::uint32_t> codes(used.size(), static_cast<std::uint32_t>(kMissingCode));
  for (std::uint64_t code = 1; code < used.size(); ++code) {
    if (used[code]) codes[code] = table->add(words[code - 1]);
  }
  shorter = std::move(table);
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(codes));
}

}  // namespace

std::shared_ptr<const Store> with_used_words(std::shared_ptr<const Store> store,
                                             const Selection& part, unsigned threads) {
  Schema schema = store->schema();
  if (!part.rows || part.rows->size() == schema.rows) return store;
  UsedByDictionary found = find_dictionaries(schema, part);
  if (found.empty()) return store;
  note_codes(*store, *part.rows, threads, found);
  std::vector<Recode> recode(schema.cols);
  bool shorter = false;
  for (const auto& [words, used] : found) {
    if (std::find(used.codes.begin() + 1, used.codes.end(), false) == used.codes.end()) continue;
    std::shared_ptr<const Dictionary> rest;
    const NewCodes codes = shorten(*words, used.codes, rest);
    for (const std::uint64_t col : used.cols) {
      recode[col].codes = codes;
      schema.columns[col].meaning.words = rest;
      schema.columns[col].value_type = code_type(rest->size());
    }
    shorter = true;
  }
  if (!shorter) return store;
  return store_of({{std::move(store), 0, 0, std::move(recode)}}, std::move(schema), Axis::rows);
}

}  // namespace dapple::detail
