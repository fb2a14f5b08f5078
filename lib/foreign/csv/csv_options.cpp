#include "lib/foreign/csv/csv_options.h"

namespace dapple::detail::csv {

namespace {

/// Takes LABEL=TYPE; a label may have a '=' in it. False if it is none.
bool add_type(const std::string& text, Options& options) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) return false;
  const std::string label = text.substr(0, equals);
  const std::string_view type = std::string_view(text).substr(equals + 1);
  if (const auto cells = find_value_type(type)) {
    options.types[label] = *cells;
    return true;
  }
  for (const MeaningKind kind : {MeaningKind::boolean, MeaningKind::timestamp,
                                 MeaningKind::duration, MeaningKind::category, MeaningKind::text}) {
    if (type != name(kind)) continue;
    options.meanings[label] = kind;
    return true;
  }
  return false;
}

std::optional<char> delimiter_of(const GivenOptions& given) {
  const std::string* const text = given.text("csv.delimiter");
  if (text == nullptr) return std::nullopt;
  if (*text == "tab" || *text == "\\t") return '\t';
  if (text->size() != 1) given.fail("csv.delimiter", *text);
  return text->front();
}

}  // namespace

Options read_options(const FormatOptions& given) {
  constexpr std::pair<std::string_view, char> kDecimals[] = {{".", '.'}, {",", ','}};
  const GivenOptions all(kOptions, given);
  Options options{.header = all.truth("csv.header"),
                  .delimiter = delimiter_of(all),
                  .skip = all.number<std::uint64_t>("csv.skip").value_or(0),
                  .comment = all.text_or("csv.comment", ""),
                  .decimal = all.choice("csv.decimal", kDecimals).value_or('.'),
                  .missing_as_nan = all.truth("csv.missing_as_nan").value_or(false),
                  .missing_words = all.texts("csv.missing_word")};
  for (const std::string& type : all.texts("csv.type")) {
    if (!add_type(type, options)) all.fail("csv.type", type);
  }
  return options;
}

}  // namespace dapple::detail::csv
