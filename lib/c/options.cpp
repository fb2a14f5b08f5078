#include "lib/c/options.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dapple/error.h"
#include "lib/base/given_options.h"
#include "lib/c/handles.h"

namespace dapple::detail::c {

namespace {

constexpr std::pair<std::string_view, Check> kChecks[] = {
    {"never", Check::never}, {"first_touch", Check::first_touch}, {"always", Check::always}};
constexpr std::pair<std::string_view, KindChoice> kKinds[] = {{"auto", KindChoice::automatic},
                                                              {"dense", KindChoice::dense},
                                                              {"csr", KindChoice::csr},
                                                              {"coo", KindChoice::coo}};
constexpr std::pair<std::string_view, Packing> kPackings[] = {
    {"none", Packing::none}, {"fast", Packing::fast}, {"small", Packing::small}};
constexpr std::pair<std::string_view, Storage> kStorages[] = {{"dense", Storage::dense},
                                                              {"csr", Storage::csr}};

constexpr OptionInfo kOpening[] = {
    {"format", OptionKind::text, "the name of a format"},
    {"array", OptionKind::text, "a name"},
    {"check", OptionKind::text, "one of never, first_touch, always"},
    {"guard", OptionKind::truth, kTruth},
    {"read_ahead", OptionKind::truth, kTruth},
    {"threads", OptionKind::number, kNumber32},
    {"cache", OptionKind::text, "a folder"},
    {"cache_bytes", OptionKind::number, kNumber64},
};

constexpr OptionInfo kCreating[] = {
    {"tile", OptionKind::text, "rows and columns: 1000x500"},
    {"kind", OptionKind::text, "one of auto, dense, csr, coo"},
    {"narrow", OptionKind::truth, kTruth},
    {"align", OptionKind::number, kNumber32},
    {"pack", OptionKind::text, "one of none, fast, small"},
    {"plain", OptionKind::truth, kTruth},
    {"overwrite", OptionKind::truth, kTruth},
    {"sync", OptionKind::truth, kTruth},
    {"attributes", OptionKind::text, "a JSON object"},
    {"row_name", OptionKind::list, "a name"},
    {"storage", OptionKind::text, "one of dense, csr"},
    {"col_name", OptionKind::list, "a name"},
};
constexpr std::size_t kOfMatrices = 2;  // the last ones

/// The list as names and values. Those of formats, which have a dot in their name, go to `others`.
FormatOptions split(const char* const* list, std::span<const OptionInfo> table,
                    FormatOptions* others) {
  FormatOptions own;
  for (; list != nullptr && *list != nullptr; ++list) {
    const std::string_view given = *list;
    const std::size_t equals = std::min(given.find('='), given.size());
    const std::string name(given.substr(0, equals));
    const bool of_format = others != nullptr && name.find('.') != std::string::npos;
    const std::string_view known = of_format ? std::string_view() : option_named(name, table).name;
    if (equals == given.size()) {
      throw Error(Errc::invalid_argument,
                  "the option '" + name + "' needs a value: " + name + "=VALUE", known);
    }
    (of_format ? *others : own).emplace(name, given.substr(equals + 1));
  }
  return own;
}

std::optional<TileShape> tile_of(const GivenOptions& given) {
  const std::string* const text = given.text("tile");
  if (text == nullptr) return std::nullopt;
  const std::string_view sides = *text;
  const std::size_t cross = std::min(sides.find('x'), sides.size());
  const auto rows = find_number<std::uint32_t>(sides.substr(0, cross));
  const auto cols = find_number<std::uint32_t>(sides.substr(std::min(cross + 1, sides.size())));
  if (!rows || !cols) given.fail("tile", sides);
  return TileShape{*rows, *cols};
}

}  // namespace

OpenOptions open_options(const char* const* list) {
  OpenOptions options;
  const FormatOptions own = split(list, kOpening, &options.format_options);
  check_format_options(options.format_options);
  const GivenOptions given(kOpening, own);
  options.format = given.text_or("format", "");
  options.array = given.text_or("array", "");
  options.check = given.choice("check", kChecks).value_or(options.check);
  options.guard = given.truth("guard").value_or(options.guard);
  options.read_ahead = given.truth("read_ahead").value_or(options.read_ahead);
  options.threads = given.number<unsigned>("threads").value_or(options.threads);
  options.cache = given.text_or("cache", "");
  options.cache_bytes = given.number<std::uint64_t>("cache_bytes").value_or(options.cache_bytes);
  return options;
}

CreateOptions create_options(const char* const* list, Creates what) {
  CreateOptions options;
  WriteOptions& write = options.write;
  const std::span<const OptionInfo> all = kCreating;
  const auto table = what == Creates::matrix ? all : all.first(all.size() - kOfMatrices);
  const FormatOptions own = split(list, table, nullptr);
  const GivenOptions given(kCreating, own);
  options.storage = given.choice("storage", kStorages).value_or(options.storage);
  write.tile = tile_of(given);
  write.kind = given.choice("kind", kKinds).value_or(write.kind);
  write.narrow = given.truth("narrow").value_or(write.narrow);
  write.align = given.number<std::uint32_t>("align").value_or(write.align);
  write.pack = given.choice("pack", kPackings).value_or(write.pack);
  write.plain = given.truth("plain").value_or(write.plain);
  write.overwrite = given.truth("overwrite").value_or(write.overwrite);
  write.sync = given.truth("sync").value_or(write.sync);
  write.attributes = given.text_or("attributes", "");
  for (const std::string& name : given.texts("row_name")) options.row_names.add(name);
  for (const std::string& name : given.texts("col_name")) options.col_names.add(name);
  if (options.row_names.size() > 0) write.row_names = options.row_names.finish();
  if (options.col_names.size() > 0) write.col_names = options.col_names.finish();
  return options;
}

ReadOptions read_options(const dapple_read_options* given) {
  if (given == nullptr) return {};
  if (given->absent < DAPPLE_ABSENT_ERROR || given->absent > DAPPLE_ABSENT_NAN) {
    fail_argument("there is no way " + std::to_string(given->absent) + " to read absent cells");
  }
  const bool all = given->threads == DAPPLE_EVERY_PROCESSOR;
  return {static_cast<Absent>(given->absent), all ? 0 : std::max(1u, given->threads)};
}

}  // namespace dapple::detail::c
