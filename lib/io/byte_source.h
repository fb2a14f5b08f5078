// Where the bytes of an object come from: a mapped file, memory, or anything that is read in
// ranges.
//
// There are two kinds of bytes. *Kept* bytes (headers, indexes, dictionaries, statistics) are few,
// and valid as long as their source: `at`. *Held* bytes (payloads of blocks) are many, and valid as
// long as somebody holds them: `hold`. In a map both are the same: one load and one addition.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dapple/error.h"
#include "dapple/range_reader.h"
#include "dapple/region.h"
#include "lib/io/held_bytes.h"

namespace dapple {
enum class Check : std::uint8_t;
}

namespace dapple::detail {

class LocalFile;

/// Tells one state of a source from another. For comparing, no more.
struct Identity {
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;  // since the epoch; 0: not known
  std::uint64_t ctime_ns = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// A byte of a file, for messages.
struct BytePlace {
  std::string name;
  std::uint64_t offset;
};

/// Read-only bytes that do not change. Any thread.
class ByteSource {
 public:
  virtual ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// For messages.
  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return identity_.size; }
  const Identity& identity() const noexcept { return identity_; }
  /// Where a byte is: in this, or in one of the files that this puts together.
  virtual BytePlace place(std::uint64_t offset) const { return {name_, offset}; }

  /// Bytes [offset, offset + n), valid as long as this, with the same alignment modulo 64 as in the
  /// source. REQUIRES that they are inside size(). Throws io.
  const std::byte* at(std::uint64_t offset, std::uint64_t n) const {
    const std::byte* base = base_.load(std::memory_order_acquire);
    return base != nullptr ? base + offset : keep(offset, n);
  }
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t n) const {
    return {at(offset, n), static_cast<std::size_t>(n)};
  }
  /// The same bytes for as long as the result, and this, live.
  HeldBytes hold(std::uint64_t offset, std::uint64_t n) const {
    const std::byte* base = base_.load(std::memory_order_acquire);
    if (base != nullptr) return {{base + offset, static_cast<std::size_t>(n)}, nullptr};
    return hold_anew(offset, n);
  }
  /// Copies bytes. REQUIRES that they are inside size(). Throws io.
  virtual void read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  /// A hint: all that will be needed next, in one call, so that it can be fetched at once. Never
  /// fails.
  virtual void will_need(std::span<const Range>) const noexcept {}
  void will_need(std::uint64_t offset, std::uint64_t n) const noexcept {
    const Range range{offset, offset + n};
    will_need({&range, 1});
  }
  /// False when all that will be needed is in memory, as far as is known: then `will_need` may be
  /// left out.
  virtual bool may_wait() const noexcept { return false; }
  /// A hint that much will be read, here and there: a file is mapped now. Throws io.
  virtual void expect_reads() const {}
  /// Maps a file and closes its descriptor, of which a process has few. Call it before this is
  /// shared. Throws io.
  virtual void map_and_close() { expect_reads(); }
  /// A hint that these bytes will be read in random order, a few at a time.
  virtual void expect_single_looks(std::uint64_t, std::uint64_t) const noexcept {}
  /// The same for all bytes, until it is said with false as often: what `will_need` did not name,
  /// or what left memory since, costs a page then and not megabytes. Any thread.
  virtual void expect_random(bool) const noexcept {}
  /// The same for good; it also turns `will_need` off.
  virtual void read_nothing_ahead() const noexcept {}
  /// Of how many files some may be read again before they are closed, where these are many: whoever
  /// reads several things of them all reads everything of some first. 0: they stay open.
  virtual std::uint64_t files_kept_open() const noexcept { return 0; }
  /// True when it is worth remembering what was compared: the first small reads of a file are not.
  virtual bool is_in_use() const noexcept { return is_mapped() || fetches(); }
  /// True once all bytes are in a map or in memory, at one address.
  bool is_mapped() const noexcept { return base_.load(std::memory_order_acquire) != nullptr; }

  /// True when `hold` has to fetch the bytes each time, so that they are worth keeping.
  virtual bool fetches() const noexcept { return false; }
  /// What the first bytes should be, as something else tells, where they would have to be fetched:
  /// they are compared with what is there when other bytes are fetched. Set before this is shared.
  virtual void presume(std::span<const std::byte>) {}
  /// These first bytes; empty when nothing is presumed.
  virtual std::span<const std::byte> presumed() const noexcept { return {}; }
  /// Fetches bytes straight to where they are wanted, for once: nothing is kept. REQUIRES requests
  /// that ascend. Does nothing, and returns false, where this is not the way to read much: from a
  /// map, or a cache of this machine. Throws io.
  virtual bool receive(std::span<const RangeRequest>) const { return false; }
  /// Bytes from `offset` on, as a copy elsewhere in this says: they are not fetched.
  virtual void take_copy(std::uint64_t /*offset*/, std::span<const std::byte>) const {}
  /// Tells this from every other source of the process, also from those that are gone.
  std::uint64_t number() const noexcept { return number_; }

  /// False for a file on a file system, such as tmpfs, where a write through a map moves no time:
  /// `identity` does not tell of it. A system call.
  virtual bool times_tell() const noexcept { return true; }
  /// What has this name followed by `ending`, for example ".dpx"; nullptr when there is none.
  virtual std::shared_ptr<ByteSource> sibling(std::string_view) const { return nullptr; }
  /// The same of what is far away, by a request, which `sibling` spares. Also nullptr for what the
  /// server does not let one see. Throws io.
  virtual std::shared_ptr<ByteSource> fetch_sibling(std::string_view) const { return nullptr; }
  /// True when this is in a folder, others of which `beside` opens.
  virtual bool has_folder() const noexcept { return has_path(); }
  /// What has this name in the folder of this, or with slashes in folders of that; nullptr when
  /// there is none. Opened as this was. `front`: how many of its first bytes will be needed at
  /// once; 0: what is at its end. Throws io.
  virtual std::shared_ptr<ByteSource> beside(const std::string&,
                                             std::uint64_t /*front*/ = 0) const {
    return nullptr;
  }
  /// From now on, `beside` looks in the folder that this is in, wherever that or the process goes.
  /// Throws io.
  virtual void keep_folder() const {}
  /// The names of the folders directly in a folder beside this, or ("") in its own, in order.
  /// Throws unsupported where nothing can be listed; io.
  virtual std::vector<std::string> folders_beside(const std::string& folder) const;
  /// True when `name` is the path of a file of this machine.
  virtual bool has_path() const noexcept { return false; }
  /// The file that this is; nullptr for anything else.
  virtual const LocalFile* local() const noexcept { return nullptr; }

  /// True for more than memory keeps: what was used may have to be read from storage again, so that
  /// `will_need` is worth its time each time. Set before this is shared.
  bool outgrows_memory() const noexcept { return outgrows_memory_; }
  void set_outgrows_memory(bool outgrows) noexcept { outgrows_memory_ = outgrows; }
  /// True when others may truncate or change the bytes, which is looked for: see `watched`.
  bool guarded() const noexcept { return guarded_; }
  /// Call before guarded bytes are read.
  virtual void prepare_thread() const noexcept {}
  /// False when the bytes are guarded and have been changed since they were opened, so that what
  /// was read may be wrong. One system call if they are guarded.
  virtual bool is_intact() const noexcept { return true; }
  /// The error, io, for bytes that are not intact; `reading` names what was being read.
  virtual Error changed(const std::string& reading) const;
  [[noreturn]] void fail_changed(const std::string& reading) const { throw changed(reading); }

  /// What is read of a source that may hold several objects, as it was asked for; "" otherwise. Set
  /// before this is shared.
  const std::string& chosen() const noexcept { return chosen_; }
  void set_chosen(std::string chosen) noexcept { chosen_ = std::move(chosen); }
  /// What the user should know of how this was opened; "": nothing. Set before this is shared.
  const std::string& note() const noexcept { return note_; }
  void set_note(std::string note) noexcept { note_ = std::move(note); }
  /// The name of what the user opened, where this was made from that. Set before this is shared.
  const std::string& known_as() const noexcept { return known_as_.empty() ? name_ : known_as_; }
  void set_known_as(std::string name) noexcept { known_as_ = std::move(name); }
  /// What the server that this is on calls this state of it; "" where it is on none. Set before
  /// this is shared.
  const std::string& version() const noexcept { return version_; }
  void set_version(std::string version) noexcept { version_ = std::move(version); }
  /// When hashes are to be looked at, here and in what is beside it. Set before this is shared.
  Check check() const noexcept { return check_; }
  void set_check(Check check) noexcept { check_ = check; }

 protected:
  ByteSource(std::string name, const Identity& identity, bool guarded = false);
  /// All bytes are at `base` from now on.
  void set_base(const std::byte* base) const noexcept {
    base_.store(base, std::memory_order_release);
  }

 private:
  /// `at` and `hold` before there is a base.
  virtual const std::byte* keep(std::uint64_t offset, std::uint64_t n) const = 0;
  virtual HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const = 0;

  mutable std::atomic<const std::byte*> base_{nullptr};
  std::string name_;
  std::string chosen_, note_, known_as_, version_;
  Identity identity_;
  std::uint64_t number_;
  Check check_{};
  bool guarded_, outgrows_memory_ = false;
};

/// What `watched_guarded` does last; apart, because there are many of that.
template <class Reading>
[[gnu::noinline]] void require_intact(const ByteSource& source, const Reading& reading) {
  if (!source.is_intact()) source.fail_changed(reading());
}
/// Implements `watched` below for a guarded source.
template <class F, class Reading>
[[gnu::noinline]] auto watched_guarded(const ByteSource& source, const F& f,
                                       const Reading& reading) {
  source.prepare_thread();
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      require_intact(source, reading);
    } else {
      auto result = f();
      require_intact(source, reading);
      return result;
    }
  } catch (const Error& error) {
    const bool blames_file = error.code() == Errc::io && error.file() == source.name();
    if (!blames_file) require_intact(source, reading);
    throw;
  }
}
/// Runs `f`, which reads the source. If that is no longer intact afterwards, throws io whatever `f`
/// returned or threw; `reading()` names what was being read.
template <class F, class Reading>
auto watched(const ByteSource& source, const F& f, const Reading& reading) {
  return source.guarded() ? watched_guarded(source, f, reading) : f();
}
template <class F>
auto watched(const ByteSource& source, const F& f) {
  std::string (*const reading)() = [] { return std::string("it"); };
  return watched(source, f, reading);
}

/// FILE.dpx is the sidecar index of FILE, and starts with this magic.
inline constexpr char kSidecarEnding[] = ".dpx";
inline constexpr char kSidecarMagic[9] = "DPL-SIDE";
/// What an index in a file ends in.
inline constexpr char kIndexEnd[9] = "DPL-TAIL";

/// FILE.dpc is the copy by column of FILE.
inline constexpr char kCopyEnding[] = ".dpc";

/// Throws io with the system's reason for `errno_value`: "cannot <action>: <reason>".
[[noreturn]] void throw_io(const std::string& file, std::string_view action, int errno_value);

/// A name up to its last slash; "" for one without.
inline std::string folder_prefix(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

}  // namespace dapple::detail
