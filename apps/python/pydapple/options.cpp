// Options of opening and writing, from Python's keywords.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core.h"
#include "numpy_api.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Errc;
using dapple::Error;

template <class Choice>
Choice choose(const char* what, const std::string& given,
              std::initializer_list<std::pair<const char*, Choice>> choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (given == name) return choice;
    names.append(names.empty() ? "'" : "', '").append(name);
  }
  throw Error(Errc::invalid_argument,
              std::string(what) + " is one of " + names + "', not '" + given + "'");
}

[[noreturn]] void fail_option(const std::string& group, const std::string& key,
                              const std::vector<std::string>& names) {
  const nb::object meant = nb::module_::import_("pydapple.advice").attr("meant")(key, names);
  throw Error(Errc::type_mismatch,
              group + " has no option '" + key + "'" + nb::cast<std::string>(meant));
}

/// The value of an option. Throws when it is none of what `what` says.
template <class T>
T option(const std::string& group, const std::string& key, nb::handle value,
         std::string_view what) {
  T taken{};
  if (nb::try_cast(value, taken)) return taken;
  throw Error(Errc::type_mismatch,
              group + "'s '" + key + "' is " + std::string(what) + ", not " + shown(value));
}
std::string key_of(const std::string& group, nb::handle key) {
  std::string name;
  if (!nb::try_cast(key, name)) fail_option(group, nb::repr(key).c_str(), {});
  return name;
}

/// LABEL=TYPE of what a column of text holds: a dtype, or the name of another meaning.
std::string column_type(const std::string& label, nb::handle kind) {
  using dapple::MeaningKind;
  std::string given;
  if (nb::try_cast(kind, given)) {
    for (const MeaningKind one :
         {MeaningKind::boolean, MeaningKind::timestamp, MeaningKind::duration,
          MeaningKind::category, MeaningKind::text}) {
      if (given == name(one)) return label + "=" + given;
    }
  }
  try {
    return label + "=" + std::string(name(value_type_of(kind)));
  } catch (const std::exception&) {
    throw Error(Errc::type_mismatch, "types: " + shown(kind) +
                                         " is neither a dtype nor one of 'boolean', 'timestamp', "
                                         "'duration', 'category', 'text'");
  }
}

/// The option of a format that is meant by a key of its group; of lists in plural: "types".
const dapple::OptionInfo& option_of(const std::string& group, const std::string& key) {
  std::vector<std::string> names;
  for (const dapple::FormatInfo& format : dapple::formats()) {
    for (const dapple::OptionInfo& option : format.options) {
      if (option.writing || !option.name.starts_with(group + ".")) continue;
      const bool several = option.kind >= dapple::OptionKind::list;
      names.push_back(std::string(option.name.substr(group.size() + 1)) + (several ? "s" : ""));
      if (names.back() == key) return option;
    }
  }
  fail_option(group, key, names);
}

/// Adds the options of a group, as text.
void add_group(dapple::FormatOptions& options, const std::string& group, const nb::dict& given) {
  using dapple::OptionKind;
  for (auto [key_object, value] : given) {
    const std::string key = key_of(group, key_object);
    const dapple::OptionInfo& info = option_of(group, key);
    if (value.is_none()) continue;
    const auto add = [&](std::string text) { options.emplace(info.name, std::move(text)); };
    switch (info.kind) {
      case OptionKind::truth:
        add(option<bool>(group, key, value, "True or False") ? "true" : "false");
        break;
      case OptionKind::number:
        add(std::to_string(option<std::uint64_t>(group, key, value, info.takes)));
        break;
      case OptionKind::text:
        add(option<std::string>(group, key, value, info.takes));
        break;
      case OptionKind::list:
        for (auto& text : option<std::vector<std::string>>(group, key, value, "a list of str")) {
          add(std::move(text));
        }
        break;
      case OptionKind::pairs:
        for (auto [label, kind] :
             option<nb::dict>(group, key, value, "a dict of labels and types")) {
          nb::object keep;
          add(column_type(std::string(bytes_of(nb::str(label), keep)), kind));
        }
    }
  }
}

void make_open_options(dapple::OpenOptions* self, std::optional<std::string> format,
                       std::optional<std::string> array, const std::string& check, bool guard,
                       bool read_ahead, Threads threads, const std::string& cache,
                       const std::string& temporary, std::optional<nb::dict> csv,
                       std::optional<nb::dict> futhark, std::optional<nb::dict> idv) {
  dapple::OpenOptions options;
  options.format = format.value_or("");
  options.array = array.value_or("");
  options.check = choose<dapple::Check>("check", check,
                                        {{"never", dapple::Check::never},
                                         {"first_touch", dapple::Check::first_touch},
                                         {"always", dapple::Check::always}});
  options.guard = guard;
  options.read_ahead = read_ahead;
  options.threads = threads;
  options.cache = cache;
  options.temporary = temporary;
  if (csv) add_group(options.format_options, "csv", *csv);
  if (futhark) add_group(options.format_options, "futhark", *futhark);
  if (idv) add_group(options.format_options, "idv", *idv);
  dapple::check_format_options(options.format_options);
  new (self) dapple::OpenOptions(std::move(options));
}

std::optional<dapple::TileShape> tile_of(nb::handle tile) {
  if (tile.is_none()) return std::nullopt;
  std::pair<std::uint32_t, std::uint32_t> shape;
  if (!nb::try_cast(tile, shape)) {
    throw Error(Errc::type_mismatch,
                "tile is a pair of integers (rows, columns), not " + shown(tile));
  }
  return dapple::TileShape{shape.first, shape.second};
}

void make_write_options(dapple::WriteOptions* self, nb::handle tile, const std::string& kind,
                        bool narrow, std::uint32_t align, nb::handle pack, bool plain,
                        bool overwrite, bool sync, std::string attributes,
                        const NamesHandle* row_names, const NamesHandle* col_names) {
  dapple::WriteOptions options;
  options.tile = tile_of(tile);
  options.kind = choose<dapple::KindChoice>("kind", kind,
                                            {{"auto", dapple::KindChoice::automatic},
                                             {"dense", dapple::KindChoice::dense},
                                             {"csr", dapple::KindChoice::csr},
                                             {"coo", dapple::KindChoice::coo}});
  options.narrow = narrow;
  options.align = align;
  if (!pack.is_none()) {
    options.pack = choose<dapple::Packing>(
        "pack", nb::cast<std::string>(pack),
        {{"fast", dapple::Packing::fast}, {"small", dapple::Packing::small}});
  }
  options.plain = plain;
  options.overwrite = overwrite;
  options.sync = sync;
  options.attributes = std::move(attributes);
  if (row_names != nullptr) options.row_names = row_names->names;
  if (col_names != nullptr) options.col_names = col_names->names;
  new (self) dapple::WriteOptions(options);
}

}  // namespace

void bind_options(nb::module_& m) {
  nb::class_<dapple::OpenOptions>(m, "OpenOptions")
      .def("__init__", &make_open_options, nb::kw_only(), nb::arg("format") = nb::none(),
           nb::arg("array") = nb::none(), nb::arg("check") = "never", nb::arg("guard") = false,
           nb::arg("read_ahead") = true, nb::arg("threads") = 1, nb::arg("cache") = "",
           nb::arg("temporary") = "", nb::arg("csv") = nb::none(), nb::arg("futhark") = nb::none(),
           nb::arg("idv") = nb::none());
  nb::class_<dapple::WriteOptions>(m, "WriteOptions")
      .def("__init__", &make_write_options, nb::kw_only(), nb::arg("tile") = nb::none(),
           nb::arg("kind") = "auto", nb::arg("narrow") = true, nb::arg("align") = 64,
           nb::arg("pack") = nb::none(), nb::arg("plain") = false, nb::arg("overwrite") = false,
           nb::arg("sync") = true, nb::arg("attributes") = "", nb::arg("row_names") = nb::none(),
           nb::arg("col_names") = nb::none());
}

}  // namespace pydapple
