#include "lib/dataset/commit.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>

#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/local/local_file.h"
#include "lib/io/output_file.h"

namespace dapple {

namespace detail::dataset {

namespace {

/// False when somebody else made a state of this number first. `perhaps` becomes true when the
/// state may be there even if this throws.
bool publish(Draft& draft, const StateHead& head, const std::filesystem::path& path, bool sync,
             bool& perhaps) {
  try {
    OutputFile out(path, false);
    out.be_alone();
    draft.emit(head, path.string(), [&](std::span<const std::byte> bytes) { out.append(bytes); });
    if (sync) out.sync();
    perhaps = true;
    out.publish(sync);
    return true;
  } catch (const Error& e) {
    if (e.option() != "overwrite") throw;
    return false;
  }
}

/// True when this write made the state or one that it followed. Whether creating the file succeeded
/// does not tell: a network file system may lose the answer, and then deny that it can be made
/// again; and the number may have been free because the state that had it was collected while this
/// process slept.
bool follows(const Store& latest, const Id& write_id) {
  const StateTables& tables = *latest.state<OpenState>().tables;
  const auto before = tables.writes();
  return tables.head().write_id == write_id ||
         std::find(before.begin(), before.end(), write_id) != before.end();
}

/// Throws when `latest` no longer knows of a state of this number, whoever made it.
void require_remembered(const Store& latest, std::uint64_t number,
                        const std::filesystem::path& folder) {
  const std::uint64_t now = latest.state<OpenState>().tables->head().number;
  if (now <= number || now - number <= kMostWrites) return;
  throw Error(
      Errc::io, folder.string(), std::nullopt,
      "others made " + std::to_string(now - number) + " states since this one made state " +
          std::to_string(number) +
          "; whether they followed it can no longer be told: look whether the parts are there");
}

/// Waits for a random time, longer the more often others were faster.
void wait_after(unsigned attempt) {
  static thread_local std::minstd_rand random{std::random_device()()};
  const unsigned most = 1000u << std::min(attempt, 6u);  // microseconds
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<unsigned>(0, most)(random)));
}

/// Nullptr when it was collected, so that there is a later one.
std::shared_ptr<const Store> open_number(const std::filesystem::path& folder,
                                         std::uint64_t number) {
  const std::filesystem::path path = state_path(folder, number);
  try {
    return open_state(LocalFile::open(path.string()), {});
  } catch (const Error& e) {
    if (e.code() != Errc::io || !is_gone(path)) throw;
    return nullptr;
  }
}

}  // namespace

void require_apart_from_members(const std::filesystem::path& folder) {
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::invalid_argument, folder.string(), std::nullopt, why);
  };
  const std::filesystem::path name = folder.has_filename() ? folder : folder.parent_path();
  const auto is_collection = [](const auto& path) { return path.extension() == ".dds"; };
  if (is_collection(name)) {
    fail("folders whose names end in .dds are collections; give the data set another name");
  }
  if (name.extension() == ".dbdf") return;  // a member itself
  for (auto above = name.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (!is_collection(above)) continue;
    fail("a data set in a collection is a member, whose name ends in .dbdf: " + name.string() +
         ".dbdf");
  }
}

bool make_folder(const std::filesystem::path& folder) {
  require_local(folder.string());
  require_apart_from_members(folder);
  std::error_code reason;
  const bool made = std::filesystem::create_directories(folder, reason);
  if (reason) throw_io(folder.string(), "make the folder", reason.value());
  return made;
}

std::shared_ptr<const Store> find_latest(const std::filesystem::path& folder) {
  for (;;) {
    const auto numbers = list_states(folder);
    if (numbers.empty()) return nullptr;
    if (auto state = open_number(folder, numbers.back())) return state;
  }
}

DatasetState described(const Store& state) {
  const auto& opened = state.state<OpenState>();
  const StateHead& head = opened.tables->head();
  return {head.number,         head.action, head.time_ns,         state.schema().rows,
          state.schema().cols, head.parts,  state.index().size(), opened.bytes_of_parts};
}

DatasetState make_state(const std::filesystem::path& folder, DatasetAction action, bool sync,
                        const MakeDraft& make, bool* perhaps_made) {
  constexpr unsigned kMostAttempts = 10'000;
  StateHead head;
  head.write_id = new_id();
  head.action = action;
  DatasetState made;
  bool created = false, perhaps = false;
  bool& may_be_there = perhaps_made != nullptr ? *perhaps_made : perhaps;
  for (unsigned attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto latest = find_latest(folder);
    if (latest != nullptr && follows(*latest, head.write_id)) return made;
    if (created && latest != nullptr) require_remembered(*latest, head.number, folder);
    head.number = latest == nullptr ? 1 : latest->state<OpenState>().tables->head().number + 1;
    const auto draft = make(latest.get());
    if (draft == nullptr) return described(*latest);
    head.time_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
    made = draft->described(head);
    created = publish(*draft, head, state_path(folder, head.number), sync, may_be_there);
    if (!created) wait_after(attempt);
  }
  throw Error(Errc::io, folder.string(), std::nullopt,
              "others made a state of the data set each time that this one was ready; try again");
}

PartRecord record_of(const DatasetPart& part) {
  return {id_of(part.name), part.bytes,        part.header_bytes,
          part.header_hash, part.trailer_hash, part.cells};
}

std::string prefix_of(const std::filesystem::path& folder) { return (folder / "").string(); }

namespace {

std::unique_ptr<Draft> first_draft(const PartRecord& part, const std::string& prefix) {
  const auto opened = open_local_part(prefix, part);
  return std::make_unique<Draft>(dbdf::open_dbdf(opened->file, {})->schema());
}

void require_width(const PartRecord& part, const Schema& schema, const std::string& name) {
  if (schema.cols == part.cells.cols.size() || schema.cols == 0) return;
  throw Error(Errc::invalid_argument, name, std::nullopt,
              "the data set has " + counted(schema.cols, "column") +
                  ", and the rows to append have " + std::to_string(part.cells.cols.size()));
}

Range below(std::uint64_t row, std::uint64_t rows) {
  if (rows > ~row) throw Error(Errc::invalid_argument, "there is no row 2^64 - 1");
  return {row, row + rows};
}

std::unique_ptr<Draft> with_parts(const Store* latest, std::span<const DatasetPart> parts,
                                  const std::string& prefix,
                                  const dapple::dataset::CommitOptions& options) {
  if (latest == nullptr && parts.empty()) {
    throw Error(Errc::invalid_argument, prefix, std::nullopt,
                "a data set without parts says nothing of its columns; create it first");
  }
  auto draft = latest != nullptr ? std::make_unique<Draft>(*latest)
                                 : first_draft(record_of(parts[0]), prefix);
  const std::uint64_t before = draft->parts().size();
  for (const DatasetPart& part : parts) {
    PartRecord record = record_of(part);
    const PartRecord* const known = draft->find(record.id);
    if (options.below) {
      require_width(record, draft->schema(), prefix + part.name);
      record.cells.rows = below(known != nullptr ? known->cells.rows.begin : draft->schema().rows,
                                record.cells.rows.size());
    }
    if (known != nullptr) {
      if (*known == record) continue;
      throw Error(Errc::invalid_argument, prefix + part.name, std::nullopt,
                  "the data set has this part already, in another place or with other bytes");
    }
    draft->add(record, prefix);
  }
  const Schema& schema = draft->schema();
  const bool grows = options.rows > schema.rows || options.cols > schema.cols;
  draft->grow(options.rows, options.cols);
  draft->require_apart(prefix);
  if (options.whole) draft->require_covered(prefix);
  const bool same = latest != nullptr && draft->parts().size() == before && !grows;
  return same ? nullptr : std::move(draft);
}

}  // namespace

DatasetState commit_parts(const std::filesystem::path& folder, std::span<const DatasetPart> parts,
                          const dapple::dataset::CommitOptions& options, bool* perhaps_made) {
  const std::string prefix = prefix_of(folder);
  const auto draft = [&](const Store* latest) {
    return with_parts(latest, parts, prefix, options);
  };
  return make_state(folder, DatasetAction::commit, options.sync, draft, perhaps_made);
}

}  // namespace detail::dataset

namespace dataset {

namespace impl = detail::dataset;

DatasetState commit(const std::filesystem::path& folder, std::span<const DatasetPart> parts,
                    const CommitOptions& options) {
  return impl::commit_parts(folder, parts, options);
}

DatasetState create(const std::filesystem::path& folder, const std::variant<Matrix, Frame>& like,
                    const CommitOptions& options) {
  const auto& schema = std::visit([](const BlockedObject& o) { return o.share(); }, like)->schema();
  const auto first = [&](const detail::Store* latest) {
    if (latest != nullptr) {
      throw Error(Errc::invalid_argument, latest->file().name(), std::nullopt,
                  "the folder has a data set already");
    }
    auto draft = std::make_unique<impl::Draft>(schema);
    draft->grow(options.rows, options.cols);
    return draft;
  };
  return impl::in_folder(
      folder, [&] { return impl::make_state(folder, DatasetAction::create, options.sync, first); });
}

std::vector<DatasetState> log(const std::filesystem::path& folder,
                              const std::function<void(const Error&)>& damaged) {
  std::vector<DatasetState> states;
  for (const std::uint64_t number : impl::list_states(folder)) {
    try {
      const auto state = impl::open_number(folder, number);
      if (state != nullptr) states.push_back(impl::described(*state));
    } catch (const Error& e) {
      if (!damaged || e.code() == Errc::no_memory) throw;
      damaged(e);
    }
  }
  return states;
}

}  // namespace dataset

}  // namespace dapple
