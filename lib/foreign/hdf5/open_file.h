// A file that the HDF5 library has open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/foreign/hdf5/h5_api.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::hdf5 {

/// A file as the library sees it. Thread-safe; closed with the last data set.
class OpenFile {
 public:
  /// Opens what `file` has open, not what its path leads to now. Locks nothing, so that programs go
  /// on writing; also a file that is written in SWMR mode. Throws corrupt, unsupported, io.
  explicit OpenFile(std::shared_ptr<ByteSource> file);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const ByteSource& file() const noexcept { return *file_; }
  const std::string& name() const noexcept { return file_->name(); }
  /// Of the library. Throws io when the file was changed and opened anew.
  hid_t id() const;
  /// Throws what a call of the library that just failed means: io while another program writes the
  /// file, unsupported for what a newer library wrote, else corrupt.
  [[noreturn]] void fail(const Session& session, const std::string& what) const;
  /// The object at a path; not open when there is none. Links to other files are not followed.
  Handle open_object(const Session& session, const std::string& path) const;
  /// The data set at a path, of whose chunks the library keeps `cache` bytes; as `open_object`.
  /// REQUIRES that no other handle of it is open: all have the cache that the first one has.
  Handle open_data_set(const Session& session, const std::string& path, std::size_t cache) const;

 private:
  void end_outdated();
  void require_latest() const;

  std::shared_ptr<ByteSource> file_;
  std::uint64_t device_ = 0, inode_ = 0;  // of a local file
  Handle id_;
  bool outdated_ = false;
};

}  // namespace dapple::detail::hdf5
