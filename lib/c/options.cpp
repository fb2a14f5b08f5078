#include "lib/c/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "dapple/error.h"

namespace dapple::detail::c {

namespace {

using Text = std::string_view;

template <class Options>
struct Option {
  Text name;
  /// Returns what the value must be; "" when it is that.
  std::string (*set)(Options&, Text value);
};

template <class Out>
std::string truth(Text value, Out& out) {
  out = value == "true";
  return value == "true" || value == "false" ? "" : "true or false";
}

template <class Number, class Out>
std::string number(Text value, Out& out) {
  Number result = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  out = result;
  if (error == std::errc() && stop == end) return "";
  return "a number from 0 to " + std::to_string(std::numeric_limits<Number>::max());
}

template <class Choice, std::size_t kSize>
std::string choice(Text value, Choice& out, const std::pair<Text, Choice> (&choices)[kSize]) {
  std::string names;
  for (const auto& [name, chosen] : choices) {
    if (value == name) {
      out = chosen;
      return "";
    }
    names.append(names.empty() ? "one of " : ", ").append(name);
  }
  return names;
}

std::string tile(Text value, std::optional<TileShape>& out) {
  const std::size_t cross = std::min(value.find('x'), value.size());
  out.emplace();
  const bool fits = cross < value.size() &&
                    number<std::uint32_t>(value.substr(0, cross), out->rows).empty() &&
                    number<std::uint32_t>(value.substr(cross + 1), out->cols).empty();
  return fits ? "" : "rows and columns: 1000x500";
}

constexpr std::pair<Text, Check> kChecks[] = {
    {"never", Check::never}, {"first_touch", Check::first_touch}, {"always", Check::always}};
constexpr std::pair<Text, char> kDecimals[] = {{".", '.'}, {",", ','}};
constexpr std::pair<Text, KindChoice> kKinds[] = {{"auto", KindChoice::automatic},
                                                  {"dense", KindChoice::dense},
                                                  {"csr", KindChoice::csr},
                                                  {"coo", KindChoice::coo}};
constexpr std::pair<Text, Packing> kPackings[] = {
    {"none", Packing::none}, {"fast", Packing::fast}, {"small", Packing::small}};
constexpr std::pair<Text, Storage> kStorages[] = {{"dense", Storage::dense}, {"csr", Storage::csr}};

std::string text(Text value, std::string& out) {
  out = value;
  return "";
}
std::string path(Text value, std::filesystem::path& out) {
  out = value;
  return "";
}
std::string one_more(Text value, std::vector<std::string>& out) {
  out.emplace_back(value);
  return "";
}
std::string character(Text value, std::optional<char>& out) {
  if (value.size() != 1) return "one character";
  out = value[0];
  return "";
}

std::string one_more(Text value, NamesBuilder& out) {
  out.add(value);
  return "";
}

/// LABEL=TYPE, a value type or a meaning.
std::string column_type(Text value, CsvOptions& out) {
  const std::size_t equals = value.rfind('=');
  if (equals != Text::npos) {
    const std::string label(value.substr(0, equals));
    const Text kind = value.substr(equals + 1);
    if (const auto type = find_value_type(kind)) {
      out.types[label] = *type;
      return "";
    }
    for (const MeaningKind meaning :
         {MeaningKind::boolean, MeaningKind::timestamp, MeaningKind::duration,
          MeaningKind::category, MeaningKind::text}) {
      if (kind != name(meaning)) continue;
      out.meanings[label] = meaning;
      return "";
    }
  }
  return "a label and a type: height=f32";
}

using Open = OpenOptions;
constexpr Option<Open> kOpenOptions[] = {
    {"format", [](Open& o, Text v) { return text(v, o.format); }},
    {"array", [](Open& o, Text v) { return text(v, o.array); }},
    {"check", [](Open& o, Text v) { return choice(v, o.check, kChecks); }},
    {"guard", [](Open& o, Text v) { return truth(v, o.guard); }},
    {"read_ahead", [](Open& o, Text v) { return truth(v, o.read_ahead); }},
    {"threads", [](Open& o, Text v) { return number<unsigned>(v, o.threads); }},
    {"cache", [](Open& o, Text v) { return path(v, o.cache); }},
    {"cache_bytes", [](Open& o, Text v) { return number<std::uint64_t>(v, o.cache_bytes); }},
    {"csv.type", [](Open& o, Text v) { return column_type(v, o.csv); }},
    {"csv.header", [](Open& o, Text v) { return truth(v, o.csv.header); }},
    {"csv.delimiter", [](Open& o, Text v) { return character(v, o.csv.delimiter); }},
    {"csv.skip", [](Open& o, Text v) { return number<std::uint64_t>(v, o.csv.skip); }},
    {"csv.comment", [](Open& o, Text v) { return text(v, o.csv.comment); }},
    {"csv.decimal", [](Open& o, Text v) { return choice(v, o.csv.decimal, kDecimals); }},
    {"csv.missing_as_nan", [](Open& o, Text v) { return truth(v, o.csv.missing_as_nan); }},
    {"csv.missing_word", [](Open& o, Text v) { return one_more(v, o.csv.missing_words); }},
    {"futhark.value", [](Open& o, Text v) { return number<std::uint64_t>(v, o.futhark.value); }},
    {"futhark.frame", [](Open& o, Text v) { return truth(v, o.futhark.frame); }},
    {"futhark.first", [](Open& o, Text v) { return truth(v, o.futhark.first); }},
    {"idv.column", [](Open& o, Text v) { return one_more(v, o.idv.columns); }},
    {"idv.drop_unsupported", [](Open& o, Text v) { return truth(v, o.idv.drop_unsupported); }},
    {"idv.keep_hidden", [](Open& o, Text v) { return truth(v, o.idv.keep_hidden); }},
};

using Create = CreateOptions;
constexpr Option<Create> kCreateOptions[] = {
    {"tile", [](Create& o, Text v) { return tile(v, o.write.tile); }},
    {"storage", [](Create& o, Text v) { return choice(v, o.storage, kStorages); }},
    {"kind", [](Create& o, Text v) { return choice(v, o.write.kind, kKinds); }},
    {"narrow", [](Create& o, Text v) { return truth(v, o.write.narrow); }},
    {"align", [](Create& o, Text v) { return number<std::uint32_t>(v, o.write.align); }},
    {"pack", [](Create& o, Text v) { return choice(v, o.write.pack, kPackings); }},
    {"plain", [](Create& o, Text v) { return truth(v, o.write.plain); }},
    {"overwrite", [](Create& o, Text v) { return truth(v, o.write.overwrite); }},
    {"sync", [](Create& o, Text v) { return truth(v, o.write.sync); }},
    {"attributes", [](Create& o, Text v) { return text(v, o.write.attributes); }},
    {"row_name", [](Create& o, Text v) { return one_more(v, o.row_names); }},
    {"col_name", [](Create& o, Text v) { return one_more(v, o.col_names); }},
};

template <class Options, std::size_t kSize>
void set(Options& options, Text given, const Option<Options> (&known)[kSize]) {
  const std::size_t equals = std::min(given.find('='), given.size());
  const std::string name(given.substr(0, equals));
  const auto* const option = std::find_if(std::begin(known), std::end(known),
                                          [&](const auto& one) { return one.name == name; });
  if (option == std::end(known)) {
    throw Error(Errc::invalid_argument, "there is no option '" + name + "'");
  }
  const std::string wanted = equals == given.size()
                                 ? "a value: " + name + "=VALUE"
                                 : option->set(options, given.substr(equals + 1));
  if (!wanted.empty()) {
    throw Error(Errc::invalid_argument, "the option '" + name + "' needs " + wanted);
  }
}

template <class Options, std::size_t kSize>
Options all_of(const char* const* list, const Option<Options> (&known)[kSize]) {
  Options options;
  for (; list != nullptr && *list != nullptr; ++list) set(options, *list, known);
  return options;
}

}  // namespace

OpenOptions open_options(const char* const* list) { return all_of(list, kOpenOptions); }

CreateOptions create_options(const char* const* list) {
  CreateOptions options = all_of(list, kCreateOptions);
  if (options.row_names.size() > 0) options.write.row_names = options.row_names.finish();
  if (options.col_names.size() > 0) options.write.col_names = options.col_names.finish();
  return options;
}

}  // namespace dapple::detail::c
