// Removing what no state needs any more.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <system_error>

#include "dapple/sidecar.h"
#include "lib/dataset/commit.h"
#include "lib/io/local/folder.h"
#include "lib/io/local/local_file.h"
#include "lib/io/temporary.h"

namespace dapple {

namespace detail::dataset {

namespace {

/// False also for what is gone. A file counts from the moment when it got its name, which may be
/// long after its last byte was written.
bool is_old(const std::filesystem::path& path, std::uint64_t seconds) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return false;
  const auto named =
      std::chrono::seconds(file.st_ctim.tv_sec) + std::chrono::nanoseconds(file.st_ctim.tv_nsec);
  const auto age = std::chrono::system_clock::now().time_since_epoch() - named;
  return age >= std::chrono::seconds(std::min<std::uint64_t>(seconds, 1u << 31));
}

/// Removes a file, and counts its bytes. False when it was gone.
bool remove(const std::filesystem::path& path, std::uint64_t& bytes) {
  std::error_code reason;
  const auto size = std::filesystem::file_size(path, reason);
  if (!std::filesystem::remove(path, reason)) {
    if (reason) throw_io(path.string(), "remove", reason.value());
    return false;
  }
  bytes += size;
  return true;
}

/// Removes states that others have followed for long enough.
void remove_states(const std::filesystem::path& folder,
                   const dapple::dataset::CollectOptions& options,
                   dapple::dataset::Collected& removed) {
  const auto numbers = list_states(folder);
  const std::uint64_t keep = std::max<std::uint64_t>(options.keep, 1);
  for (std::size_t i = 0; i + keep < numbers.size(); ++i) {
    if (!is_old(state_path(folder, numbers[i + 1]), options.grace_s)) break;
    const std::filesystem::path state = state_path(folder, numbers[i]);
    removed.states += remove(state, removed.bytes);
    remove(column_copy_path(state), removed.bytes);
  }
}

/// The parts that some state has.
std::set<Id> parts_of_states(const std::filesystem::path& folder) {
  std::set<Id> ids;
  for (const std::uint64_t number : list_states(folder)) {
    const std::filesystem::path path = state_path(folder, number);
    try {
      const StateTables tables(LocalFile::open(path.string()));
      for (std::uint64_t i = 0; i < tables.head().parts; ++i) ids.insert(tables.part(i).id);
    } catch (const Error& e) {  // another collector removed it
      if (e.code() != Errc::io || !is_gone(path)) throw;
    }
  }
  return ids;
}

/// The parts in the folder that are old enough. Also removes what writers that died have left of
/// files without a name.
std::vector<Id> old_parts(const std::filesystem::path& folder, std::uint64_t grace_s) {
  std::vector<Id> ids;
  each_name(folder.string(), [&](std::string_view name) {
    const std::size_t hidden = name.find(".dapple-");
    if (name.starts_with('.') && hidden != name.npos) {
      remove_abandoned(folder / name.substr(1, hidden - 1));
    } else if (name.starts_with("part-") && is_old(folder / name, grace_s)) {
      try {
        ids.push_back(id_of(name));
      } catch (const Error&) {  // a file of somebody else's
      }
    }
  });
  return ids;
}

}  // namespace

}  // namespace detail::dataset

dataset::Collected dataset::collect(const std::filesystem::path& folder,
                                    const CollectOptions& options) {
  namespace impl = detail::dataset;
  Collected removed;
  // States are not removed in favour of one that cannot be opened.
  if (impl::find_latest(folder) == nullptr) impl::latest_state(folder);  // throws
  impl::remove_states(folder, options, removed);
  const auto old = impl::old_parts(folder, options.grace_s);
  std::set<impl::Id> unused;
  // A state that names what will be removed keeps those who would commit it from doing so.
  impl::make_state(folder, DatasetAction::collect, true, [&](const detail::Store* latest) {
    if (latest == nullptr) impl::latest_state(folder);  // throws
    const auto known = impl::parts_of_states(folder);
    unused.clear();
    std::copy_if(old.begin(), old.end(), std::inserter(unused, unused.end()),
                 [&](const impl::Id& id) { return known.count(id) == 0; });
    std::vector<impl::Id> doomed;  // of parts that were compacted, and that older states have
    // Another collector, with less grace, may be removing more.
    for (const impl::Id& id : latest->state<impl::OpenState>().tables->doomed()) {
      std::error_code none;
      const bool there = std::filesystem::exists(folder / impl::part_name(id), none);
      if (!there) continue;
      if (known.count(id) == 0) {
        unused.insert(id);
      } else {
        doomed.push_back(id);
      }
    }
    if (unused.empty()) return std::unique_ptr<impl::Draft>();
    auto draft = std::make_unique<impl::Draft>(*latest);
    doomed.insert(doomed.end(), unused.begin(), unused.end());
    draft->set_doomed(std::move(doomed));
    return draft;
  });
  for (const impl::Id& id : unused) {
    removed.parts += impl::remove(folder / impl::part_name(id), removed.bytes);
  }
  return removed;
}

}  // namespace dapple
