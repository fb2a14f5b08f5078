// Files that appear complete or not at all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lib/io/byte_source.h"
#include "lib/io/descriptor.h"

struct iovec;

namespace dapple::detail {

class LocalFile;

/// Writes to storage what was changed through maps of a file. Until then, the first change of a
/// page has moved the file's times, and further ones do not: what is bound to those times would not
/// notice them. Says nothing of a file that cannot be opened. Throws io.
void write_back(const std::filesystem::path& path);

/// Throws invalid_argument for an address, which only readers take.
void require_local(const std::string& name);

/// A file that appears at its destination complete or not at all. Until publish() it has no name
/// (O_TMPFILE) or, if the file system does not support that, a hidden one in the same folder. If
/// the process dies, the next writer of the same file removes the hidden one.
class OutputFile {
 public:
  /// Throws io; invalid_argument when `path` exists and `overwrite` is false, or is not a regular
  /// file.
  OutputFile(std::filesystem::path path, bool overwrite);
  /// Where a file is that never gets a name.
  enum class Unnamed : std::uint8_t {
    memory,
    temporary,  // in $TMPDIR, or in another folder
    nowhere,    // nothing is written: for what is known once all is put
  };
  /// A file without a name; `name` is for messages. Throws io.
  OutputFile(std::string name, Unnamed where);
  /// The same in a folder, of which `publish` of another file may make one with a name (see
  /// `take_over`).
  OutputFile(std::string name, const std::filesystem::path& folder);

  const std::string& name() const noexcept { return name_; }

  /// Throws invalid_argument in a process that was forked after the file was created: it has a copy
  /// of what is known of the file, and the other process does not learn what it adds. So does all
  /// that writes.
  void require_own_process() const;
  /// Reserves storage for bytes that will be written in pieces. A hint; any thread.
  void will_write(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// Writes all bytes at `offset`; any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Writes several runs of bytes one after another; modifies `parts`. Any thread. Throws io.
  void write_at(std::uint64_t offset, std::span<iovec> parts) const;
  /// Bytes [begin, end) are those of `from`, in the same place. The file system shares them if it
  /// can. They are copied now or, if `from` is a file without a name that could become this one, by
  /// `publish`: unless all of it is what was written here, and it is given the name. Throws io.
  void take_over(const ByteSource& from, std::uint64_t begin, std::uint64_t end);
  /// Writes after what `append` wrote before; one thread. Throws io.
  void append(std::span<const std::byte> bytes);
  std::uint64_t appended() const noexcept { return appended_; }

  /// Of several that make the file at once, one does, and the others find it there. `publish`
  /// throws invalid_argument where the file system cannot promise that; other files are made even
  /// so.
  void be_alone() noexcept { alone_ = true; }
  /// The contents will be synced: storage begins with each large part as soon as that is written,
  /// while the next one is made. Before anything is written.
  void expect_sync() noexcept { expects_sync_ = true; }
  /// Syncs the contents early, so that `publish` need not. Nothing may be written afterwards.
  /// Throws io.
  void sync();
  /// Syncs the contents (unless `sync` is false), gives the file its name, syncs the folder. Keeps
  /// the permissions of a file that it replaces, and its owner if allowed, and removes that file's
  /// sidecar index. A symbolic link is replaced, not followed. Throws io, invalid_argument.
  /// Does nothing with an unnamed file.
  void publish(bool sync = true);
  /// The open unnamed file, once all is written; the last thing to ask for.
  Descriptor take_unnamed() noexcept { return std::move(fd_); }

 private:
  /// The hidden name of the file while it has one; removes the file unless it is published, or
  /// belongs to another process.
  struct Hidden {
    std::filesystem::path path;
    pid_t process;
    Hidden() noexcept;
    Hidden(Hidden&& other) noexcept : path(std::exchange(other.path, {})), process(other.process) {}
    Hidden& operator=(Hidden&& other) noexcept {
      path.swap(other.path);
      std::swap(process, other.process);
      return *this;
    }
    ~Hidden();
  };
  /// A file without a name, of which bytes [begin, end) belong here.
  struct Nameless {
    std::shared_ptr<LocalFile> file{};
    std::uint64_t begin = 0, end = 0;
  };
  std::shared_ptr<LocalFile> find_nameless(const ByteSource& from) const;
  bool has_rest_of(const Nameless& nameless) const;
  void copy(const ByteSource& from, std::uint64_t begin, std::uint64_t end) const;
  void settle();
  void give_name();
  void begin_storing(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  std::filesystem::path path_;
  std::string name_;
  Descriptor fd_;
  Hidden hidden_;
  std::optional<Unnamed> unnamed_{};
  Nameless nameless_{};   // that `take_over` has found
  std::string folder_{};  // of an unnamed file
  bool overwrite_ = false;
  bool alone_ = false;
  bool expects_sync_ = false;
  bool synced_ = false;  // the contents
  std::uint64_t appended_ = 0;
};

}  // namespace dapple::detail
