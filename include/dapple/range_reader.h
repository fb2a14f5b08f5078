// Bytes that the caller reads in ranges, and that are opened like a file: a blob in a database, an
// object in a store that dapple does not know. Objects that consist of several files, data sets,
// Zarr hierarchies and collections, are opened from a store of readers.
//
//   class Blob final : public dapple::RangeReader { ... };
//   const auto m = dapple::Matrix::open(std::make_shared<Blob>(connection), "blob 7");
//   class Bucket final : public dapple::ObjectStore { ... };
//   const auto d = dapple::open(std::make_shared<Bucket>(connection), "measured/2026");
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dapple {

/// Bytes from `offset` on, and where they go.
struct RangeRequest {
  std::uint64_t offset = 0;
  std::span<std::byte> to{};
};

/// The bytes must not change while an object that was opened from them lives. Any thread calls
/// these functions, several at once. What they throw is thrown by the call that needed the bytes,
/// as it is; a prefetch drops it, and the bytes are asked for again when they are needed.
class RangeReader {
 public:
  virtual ~RangeReader() = default;

  /// How many bytes there are. Called once, by `open`.
  virtual std::uint64_t size() const = 0;

  /// Fills all requests, which are not empty and inside `size()`, at once as far as possible, and
  /// returns the number of bytes in all. Any other number than was asked for is an error (io). Near
  /// ranges come as one, so that a request may be of many megabytes.
  virtual std::uint64_t read(std::span<const RangeRequest> requests) const = 0;

  /// A name for these bytes, and for no others that there are or ever will be: an address with the
  /// ETag of the object, say. With it, `OpenOptions::cache` keeps pieces; "": nothing is kept.
  virtual std::string lasting_name() const { return {}; }
};

/// Objects by name. Slashes in names make folders. Any thread calls these functions, several at
/// once; what they throw is thrown by the call that needed the object.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// The object of that name; nullptr when there is none.
  virtual std::shared_ptr<const RangeReader> find(const std::string& name) const = 0;

  /// What is directly in a folder, without its name, which ends in a slash or is empty; folders end
  /// in one. In any order; nothing when there is no such folder.
  virtual std::vector<std::string> list(const std::string& folder) const = 0;
};

}  // namespace dapple
