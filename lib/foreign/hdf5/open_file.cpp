#include "lib/foreign/hdf5/open_file.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/local/local_file.h"

namespace dapple::detail::hdf5 {

namespace {

/// Refuses to follow a link to another file.
herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

/// Of a file that another program writes, or did not close.
bool is_being_written(const std::string& reason) {
  return reason.find("already open for") != std::string::npos;
}

/// Whether another program has locked the file, as writers do.
bool is_locked(int fd) noexcept {
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(fd, LOCK_UN);
  return false;
}

/// Whether the driver that wrote the file splits files, which it notes after the superblock.
bool is_part_of_several(const ByteSource& file) {
  constexpr std::uint64_t kSuperblock = 512;
  const std::uint64_t size = std::min(file.size(), kSuperblock);
  const auto* const bytes = reinterpret_cast<const char*>(file.at(0, size));
  const std::string_view start(bytes, size);
  return start.find("NCSAfami") != start.npos || start.find("NCSAmult") != start.npos;
}

/// Those of the process, which the library knows, too. Used within a Session.
std::vector<OpenFile*>& open_files() {
  static std::vector<OpenFile*> files;
  return files;
}

}  // namespace

OpenFile::OpenFile(std::shared_ptr<ByteSource> file) : file_(std::move(file)) {
  const Session session(name());
  const Api& h5 = session.api();
  const Handle access(h5.H5Pcreate(h5.file_access), h5.H5Pclose);
  h5.H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);  // with all that is open in it
  end_outdated();
  if (!file_->has_path()) {  // the library wants one: it gets a copy in memory
    const std::byte* const bytes = file_->at(0, file_->size());
    constexpr std::size_t growth = 1 << 20;
    h5.H5Pset_fapl_core(access.get(), growth, 0);
    h5.H5Pset_file_image(access.get(), const_cast<std::byte*>(bytes), file_->size());
  }
  // What is in memory must not be there under its name, by which the library tells it from others:
  // it takes two of one name for one file.
  const std::string path = file_->has_path()
                               ? "/proc/self/fd/" + std::to_string(file_->local()->descriptor())
                               : "/dev/null/memory/" + std::to_string(file_->number());
  h5.H5Pset_file_locking(access.get(), false, true);
  id_ = Handle(h5.H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), h5.H5Fclose);
  if (!id_.is_open() && is_being_written(session.reason())) {
    constexpr unsigned kBesideWriter = H5F_ACC_RDONLY | H5F_ACC_SWMR_READ;
    id_ = Handle(h5.H5Fopen(path.c_str(), kBesideWriter, access.get()), h5.H5Fclose);
  }
  if (!id_.is_open()) fail(session, "HDF5 cannot open it");
  open_files().push_back(this);
}

/// Ends what was opened before this file was written in place. As long as any of it is open, the
/// library takes the file for the one that it knows, and reads new bytes where the old ones were.
/// Where the writer is in SWMR mode, it would keep the old extents, which H5Orefresh does not mend:
/// of a file that is open twice, 1.10 then reads other chunks, and 2.0 none.
void OpenFile::end_outdated() {
  struct stat found {};
  if (!file_->has_path() || ::fstat(file_->local()->descriptor(), &found) != 0) return;
  device_ = found.st_dev;
  inode_ = found.st_ino;
  const Identity& now = file_->identity();
  for (OpenFile* const other : open_files()) {
    if (other->device_ != device_ || other->inode_ != inode_) continue;
    const Identity& before = other->file_->identity();
    if (before.size == now.size && before.mtime_ns == now.mtime_ns) continue;
    other->id_.close();
    other->outdated_ = true;
  }
}

void OpenFile::require_latest() const {
  if (!outdated_) return;
  throw Error(
      Errc::io, name(), std::nullopt,
      "the file was changed after it was opened, and then opened once more; open this again");
}

hid_t OpenFile::id() const {
  require_latest();
  return id_.get();
}

void OpenFile::fail(const Session& session, const std::string& what) const {
  require_latest();
  const std::string reason = session.reason();
  const auto is = [&](const char* words) { return reason.find(words) != std::string::npos; };
  Errc code = Errc::corrupt;
  std::string advice;
  if (is_being_written(reason)) {
    code = Errc::io;
    advice = "; close it there first, or run 'h5clear -s' on it if no program has it open";
  } else if (file_->has_path() && is_locked(file_->local()->descriptor())) {
    code = Errc::io;
    advice = "; another program is writing it: read it when that is done";
  } else if (is_part_of_several(*file_)) {
    code = Errc::unsupported;
    advice = "; it is one of several files that hold one together: make them one, with h5repack";
  } else if (is("version")) {
    code = Errc::unsupported;
    advice = "; a newer HDF5 than " + session.version() +
             " may have written it: write it for older ones, as h5py does with libver='v110'";
  }
  throw Error(code, name(), std::nullopt, what + ": " + reason + advice);
}

OpenFile::~OpenFile() {
  const Session session(name());
  std::erase(open_files(), this);
  id_.close();
}

Handle OpenFile::open_object(const Session& session, const std::string& path) const {
  const Api& h5 = session.api();
  if (path.find('\0') != std::string::npos) return {};
  const Handle access(h5.H5Pcreate(h5.link_access), h5.H5Pclose);
  if (!access.is_open() || h5.H5Pset_elink_cb(access.get(), refuse_link, nullptr) < 0) return {};
  return {h5.H5Oopen(id(), path.c_str(), access.get()), h5.H5Oclose};
}

Handle OpenFile::open_data_set(const Session& session, const std::string& path,
                               std::size_t cache) const {
  constexpr std::size_t slots = 10007;
  const Api& h5 = session.api();
  const Handle access(h5.H5Pcreate(h5.dataset_access), h5.H5Pclose);
  if (!access.is_open() || h5.H5Pset_elink_cb(access.get(), refuse_link, nullptr) < 0) return {};
  h5.H5Pset_chunk_cache(access.get(), slots, cache, 1.0);
  return {h5.H5Dopen2(id(), path.c_str(), access.get()), h5.H5Dclose};
}

}  // namespace dapple::detail::hdf5
