// Where the values of a Zarr hierarchy's keys are.
#pragma once

#include <memory>
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

  /// The value of a key; null when there is none. Throws io.
  virtual std::shared_ptr<ByteSource> open(const std::string& key) const = 0;
  /// The names of what may be nodes directly under a path, in order.
  virtual std::vector<std::string> children(const std::string& path) const = 0;
  /// A key for messages.
  std::string shown(std::string_view key) const { return (root_ + "/").append(key); }

 private:
  std::string root_;
};

/// The keys of the folder that `metadata` is in. Throws unsupported for what is in no folder.
std::shared_ptr<const Keys> folder_keys(const ByteSource& metadata);

/// "/a/b/" as "a/b". Throws invalid_argument for parts that are empty or nothing but periods.
std::string checked_path(std::string_view path);

/// `path` and `name` with a slash between them, if there is a path.
std::string below(const std::string& path, std::string_view name);

}  // namespace dapple::detail::zarr
