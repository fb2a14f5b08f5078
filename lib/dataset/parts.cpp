#include "lib/dataset/parts.h"

#include <algorithm>
#include <cerrno>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/at_once.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/owned_bytes.h"

namespace dapple::detail::dataset {

namespace {

/// Parts that stay open though nobody uses them.
constexpr std::uint64_t kMostOpen = 512, kMostGuarded = 64;
constexpr int kLooks = 16;

constexpr std::uint64_t byte_in_part(std::uint64_t offset) { return offset & (kMostBytes - 1); }

}  // namespace

std::shared_ptr<const OpenPart> open_part(const std::string& folder, const PartRecord& record,
                                          const std::string& state, const OpenFile& open) {
  const std::string name = folder + part_name(record.id);
  std::shared_ptr<ByteSource> file;
  const auto try_to = [&](const auto& act) {
    try {
      act();
    } catch (const Error& e) {
      throw e.retold(e.file(), e.offset(), e.detail() + "; it is a part of the data set " + state);
    }
  };
  try_to([&] {
    file = open(part_name(record.id));
    if (file == nullptr) throw_io(name, "open", ENOENT);
    dbdf::presume_header(*file);
  });
  const auto fail = [&](std::uint64_t at, const std::string& what) {
    throw Error(Errc::corrupt, name, at,
                what + " since it became a part of the data set " + state +
                    "; write it as a new part and commit that");
  };
  if (file->size() != record.bytes) fail(0, "the size of the file was changed");
  if (record.bytes < dbdf::kLine || record.body > record.bytes ||
      xxh3(file->bytes(0, record.body)) != record.header_hash) {
    fail(0, "the header of the file was changed");
  }
  const std::uint64_t trailer = record.bytes - dbdf::kLine;
  if (xxh3(file->bytes(trailer, dbdf::kLine)) != record.trailer_hash) {
    fail(trailer, "the index of the file was changed");
  }
  // Only now: a first look at bytes of a map may make the system read megabytes around them.
  try_to([&] { file->map_and_close(); });
  return std::make_shared<OpenPart>(OpenPart{record, std::move(file)});
}

std::shared_ptr<const OpenPart> open_local_part(const std::string& folder,
                                                const PartRecord& record) {
  return open_part(folder, record, folder,
                   [&](const std::string& file) { return LocalFile::open(folder + file); });
}

PartFiles::PartFiles(std::shared_ptr<const StateTables> tables)
    : ByteSource(tables->file().name(), {~std::uint64_t{0}, 0, 0}, tables->file().guarded()),
      tables_(std::move(tables)),
      folder_(folder_prefix(name())) {
  tables_->file().keep_folder();  // parts are opened as they are touched
}

std::uint64_t PartFiles::files_kept_open() const noexcept {
  return guarded() ? kMostGuarded : kMostOpen;
}

std::shared_ptr<const OpenPart> PartFiles::part(std::uint64_t number) const {
  return part_of(number << kOffsetBits, 0, false);
}

std::shared_ptr<const OpenPart> PartFiles::part_of(std::uint64_t offset, std::uint64_t n,
                                                   bool pin) const {
  const std::uint64_t number = offset >> kOffsetBits;
  std::shared_ptr<const OpenPart> part;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = slots_.find(number); found != slots_.end()) {
      use(found->second, pin);
      part = found->second.part;
    }
  }
  if (part == nullptr) {
    const PartRecord record = tables_->part(number);
    auto opened = open_part(folder_, record, name(), [&](const std::string& file) {
      auto found = tables_->file().beside(file);
      if (found != nullptr && found->fetches()) presume_header(*found, record);
      return found;
    });
    const std::lock_guard lock(mutex_);
    if (!reads_ahead_) opened->file->read_nothing_ahead();
    if (random_readers_ > 0) opened->file->expect_random(true);
    std::list<std::uint64_t> turn = {number};
    Slot& slot = slots_[number];  // perhaps another thread was faster
    if (slot.part == nullptr) {
      slot.turn = turn.begin();
      turns_.splice(turns_.begin(), turn);
      slot.part = std::move(opened);
    }
    use(slot, pin);
    part = slot.part;
    close_least_used();
  }
  require_inside(*part, offset, n);
  return part;
}

void PartFiles::require_inside(const OpenPart& part, std::uint64_t offset, std::uint64_t n) const {
  const std::uint64_t at = byte_in_part(offset), size = part.file->size();
  if (at <= size && n <= size - at) return;
  throw Error(Errc::corrupt, part.file->name(), at,
              "the data set " + name() + " has " + std::to_string(n) +
                  " bytes there, which are not all inside the file (R4)");
}

/// The header of a part is mostly that of the whole, but for its extent: then the end is all that
/// is fetched to open it.
void PartFiles::presume_header(ByteSource& file, const PartRecord& record) const {
  std::uint64_t body = 0;
  Schema schema = dbdf::read_header(*memory_source(tables_->header(), name()), body);
  schema.rows = record.cells.rows.size();
  schema.cols = record.cells.cols.size();
  const auto header = dbdf::emit_header(schema);
  if (header.size() == record.body && xxh3(header) == record.header_hash) file.presume(header);
}

/// Notes that a part is used now, and perhaps for good.
void PartFiles::use(Slot& slot, bool pin) const {
  if (slot.pinned) return;
  if (pin) {
    turns_.erase(slot.turn);
    slot.pinned = true;
  } else {
    turns_.splice(turns_.begin(), turns_, slot.turn);
  }
}

/// Closes the parts that were not used for the longest time and that nobody holds, if there are too
/// many. It looks at a few each time, so that opening a part costs the same where thousands are
/// held.
void PartFiles::close_least_used() const {
  for (int looks = 0; looks < kLooks; ++looks) {
    if (turns_.size() <= files_kept_open()) return;
    const auto oldest = slots_.find(turns_.back());
    if (oldest->second.part.use_count() > 1) {
      use(oldest->second, false);
    } else {
      turns_.pop_back();
      slots_.erase(oldest);
    }
  }
}

BytePlace PartFiles::place(std::uint64_t offset) const {
  const std::uint64_t number = offset >> kOffsetBits;
  if (number >= tables_->head().parts) return {name(), byte_in_part(offset)};
  return {folder_ + part_name(tables_->part(number).id), byte_in_part(offset)};
}

const std::byte* PartFiles::keep(std::uint64_t offset, std::uint64_t n) const {
  return part_of(offset, n, true)->file->at(byte_in_part(offset), n);
}

/// Closes the part that has this byte, unless some of it are kept. Whoever holds others keeps it.
bool PartFiles::close(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(offset >> kOffsetBits);
  if (slot == slots_.end() || slot->second.pinned) return false;
  turns_.erase(slot->second.turn);
  slots_.erase(slot);
  return true;
}

HeldBytes PartFiles::hold_anew(std::uint64_t offset, std::uint64_t n) const {
  return with_part(offset, n, [&](const std::shared_ptr<const OpenPart>& part) {
    return hold_owned(*part->file, part, byte_in_part(offset), n);
  });
}

void PartFiles::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  part_of(offset, out.size(), false)->file->read_at(byte_in_part(offset), out);
}

/// Many parts are opened and asked at once.
bool PartFiles::receive(std::span<const RangeRequest> wanted) const {
  if (!tables_->file().receive({})) return false;
  std::vector<std::vector<RangeRequest>> of_parts;
  for (const RangeRequest& request : wanted) {
    const std::uint64_t number = request.offset >> kOffsetBits;
    if (of_parts.empty() || of_parts.back().front().offset >> kOffsetBits != number) {
      of_parts.emplace_back();
    }
    of_parts.back().push_back(request);
  }
  at_once(of_parts.size(), [&](std::uint64_t i) {
    with_part(of_parts[i].front().offset, 0, [&](const std::shared_ptr<const OpenPart>& part) {
      std::vector<RangeRequest> inside = of_parts[i];
      for (RangeRequest& request : inside) {
        require_inside(*part, request.offset, request.to.size());
        request.offset = byte_in_part(request.offset);
      }
      if (part->file->receive(inside)) return;
      for (const auto& [at, to] : inside) part->file->read_at(at, to);
    });
  });
  return true;
}

void PartFiles::take_copy(std::uint64_t offset, std::span<const std::byte> bytes) const {
  part_of(offset, bytes.size(), false)->file->take_copy(byte_in_part(offset), bytes);
}

/// Of parts far away, many are opened and asked at once.
void PartFiles::will_need(std::span<const Range> ranges) const noexcept {
  try {
    std::map<std::uint64_t, std::vector<Range>> wanted;  // by part
    for (const Range& range : ranges) {
      const std::uint64_t begin = byte_in_part(range.begin);
      wanted[range.begin >> kOffsetBits].push_back({begin, begin + range.size()});
    }
    const std::vector<std::pair<std::uint64_t, std::vector<Range>>> of_parts(wanted.begin(),
                                                                             wanted.end());
    const auto ask = [&](std::uint64_t i) {
      const auto& [number, of_part] = of_parts[i];
      try {
        const auto part = this->part(number);
        const bool inside = std::all_of(of_part.begin(), of_part.end(), [&](const Range& range) {
          return range.end <= part->file->size();
        });
        if (inside) part->file->will_need(of_part);
      } catch (...) {  // whoever needs the bytes gets the error
      }
    };
    if (fetches()) return at_once(of_parts.size(), ask);
    for (std::uint64_t i = 0; i < of_parts.size(); ++i) ask(i);
  } catch (...) {  // no memory
  }
}

/// Nothing is known of parts that are not open. Where some are, they speak for the others.
bool PartFiles::may_wait() const noexcept {
  if (fetches()) return true;
  const std::lock_guard lock(mutex_);
  return slots_.empty() || std::any_of(slots_.begin(), slots_.end(), [](const auto& slot) {
           return slot.second.part->file->may_wait();
         });
}

void PartFiles::expect_random(bool is) const noexcept {
  const std::lock_guard lock(mutex_);
  random_readers_ += is ? 1 : ~std::uint64_t{0};
  if (random_readers_ != (is ? 1 : 0)) return;
  for (const auto& [number, slot] : slots_) slot.part->file->expect_random(is);
}

void PartFiles::read_nothing_ahead() const noexcept {
  const std::lock_guard lock(mutex_);
  reads_ahead_ = false;
  for (const auto& [number, slot] : slots_) slot.part->file->read_nothing_ahead();
}

bool PartFiles::is_intact() const noexcept {
  if (!guarded()) return true;
  const std::lock_guard lock(mutex_);
  return tables_->file().is_intact() &&
         std::all_of(slots_.begin(), slots_.end(),
                     [](const auto& slot) { return slot.second.part->file->is_intact(); });
}

Error PartFiles::changed(const std::string& reading) const {
  std::shared_ptr<const OpenPart> part;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, slot] : slots_) {
      if (!slot.part->file->is_intact()) part = slot.part;
    }
  }
  return part != nullptr ? part->file->changed(reading) : tables_->file().changed(reading);
}

}  // namespace dapple::detail::dataset
