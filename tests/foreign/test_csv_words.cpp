// Columns of words that repeat: short ones are remembered, longer and escaped ones are looked up.

#include <optional>
#include <string>
#include <vector>

#include "tests/check.h"
#include "tests/foreign/csv_text.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// A field as text has it, and what it means; nothing for a missing one.
struct Sample {
  std::string text;
  std::optional<std::string> word;
};

/// Words of up to 20 letters that differ in one place, in quotes and without, which decide whether
/// "NA" is a word.
Sample random_sample(Rng& rng) {
  if (rng.chance(2)) return {"NA", std::nullopt};
  if (rng.chance(2)) return {"\"NA\"", "NA"};
  if (rng.chance(2)) return {"\"a \"\"b\"\"\"", "a \"b\""};
  std::string word(rng.between(1, 20), 'a');
  word[rng.below(word.size())] = static_cast<char>('a' + rng.below(3));
  return {rng.chance(30) ? '"' + word + '"' : word, word};
}

}  // namespace

TEST_CASE("csv words: each cell is its field's word, however often that repeats") {
  Rng rng(73);
  std::vector<Sample> samples;
  std::string text = "n,w\n";
  for (int i = 0; i < 20000; ++i) {
    samples.push_back(random_sample(rng));
    text += std::to_string(i) + "," + samples.back().text + "\n";
  }
  CsvText csv;
  const auto frame = std::get<Frame>(csv.open(text));
  const Meaning& meaning = frame.column_info(1).meaning;
  REQUIRE(meaning.kind == MeaningKind::category);
  const auto codes = frame.read_column<std::uint64_t>(1, {0, samples.size()});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::optional<std::string> word;
    if (codes[i] != meaning.missing) word = std::string((*meaning.words)[codes[i] - 1]);
    wrong += word != samples[i].word;
  }
  CHECK(wrong == 0);
}
