// Making the next state of a data set, while others may do the same.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "dapple/dataset.h"
#include "lib/dataset/draft.h"

namespace dapple::detail::dataset {

/// Throws invalid_argument where parts in this folder would be members of a collection.
void require_apart_from_members(const std::filesystem::path& folder);

/// Makes the folder of a data set if there is none, and tells that. Throws io; invalid_argument for
/// an address, and as above.
bool make_folder(const std::filesystem::path& folder);

/// Calls `f` with the folder there. One that was made for it goes again when `f` throws, unless
/// there is something in it by then.
template <class F>
auto in_folder(const std::filesystem::path& folder, const F& f) {
  const bool made = make_folder(folder);
  try {
    return f();
  } catch (...) {
    std::error_code ignored;
    if (made) std::filesystem::remove(folder, ignored);
    throw;
  }
}

/// The latest state; nullptr when there is none. Throws io, corrupt.
std::shared_ptr<const Store> find_latest(const std::filesystem::path& folder);

/// What a state says of itself.
DatasetState described(const Store& state);

/// The next state after `latest`, which is null before the first; nothing when there is nothing to
/// do.
using MakeDraft = std::function<std::unique_ptr<Draft>(const Store* latest)>;

/// Makes the next state from the latest one. When somebody else makes one meanwhile, it calls
/// `make` again, with that. Throws what `make` throws; io. `perhaps_made` becomes true before a
/// state may be there though this throws io.
DatasetState make_state(const std::filesystem::path& folder, DatasetAction action, bool sync,
                        const MakeDraft& make, bool* perhaps_made = nullptr);

/// What `dataset::commit` does.
DatasetState commit_parts(const std::filesystem::path& folder, std::span<const DatasetPart> parts,
                          const dapple::dataset::CommitOptions& options,
                          bool* perhaps_made = nullptr);

PartRecord record_of(const DatasetPart& part);

/// The folder's name, for names of files in it.
std::string prefix_of(const std::filesystem::path& folder);

}  // namespace dapple::detail::dataset
