// Opening a state of a data set as one object.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/open.h"
#include "lib/dataset/parts.h"
#include "lib/dataset/state.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::dataset {

inline constexpr std::string_view kFormat = "dataset";

/// What a store of this format knows beside its index.
struct OpenState : DriverState {
  std::shared_ptr<const StateTables> tables;
  std::shared_ptr<const PartFiles> parts;
  std::uint64_t bytes_of_parts = 0;

  std::uint64_t bytes_beside() const noexcept override { return bytes_of_parts; }
  std::vector<Detail> details(const Store&) const override;
};

/// Where a block of a part is in that, and in the data set.
dbdf::Origin origin_of(const OpenPart& part, const Entry& entry, bool recoded);

Match recognise_state(const Probe& probe);

/// Reads the tables and the end of the file, and no part; those are opened beside it. Throws
/// corrupt; unsupported for what is in no folder; io.
std::shared_ptr<const Store> open_state(std::shared_ptr<ByteSource> file,
                                        const OpenOptions& options);

/// The number of the state that a file of this name is; 0 for any other name.
std::uint64_t state_number(std::string_view name) noexcept;
/// The name of the latest of these files that is a state; "" when none is.
std::string latest_of(std::span<const std::string> names);

/// The numbers of the states in a folder, ascending. Throws io.
std::vector<std::uint64_t> list_states(const std::filesystem::path& folder);
std::filesystem::path state_path(const std::filesystem::path& folder, std::uint64_t number);

/// The latest state of the folder. Throws not_recognised when there is none.
std::filesystem::path latest_state(const std::filesystem::path& folder);

/// True when nothing has this name any more. A link to nothing, and a name that may not be looked
/// at, are there: whoever waits for a later state would wait for ever.
bool is_gone(const std::filesystem::path& path);

}  // namespace dapple::detail::dataset
