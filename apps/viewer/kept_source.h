// What pictures that are kept beside a file are bound to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dapple/open.h"

namespace dapple::viewer {

/// What a kept pyramid is bound to: one state of a file, opened in one way.
struct KeptSource {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::string opened;  // the options and the .meta file that decide what the file's bytes mean
  friend bool operator==(const KeptSource&, const KeptSource&) = default;
};

/// Of the file as it is now, and of the .meta file that DAPHNE may keep beside it; nothing when its
/// status cannot be read.
std::optional<KeptSource> kept_source(const std::string& path, const OpenOptions& options);

}  // namespace dapple::viewer
