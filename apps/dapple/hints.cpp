#include "hints.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace dapple::cli {

namespace {

/// The Levenshtein distance, ignoring case.
std::size_t edits(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (same(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view advice(Remedy remedy) noexcept {
  switch (remedy) {
    case Remedy::none:
      break;
    case Remedy::name_format:
      return "--from FORMAT says what it is";
    case Remedy::name_csv:
      return "--from csv reads it as that";
    case Remedy::missing_as_nan:
      return "--missing nan reads missing values as NaN";
    case Remedy::column_type:
      return "--type LABEL=TYPE sets it";
    case Remedy::column_meaning:
      return "--type LABEL=text reads it as words";
    case Remedy::one_value:
      return "--value N takes one of them, --frame takes vectors of one length as columns";
    case Remedy::one_array:
      return "--array NAME takes one of them";
    case Remedy::absent_as_zero:
      return "--absent zero reads such cells as zero";
    case Remedy::overwrite:
      return "--force replaces it";
    case Remedy::value_type:
      return "'dapple convert --value-type TYPE' makes them one";
    case Remedy::allow_loss:
      return "--allow-loss rounds it";
    case Remedy::drop_labels:
      return "--drop-labels leaves them out";
    case Remedy::stored_numbers:
      return "--stored-numbers writes the numbers that stand for them, --column chooses others";
    case Remedy::other_columns:
      return "--column chooses others, --drop-unsupported leaves these out";
    case Remedy::list_columns:
      return "'dapple info' lists the columns";
    case Remedy::not_utf8:
      return "'iconv -f latin1 -t utf-8' does that where it is Latin-1";
    case Remedy::repair:
      return "'dapple repair FILE -o OUT' saves what is whole";
  }
  return "";
}

Error with_advice(const Error& error) {
  const std::string_view text = advice(error.remedy());
  if (text.empty()) return error;
  return Error(error.code(), error.file(), error.offset(),
               error.detail() + "; " + std::string(text), error.remedy());
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
