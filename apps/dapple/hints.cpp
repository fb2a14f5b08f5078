#include "hints.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dapple::cli {

namespace {

/// How many letters are changed, left out or added, or neighbours swapped, ignoring case.
std::size_t edits(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const auto same = [&](char x, char y) { return lower(x) == lower(y); };
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = last[j] + (same(a[i], b[j]) ? 0 : 1);
      row[j + 1] = std::min({changed, row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && same(a[i], b[j - 1]) && same(a[i - 1], b[j]);
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

struct Advice {
  std::string_view option, sentence;
};
constexpr Advice kAdvice[] = {
    {"format", "--from FORMAT says what it is"},
    {"format=csv", "--from csv reads it as that"},
    {"csv.missing_as_nan", "--missing nan reads missing values as NaN"},
    {"csv.delimiter", "--delimiter C says what is between fields"},
    {"csv.type", "--type LABEL=TYPE sets it"},
    {"csv.type=text", "--type LABEL=text reads it as words"},
    {"futhark.value",
     "--value N takes one of them, --frame takes vectors of one length as columns"},
    {"array", "--array NAME takes one of them"},
    {"absent", "--absent zero reads such cells as zero"},
    {"overwrite", "--force replaces it"},
    {"value_type", "'dapple convert --value-type TYPE' makes them one"},
    {"allow_loss", "--allow-loss rounds it"},
    {"drop_labels", "--drop-labels leaves them out"},
    {"stored_numbers",
     "--stored-numbers writes the numbers that stand for them, --column chooses others"},
    {"idv.drop_unsupported", "--column chooses others, --drop-unsupported leaves these out"},
    {"columns", "'dapple info' lists the columns"},
    {"utf-8", "'iconv -f latin1 -t utf-8' does that where it is Latin-1"},
    {"repair", "'dapple repair FILE -o OUT' saves what is whole"},
};

}  // namespace

std::string_view advice(std::string_view option) noexcept {
  for (const Advice& known : kAdvice) {
    if (known.option == option) return known.sentence;
  }
  return "";
}

Error with_advice(const Error& error) {
  const std::string_view text = advice(error.option());
  if (text.empty()) return error;
  return error.retold(error.file(), error.offset(), error.detail() + "; " + std::string(text));
}

std::string closest(std::string_view wanted, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 64;  // longer names are not compared
  std::size_t best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::string_view found;
  if (wanted.size() > kLongest) return "";
  for (const std::string_view name : names) {
    if (name.empty() || name.size() > kLongest) continue;
    if (const std::size_t distance = edits(wanted, name); distance < best) {
      best = distance;
      found = name;
    }
  }
  return std::string(found);
}

}  // namespace dapple::cli
