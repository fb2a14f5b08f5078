#include "lib/dataset/open_dataset.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "lib/base/bytes.h"
#include "lib/dataset/recode.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/row_directory.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/local/folder.h"
#include "lib/io/local/memory_limit.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/output_file.h"

namespace dapple::detail::dataset {

namespace {

constexpr std::string_view kStatePrefix = "dataset-";

const OpenState& state_of(const Store& store) { return store.state<OpenState>(); }

void confirm(const Store& store, std::uint64_t number, const Entry& e) {
  const PartFiles& parts = *state_of(store).parts;
  const bool recoded = store.driver().is_recoded != nullptr && is_recoded(store, e);
  parts.with_part(e.offset, 0, [&](const std::shared_ptr<const OpenPart>& part) {
    try {
      dbdf::confirm_block(store, number, e, origin_of(*part, e, recoded));
    } catch (const Error& error) {
      throw error.retold(error.file(), error.offset(),
                         error.detail() + "; the data set " + store.file().name() +
                             " has it in the part " + part->file->name());
    }
  });
}

std::unique_ptr<const BlockStatsTable> find_stats(const Store& store) {
  auto table = dbdf::find_statistics(store, state_of(store).tables->head().body());
  if (table != nullptr && store.index().grid()) store.confirm_entry(0, store.index().entry(0));
  return table;
}

std::unique_ptr<const RowCountsTable> find_row_counts(const Store& store) {
  return dbdf::find_row_directory(store, state_of(store).tables->head().body());
}

Driver make_driver(bool recodes) {
  Driver driver = dbdf::kDriver;
  driver.format = kFormat;
  driver.confirm = confirm;
  driver.walk_again = nullptr;
  driver.find_stats = find_stats;
  driver.find_row_counts = find_row_counts;
  if (recodes) {
    driver.is_recoded = is_recoded;
    driver.recode = recode;
  }
  return driver;
}

[[noreturn]] void fail_index(const ByteSource& file, const std::string& what) {
  throw Error(Errc::corrupt, file.name(), file.size() - std::min<std::uint64_t>(file.size(), 64),
              what + "; open another state of the data set");
}

/// A state under the number of another, a copy or a link, would hide those in between, and whoever
/// makes the one after it would find that it does not follow.
void require_own_name(const ByteSource& file, std::uint64_t number) {
  const std::string_view name = std::string_view(file.name()).substr(file.name().rfind('/') + 1);
  const std::uint64_t named = state_number(name);
  if (number == 0 || number == ~std::uint64_t{0} || (named != 0 && named != number)) {
    throw Error(Errc::corrupt, file.name(), kNumberAt,
                "this is state " + std::to_string(number) +
                    " of the data set under another name; rename the file to dataset-" +
                    std::to_string(number) + " if there is none, or else remove it");
  }
}

}  // namespace

std::vector<Detail> OpenState::details(const Store&) const {
  return {{"state", std::to_string(tables->head().number)},
          {"parts", std::to_string(tables->head().parts)}};
}

dbdf::Origin origin_of(const OpenPart& part, const Entry& entry, bool recoded) {
  const Region& cells = part.record.cells;
  return {*part.file,        entry.offset & ~(kMostBytes - 1),     cells.rows.size(),
          cells.cols.size(), {cells.rows.begin, cells.cols.begin}, recoded};
}

Match recognise_state(const Probe& probe) {
  return starts_like_state(probe.head) ? Match::by_content : Match::no;
}

std::shared_ptr<const Store> open_state(std::shared_ptr<ByteSource> file,
                                        const OpenOptions& options) {
  if (!file->has_folder()) {
    throw Error(Errc::unsupported, file->name(), std::nullopt,
                "the parts of a data set are files beside this one; open it from its folder");
  }
  static const Driver kPlain = make_driver(false), kRecoding = make_driver(true);
  file->set_check(options.check);
  auto state = std::make_unique<OpenState>();
  state->tables = std::make_shared<StateTables>(file);
  const StateTables& tables = *state->tables;
  require_own_name(*file, tables.head().number);
  state->bytes_of_parts = tables.bytes_of_parts();
  std::uint64_t header = 0;
  Schema schema = dbdf::read_header(*memory_source(tables.header(), file->name()), header);
  auto trailer = dbdf::find_trailer(*file, tables.head().body());
  if (!trailer || !dbdf::complete(trailer->place, schema.rows, schema.cols)) {
    fail_index(*file, "the index of the state is damaged or was cut off");
  }
  if (load_le<std::uint64_t>(file->at(trailer->payload + head_at::header, 8)) != tables.hash()) {
    fail_index(*file, "the index is of another state");
  }
  dbdf::read_meanings(file, tables.head().body(), *trailer, schema);
  BlockIndex index = dbdf::index_at(file, *trailer, IndexOrigin::embedded);
  auto parts = std::make_shared<PartFiles>(state->tables);
  if (!options.read_ahead) parts->read_nothing_ahead();
  parts->set_outgrows_memory(!file->fetches() && outgrows_memory(state->bytes_of_parts));
  state->parts = parts;
  const Driver& driver = tables.head().maps == 0 ? kPlain : kRecoding;
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), driver,
                                 std::move(state), std::move(parts));
}

std::filesystem::path state_path(const std::filesystem::path& folder, std::uint64_t number) {
  return folder / (std::string(kStatePrefix) + std::to_string(number));
}

std::uint64_t state_number(std::string_view name) noexcept {
  if (!name.starts_with(kStatePrefix)) return 0;
  const std::string_view digits = name.substr(kStatePrefix.size());
  const char* const end = digits.data() + digits.size();
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  const bool plain = error == std::errc() && rest == end && !digits.starts_with('0');
  return plain ? number : 0;
}

std::string latest_of(std::span<const std::string> names) {
  const auto latest = std::max_element(
      names.begin(), names.end(),
      [](const auto& a, const auto& b) { return state_number(a) < state_number(b); });
  return latest == names.end() || state_number(*latest) == 0 ? "" : *latest;
}

std::vector<std::uint64_t> list_states(const std::filesystem::path& folder) {
  require_local(folder.string());
  std::vector<std::uint64_t> numbers;
  each_name(folder.string(), [&](std::string_view name) {
    if (const std::uint64_t number = state_number(name); number > 0) numbers.push_back(number);
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::filesystem::path latest_state(const std::filesystem::path& folder) {
  const auto numbers = list_states(folder);
  if (!numbers.empty()) return state_path(folder, numbers.back());
  throw Error(Errc::not_recognised, folder.string(), std::nullopt,
              "the folder holds no data set; one has files named dataset-1, dataset-2 and so on");
}

bool is_gone(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::symlink_status(path, none).type() ==
         std::filesystem::file_type::not_found;
}

}  // namespace dapple::detail::dataset
