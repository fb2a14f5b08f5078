// The bytes of a data set's blocks: its parts, opened when they are touched.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "lib/dataset/state.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dataset {

/// Opens a file of the folder by its name in it; nullptr when there is none. Throws io.
using OpenFile = std::function<std::shared_ptr<ByteSource>(const std::string&)>;

/// A part that was compared with what the state knows of it.
struct OpenPart {
  PartRecord record;
  std::shared_ptr<ByteSource> file;
};

/// Opens a part of the data set in `folder`. Throws io; corrupt, naming `state`, when it is not the
/// file that was committed.
std::shared_ptr<const OpenPart> open_part(const std::string& folder, const PartRecord& record,
                                          const std::string& state, const OpenFile& open);

/// The same in a folder of this machine, whose name ends in a slash.
std::shared_ptr<const OpenPart> open_local_part(const std::string& folder,
                                                const PartRecord& record);

/// All parts, one above the other: byte b of part p is p * 2^44 + b. Bytes that are held keep their
/// part open, and bytes that are kept for good (`at`) keep it open for good; of the others, those
/// used last stay open.
class PartFiles final : public ByteSource {
 public:
  explicit PartFiles(std::shared_ptr<const StateTables> tables);

  /// Opens it if it is not open. Throws io, corrupt.
  std::shared_ptr<const OpenPart> part(std::uint64_t number) const;

  /// Calls f with the part that has these bytes, all of which have to be inside. An object far away
  /// that was replaced by the same bytes has another tag: it is opened, and compared, anew.
  template <class F>
  auto with_part(std::uint64_t offset, std::uint64_t n, const F& f) const {
    try {
      return f(part_of(offset, n, false));
    } catch (const Error& e) {
      if (e.code() != Errc::io || !fetches() || !close(offset)) throw;
    }
    return f(part_of(offset, n, false));
  }

  BytePlace place(std::uint64_t offset) const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  bool receive(std::span<const RangeRequest> wanted) const override;
  void take_copy(std::uint64_t offset, std::span<const std::byte> bytes) const override;
  void will_need(std::span<const Range> ranges) const noexcept override;
  bool may_wait() const noexcept override;
  std::uint64_t files_kept_open() const noexcept override;
  bool is_in_use() const noexcept override { return true; }
  bool fetches() const noexcept override { return tables_->file().fetches(); }
  void expect_random(bool is) const noexcept override;
  void read_nothing_ahead() const noexcept override;
  void prepare_thread() const noexcept override { tables_->file().prepare_thread(); }
  bool is_intact() const noexcept override;
  Error changed(const std::string& reading) const override;

 private:
  struct Slot {
    std::shared_ptr<const OpenPart> part;
    std::list<std::uint64_t>::iterator turn;  // in turns_, unless it is pinned
    bool pinned = false;
  };
  std::shared_ptr<const OpenPart> part_of(std::uint64_t offset, std::uint64_t n, bool pin) const;
  void require_inside(const OpenPart& part, std::uint64_t offset, std::uint64_t n) const;
  void presume_header(ByteSource& file, const PartRecord& record) const;
  void use(Slot& slot, bool pin) const;
  void close_least_used() const;
  bool close(std::uint64_t offset) const;
  const std::byte* keep(std::uint64_t offset, std::uint64_t n) const override;
  HeldBytes hold_anew(std::uint64_t offset, std::uint64_t n) const override;

  std::shared_ptr<const StateTables> tables_;
  std::string folder_;
  mutable std::mutex mutex_;  // guards the following
  mutable std::unordered_map<std::uint64_t, Slot> slots_;
  mutable std::list<std::uint64_t> turns_;  // parts that may be closed, the one used last in front
  mutable std::uint64_t random_readers_ = 0;
  mutable bool reads_ahead_ = true;
};

}  // namespace dapple::detail::dataset
