#include "lib/catalog/formats.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/letters.h"
#include "lib/catalog/collection.h"
#include "lib/catalog/other_formats.h"
#include "lib/codec/decompress.h"
#include "lib/dataset/open_dataset.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/write/retile.h"
#include "lib/foreign/btable/btable.h"
#include "lib/foreign/csv/csv.h"
#include "lib/foreign/csv/csv_options.h"
#include "lib/foreign/daphne/daphne.h"
#include "lib/foreign/futhark/futhark.h"
#include "lib/foreign/futhark/futhark_options.h"
#include "lib/foreign/hdf5/hdf5.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_options.h"
#include "lib/foreign/mtx/mtx.h"
#include "lib/foreign/npy/npy.h"
#include "lib/foreign/npz/npz.h"
#include "lib/foreign/zarr/zarr.h"

namespace dapple {

namespace detail {

namespace {

template <auto kRead>
void check(const FormatOptions& options) {
  kRead(options);
}

// The formats, dapple's own first, with `info` as name, title, extensions, reads, writes, streams,
// options. If two are equally sure of a file, the first one wins.
constexpr std::array kTable = {
    Format{.info = {"dbdf", "DAPHNE binary format 1", ".dbdf", true, true, false},
           .recognise = dbdf::recognise_dbdf,
           .open = dbdf::open_dbdf,
           .write_file = dbdf::write_dbdf,
           .holds_meanings = true},
    Format{.info = {"daphne", "DAPHNE runtime file", "", true, true, false},
           .recognise = daphne::recognise_daphne,
           .open = daphne::open_daphne,
           .write_file = daphne::write_daphne,
           .lost = {.groups = true, .matrix_names = true}},
    Format{.info = {"dataset", "data set of many dbdf files", "", true, false, false},
           .recognise = dataset::recognise_state,
           .open = dataset::open_state},
    Format{.info = {"btable", "BTable, sparse rows of f64", ".btable", true, true, true},
           .recognise = btable::recognise_btable,
           .parse = btable::parse_btable,
           .write = btable::write_btable,
           .lost = {.groups = true, .matrix_names = true}},
    Format{.info = {"npy", "NumPy array file", ".npy", true, true, true},
           .recognise = npy::recognise_npy,
           .open = npy::open_npy,
           .write = npy::write_npy,
           .holds_meanings = true,
           .lost = {.zones = true,
                    .utc = true,
                    .order = true,
                    .missing_floats = true,
                    .groups = true,
                    .matrix_names = true}},
    Format{.info = {"npz", "NumPy archive", ".npz", true, false, false},
           .recognise = npz::recognise_npz,
           .open = npz::open_npz,
           .list = npz::list_npz,
           .check_sums = npz::check_sums},
    Format{.info = {kCollectionFormat, "collection of dbdf files", ".dds", true, false, false},
           .recognise = recognise_collection,
           .open = open_collection},
    Format{.info = {"hdf5", "HDF5 file", ".h5 .hdf5 .h5ad", true, false, false},
           .recognise = hdf5::recognise_hdf5,
           .open = hdf5::open_hdf5,
           .list = hdf5::list_hdf5},
    Format{.info = {"zarr", "Zarr hierarchy", ".zarr", true, false, false},
           .recognise = zarr::recognise_zarr,
           .open = zarr::open_zarr,
           .list = zarr::list_zarr},
    Format{.info = {"futhark", "Futhark values", ".in .out", true, true, true, futhark::kOptions},
           .check_options = check<futhark::read_options>,
           .recognise = futhark::recognise_futhark,
           .open = futhark::open_futhark,
           .write = futhark::write_futhark,
           .holds_labels = false,
           .lost = {.matrix_names = true}},
    Format{.info = {"futhark-text", "Futhark values as text", "", false, true, true},
           .write = futhark::write_futhark_text,
           .holds_labels = false,
           .lost = {.matrix_names = true}},
    Format{.info = {"idv", "ML.NET binary data view", ".idv", true, true, false, idv::kOptions},
           .check_options = check<idv::read_options>,
           .recognise = idv::recognise_idv,
           .open = idv::open_idv,
           .write_file = idv::write_idv,
           .check_values = idv::check_values,
           .holds_meanings = true,
           .lost = {.zones = true, .order = true, .missing_floats = true},
           .own_losses = idv::own_losses},
    Format{.info = {"mtx", "Matrix Market", ".mtx", true, true, true},
           .recognise = mtx::recognise_mtx,
           .parse = mtx::parse_mtx,
           .write = mtx::write_mtx,
           .holds_labels = false,
           .lost = {.matrix_names = true}},
    Format{.info = {"csv", "delimited text", ".csv", true, true, true, csv::kOptions},
           .check_options = check<csv::read_options>,
           .recognise = csv::recognise_csv,
           .parse = csv::parse_csv,
           .write = csv::write_csv,
           .holds_text = true,
           .reads_meta = true,
           .holds_meanings = true,
           .lost = {.zones = true, .order = true, .durations = true, .groups = true},
           .note_mistaken = csv::note_mistaken},
    Format{.info = {"tsv", "text with tabs, read as csv", ".tsv", false, true, true},
           .write = csv::write_tsv,
           .holds_text = true,
           .reads_meta = true,
           .holds_meanings = true,
           .lost = {.zones = true, .order = true, .durations = true, .groups = true},
           .note_mistaken = csv::note_mistaken},
};

// dapple's own format and its dialect. No other format starts like them.
constexpr auto kOwn = std::span(kTable).first<2>();
static_assert(kOwn[0].info.name == "dbdf" && kOwn[1].info.name == "daphne");

constexpr auto kInfos = [] {
  std::array<FormatInfo, kTable.size()> infos;
  for (std::size_t i = 0; i < kTable.size(); ++i) infos[i] = kTable[i].info;
  return infos;
}();

std::string extension_of(const std::filesystem::path& path) {
  return to_lower(path.extension().string());
}

/// Of the content, where the file is compressed as a whole.
std::string extension_within(const std::filesystem::path& path) {
  return extension_of(compression_of(path) == Compression::none ? path : path.stem());
}

/// True when `word` is one of the blank-separated words of `list`.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// The formats for which `choose` holds, as "a, b, c".
template <class F>
std::string list_formats(F choose, std::string_view FormatInfo::*word) {
  std::string names;
  for (const Format& format : kTable) {
    if (!choose(format.info) || (format.info.*word).empty()) continue;
    if (!names.empty()) names += ", ";
    for (const char c : format.info.*word) names += c == ' ' ? ", " : std::string(1, c);
  }
  return names;
}

bool reads(const FormatInfo& info) { return info.reads; }
bool writes(const FormatInfo& info) { return info.writes; }

/// Throws not_recognised for a file that is known to be of no format here.
void require_none_other(const Probe& probe) {
  if (const std::string_view what = told_apart(probe); !what.empty()) {
    throw Error(Errc::not_recognised, probe.file.name(), std::nullopt, std::string(what));
  }
}

std::span<const std::byte> head_of(const ByteSource& file) {
  constexpr std::uint64_t kHead = 4096;
  return file.bytes(0, std::min(file.size(), kHead));
}

[[gnu::noinline]] const Format& best_match(const ByteSource& file) {
  Probe probe{file, file.fetches() ? head_of(file) : dbdf::first_look(file), {}};
  std::span<const Format> among = kOwn;
  if (!dbdf::starts_like_dbdf(probe.head)) {
    probe.head = head_of(file);
    probe.extension = extension_within(file.name());
    among = kTable;
  }
  const Format* best = nullptr;
  Match surest = Match::no;
  for (const Format& format : among) {
    const Match match = format.recognise != nullptr ? format.recognise(probe) : Match::no;
    if (match > surest) {
      surest = match;
      best = &format;
    }
  }
  if (best != nullptr && surest != Match::by_name) return *best;
  require_none_other(probe);
  if (best != nullptr) return *best;
  if (file.size() == 0) {
    throw Error(Errc::not_recognised, file.name(), std::nullopt, "the file is empty");
  }
  if (csv::may_be_csv(probe.head)) {
    throw Error(Errc::not_recognised, file.name(), std::nullopt,
                "the format is not recognised; it may be delimited text (csv)", "format=csv");
  }
  throw Error(
      Errc::not_recognised, file.name(), std::nullopt,
      "the format is not recognised; dapple reads " + list_formats(reads, &FormatInfo::name),
      "format");
}

}  // namespace

std::span<const Format> all_formats() noexcept { return kTable; }
const Format& native_format() noexcept { return kTable.front(); }

const Format* find_format(std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const Format& format : kTable) {
    if (format.info.name == wanted) return &format;
  }
  return nullptr;
}

const Format& format_named(std::string_view name) {
  if (const Format* const format = find_format(name)) return *format;
  throw Error(Errc::invalid_argument,
              "unknown format '" + std::string(name) + "'; the formats are " +
                  list_formats([](const FormatInfo&) { return true; }, &FormatInfo::name));
}

Compression compression_of(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  if (extension == ".gz") return Compression::gzip;
  return extension == ".zst" ? Compression::zstd : Compression::none;
}

const Format& format_to_write(const std::string& to, const std::filesystem::path& path) {
  if (!to.empty()) {
    const Format* const format = find_format(to);
    if (format != nullptr && format->info.writes) return *format;
    throw Error(Errc::invalid_argument, "'" + to +
                                            "' cannot be written; the formats that can are " +
                                            list_formats(writes, &FormatInfo::name));
  }
  const std::string extension = extension_within(path);
  for (const Format& format : kTable) {
    if (format.info.writes && lists(format.info.extensions, extension)) return format;
  }
  throw Error(Errc::invalid_argument, path.string(), std::nullopt,
              "the name does not tell the format to write; end it in " +
                  list_formats(writes, &FormatInfo::extensions) + " or name the format");
}

namespace {

[[gnu::noinline]] const Format& named_to_read(const ByteSource& file, const OpenOptions& options) {
  const Format& format = format_named(options.format);
  if (format.holds_text) require_none_other({file, head_of(file), {}});
  if (format.open != nullptr || format.parse != nullptr) return format;
  throw Error(Errc::invalid_argument, "'" + options.format + "' can be written but not read; " +
                                          list_formats(reads, &FormatInfo::name) + " can be read");
}

/// As `format_to_read`, once the options are known to be right.
const Format& format_of(std::shared_ptr<ByteSource>& file, const OpenOptions& options) {
  if (dbdf::has_own_index(*file)) {
    // Files written by dapple are not shown to all recognisers, whose code would have to be loaded:
    // that saves a fifth of a cold open.
    if (options.format.empty()) return kOwn[0];
  } else if (is_compressed(*file)) {
    auto plain = decompress(*file);
    plain->set_version(file->version());
    file = std::move(plain);
  }
  return options.format.empty() ? best_match(*file) : named_to_read(*file, options);
}

/// Everything in the options that decides what is seen of a file of that format. Truth values only
/// of text: elsewhere they choose what is a frame, which has nothing beside it, or whether it is an
/// error not to choose.
std::string chosen_in(const OpenOptions& options, const Format& format) {
  std::string chosen = options.array;
  for (const OptionInfo& option : format.info.options) {
    if (option.kind == OptionKind::truth && format.parse == nullptr) continue;
    auto [begin, end] = options.format_options.equal_range(option.name);
    if (begin != end && option.kind < OptionKind::list) {
      begin = std::prev(end);                              // the last counts,
      if (begin->second == option.otherwise) begin = end;  // and may say what holds anyway
    }
    std::for_each(begin, end, [&](const auto& given) {
      chosen.append(1, '\0').append(given.first).append(1, '=').append(given.second);
    });
  }
  return chosen;
}

}  // namespace

const Format& format_to_read(std::shared_ptr<ByteSource>& file, const OpenOptions& options) {
  check_format_options(options.format_options);
  const Format& format = format_of(file, options);
  if (file->chosen().empty()) file->set_chosen(chosen_in(options, format));
  return format;
}

std::shared_ptr<const Store> open_store(std::shared_ptr<ByteSource> file,
                                        const OpenOptions& options) {
  // Not for `verify` and `repair`, which read what is there and not a copy of it.
  dbdf::presume_header(*file);
  const Format& format = format_to_read(file, options);
  file->set_check(options.check);
  if (format.parse != nullptr) {
    return texts::open_text(file, format.info.name, format.parse, options);
  }
  return format.open(std::move(file), options);
}

}  // namespace detail

std::span<const FormatInfo> formats() noexcept { return detail::kInfos; }

void check_format_options(const FormatOptions& options, bool writing) {
  if (options.empty()) return;
  std::vector<OptionInfo> known;
  for (const FormatInfo& format : formats()) {
    std::copy_if(format.options.begin(), format.options.end(), std::back_inserter(known),
                 [writing](const OptionInfo& option) { return option.writing == writing; });
  }
  for (const auto& [name, value] : options) detail::option_named(name, known);
  for (const detail::Format& format : detail::kTable) {
    if (format.check_options != nullptr) format.check_options(options);
  }
}

const FormatInfo& format_to_write(const std::string& to, const std::filesystem::path& out) {
  return detail::format_to_write(to, out).info;
}

}  // namespace dapple
