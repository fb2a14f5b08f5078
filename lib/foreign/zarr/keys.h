// Where the values of a Zarr hierarchy's keys are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/byte_source.h"

namespace dapple::detail::zarr {

/// The keys under one root. Any thread.
class Keys {
 public:
  explicit Keys(std::string root) : root_(std::move(root)) {}
  virtual ~Keys() = default;
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  /// The value of a key; null when there is none. `whole`: how many bytes it may take if all of it
  /// is wanted; 0: only its end, or little of it. Throws io.
  virtual std::shared_ptr<ByteSource> open(const std::string& key, std::uint64_t whole) const = 0;
  /// True when values have to be fetched.
  virtual bool fetches() const noexcept = 0;
  /// The names of what may be nodes directly under a path, in order.
  virtual std::vector<std::string> children(const std::string& path) const = 0;
  /// A key for messages.
  std::string shown(std::string_view key) const { return (root_ + "/").append(key); }

 private:
  std::string root_;
};

/// The keys of the hierarchy in `file`, a ZIP archive, or else of the folder that this is in.
/// Throws unsupported for what is in no folder; corrupt for a damaged archive.
std::shared_ptr<const Keys> keys_of(const std::shared_ptr<ByteSource>& file);

/// How the names of members start that are the keys of the hierarchy in a ZIP archive: with
/// nothing, or with the one folder that holds all. Nothing when there is no hierarchy, or no
/// archive.
std::optional<std::string> archive_root(const ByteSource& file);

/// "/a/b/" as "a/b". Throws invalid_argument for parts that are empty or nothing but periods.
std::string checked_path(std::string_view path);

/// `path` and `name` with a slash between them, if there is a path.
std::string below(const std::string& path, std::string_view name);

}  // namespace dapple::detail::zarr
