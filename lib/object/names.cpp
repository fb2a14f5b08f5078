#include "lib/object/names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "dapple/array.h"
#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/io/hash.h"
#include "lib/io/memory/memory_source.h"

namespace dapple::detail {

namespace {

namespace names_at {
constexpr std::uint64_t count = 16, text = 24, slots = 32, repeats = 40, width = 48, head = 64;
}
constexpr std::uint64_t kNameSlot = 8;  // number + 1, then the tag
constexpr std::uint64_t kMostNames = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t kLongestName = 65535;
/// In a slot: other rows or columns have the same name.
constexpr std::uint32_t kRepeated = std::uint32_t{1} << 31;

std::uint64_t name_hash(std::string_view name) noexcept {
  return xxh3(std::as_bytes(std::span(name.data(), name.size())));
}
/// The highest 31 bits; the place in the table is made of the lowest.
std::uint32_t name_tag(std::uint64_t hash) noexcept {
  return static_cast<std::uint32_t>(hash >> 33);
}
/// At least a quarter of the table is free.
std::uint64_t slots_for(std::uint64_t names) noexcept {
  return std::bit_ceil(names + names / 3 + 1);
}

/// Fills a table that is all zeros.
class SlotFiller {
 public:
  SlotFiller(std::span<std::byte> table, std::string_view text,
             std::span<const std::uint64_t> ends) noexcept
      : table_(table), mask_(table.size() / kNameSlot - 1), text_(text), ends_(ends) {}

  /// Returns how many names others before them have. A look at a large table is a cache miss, so
  /// those of many names are under way at once.
  std::uint64_t run() {
    constexpr std::uint64_t kAtOnce = 64;
    std::array<std::uint64_t, kAtOnce> hashes;
    std::uint64_t repeats = 0;
    for (std::uint64_t first = 0; first < ends_.size(); first += kAtOnce) {
      const std::uint64_t n = std::min<std::uint64_t>(kAtOnce, ends_.size() - first);
      for (std::uint64_t k = 0; k < n; ++k) {
        hashes[k] = name_hash(name(first + k));
        __builtin_prefetch(slot(hashes[k] & mask_), 1);
      }
      for (std::uint64_t k = 0; k < n; ++k) repeats += insert(first + k, hashes[k]) ? 0 : 1;
    }
    return repeats;
  }

 private:
  std::string_view name(std::uint64_t i) const noexcept {
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return text_.substr(begin, ends_[i] - begin);
  }
  std::byte* slot(std::uint64_t i) const noexcept { return table_.data() + i * kNameSlot; }

  /// False when an earlier one has the name.
  bool insert(std::uint64_t i, std::uint64_t hash) const noexcept {
    const std::string_view own = name(i);
    if (own.empty()) return true;
    const std::uint32_t tag = name_tag(hash);
    for (std::uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      std::byte* const p = slot(at);
      const auto taken = load_le<std::uint32_t>(p), other = load_le<std::uint32_t>(p + 4);
      if (taken == 0) {
        store_le(p, static_cast<std::uint32_t>(i + 1));
        store_le(p + 4, tag);
        return true;
      }
      if ((other & ~kRepeated) != tag || name(taken - 1) != own) continue;
      store_le(p + 4, tag | kRepeated);
      return false;
    }
  }

  std::span<std::byte> table_;
  std::uint64_t mask_;
  std::string_view text_;
  std::span<const std::uint64_t> ends_;
};

template <class Offset>
void put_offsets(std::byte* out, std::span<const std::uint64_t> ends) {
  store_le(out, Offset{0});
  for (const std::uint64_t end : ends) store_le(out += sizeof(Offset), static_cast<Offset>(end));
}

}  // namespace

NameTable::NameTable(std::shared_ptr<const ByteSource> source, Range at,
                     std::optional<std::uint64_t> hash)
    : source_(std::move(source)), at_(at), hash_(hash), whole_(!hash) {
  std::uint64_t left = at.size();
  if (left < names_at::head) fail("are cut off");
  const std::byte* const p = source_->at(at.begin, names_at::head);
  count_ = load_le<std::uint64_t>(p + names_at::count);
  text_bytes_ = load_le<std::uint64_t>(p + names_at::text);
  slots_ = load_le<std::uint64_t>(p + names_at::slots);
  repeats_ = load_le<std::uint64_t>(p + names_at::repeats);
  width_ = load_le<std::uint64_t>(p + names_at::width);
  left -= names_at::head;
  // The bounds keep the products below from overflowing.
  if (count_ > kMostNames || slots_ > 4 * kMostNames || !std::has_single_bit(slots_) ||
      (width_ != 4 && width_ != 8) || repeats_ > count_) {
    fail("have a head that makes no sense");
  }
  const std::uint64_t offsets = (count_ + 1) * width_, table = slots_ * kNameSlot;
  if (offsets > left || table > left - offsets || text_bytes_ != left - offsets - table) {
    fail("do not fit the bytes that they take");
  }
  offsets_ = at.begin + names_at::head;
  table_ = offsets_ + offsets;
  text_ = table_ + table;
}

void NameTable::fail(const char* what) const {
  throw Error(
      Errc::corrupt, source_->name(), at_.begin,
      std::string("the names of rows or columns ") + what + "; repair the file to get rid of them");
}

std::string_view NameTable::name(std::uint64_t i) const {
  const std::byte* const p = source_->at(offsets_ + i * width_, 2 * width_);
  const bool narrow = width_ == 4;
  const std::uint64_t begin = narrow ? load_le<std::uint32_t>(p) : load_le<std::uint64_t>(p);
  const std::uint64_t end = narrow ? load_le<std::uint32_t>(p + 4) : load_le<std::uint64_t>(p + 8);
  if (begin > end || end > text_bytes_) fail("have one outside their bytes");
  if (begin == end) return {};
  return {reinterpret_cast<const char*>(source_->at(text_ + begin, end - begin)), end - begin};
}

std::string_view NameTable::operator[](std::uint64_t i) const {
  if (i >= count_) {
    throw Error(Errc::out_of_range, source_->name(), std::nullopt,
                "name " + std::to_string(i) + " of " + std::to_string(count_));
  }
  return watched(*source_, [&] { return name(i); });
}

std::optional<NameTable::Found> NameTable::look_up(std::string_view wanted) const {
  const std::uint64_t hash = name_hash(wanted), mask = slots_ - 1;
  for (std::uint64_t tried = 0; tried < slots_; ++tried) {
    const std::byte* const p = source_->at(table_ + ((hash + tried) & mask) * kNameSlot, kNameSlot);
    const auto taken = load_le<std::uint32_t>(p), tag = load_le<std::uint32_t>(p + 4);
    if (taken == 0) break;
    if ((tag & ~kRepeated) != name_tag(hash)) continue;
    if (taken > count_) fail("have one that is not there in their table");
    if (name(taken - 1) == wanted) return Found{taken - 1, (tag & kRepeated) != 0, tried};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> NameTable::find(std::string_view wanted) const {
  if (wanted.empty()) return std::nullopt;
  const auto found = watched(*source_, [&] {
    auto one = look_up(wanted);
    if (!one && !source_->fetches()) require_whole();  // damage must not hide a name
    return one;
  });
  if (!found) return std::nullopt;
  if (found->repeated) {
    throw Error(Errc::invalid_argument, source_->name(), std::nullopt,
                "the name " + shown(wanted) + " is there more than once, first at " +
                    std::to_string(found->number) + "; use numbers instead");
  }
  return found->number;
}

void NameTable::require_whole() const {
  if (whole_.load(std::memory_order_relaxed)) return;
  if (xxh3(source_->bytes(at_.begin, at_.size())) != *hash_) fail("do not match their hash");
  whole_.store(true, std::memory_order_relaxed);
}

std::span<const std::byte> NameTable::packed() const {
  return watched(*source_, [&] {
    require_whole();
    return source_->bytes(at_.begin, at_.size());
  });
}

void NameTable::verify() const {
  watched(*source_, [&] {
    constexpr std::uint64_t kMostTried = 16;  // of each on average; the writer's table needs 3
    std::uint64_t named = 0, taken = 0, repeats = 0, tried = 0;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::string_view own = name(i);
      if (!is_utf8(own)) fail("have one that is not UTF-8");
      if (own.empty()) continue;
      ++named;
      const auto found = look_up(own);
      if (!found || found->number > i || (found->number < i && !found->repeated)) {
        fail("have one that their table does not have");
      }
      repeats += found->number < i ? 1 : 0;
      tried += found->tried;
      if (tried > kMostTried * slots_) fail("have a table that takes too long to search");
    }
    for (std::uint64_t slot = 0; slot < slots_; ++slot) {
      taken += load_le<std::uint32_t>(source_->at(table_ + slot * kNameSlot, 4)) != 0 ? 1 : 0;
    }
    if (repeats != repeats_ || taken != named - repeats) fail("have another number in their table");
  });
}

std::vector<std::byte> pack_names(const Names& names) {
  if (const auto* const table = dynamic_cast<const NameTable*>(&names)) {
    const auto bytes = table->packed();
    return {bytes.begin(), bytes.end()};
  }
  NamesBuilder builder;
  for (std::uint64_t i = 0; i < names.size(); ++i) builder.add(names[i]);
  return pack_names(*builder.finish());
}

bool same_names(const Names& a, const Names& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

ReadNames read_once(ReadNames read) {
  if (!read) return {};
  struct Once {
    std::mutex mutex;
    ReadNames read;
    std::shared_ptr<const Names> names;
  };
  auto once = std::make_shared<Once>();
  once->read = std::move(read);
  return [once] {
    const std::lock_guard lock(once->mutex);
    if (once->read) {
      once->names = once->read();
      once->read = nullptr;
    }
    return once->names;
  };
}

namespace {

/// The names that `each` adds, unless `read` gives none.
template <class Each>
ReadNames built_names(ReadNames read, Each each) {
  if (!read) return {};
  return read_once([read = std::move(read), each = std::move(each)] {
    const std::shared_ptr<const Names> names = read();
    if (names == nullptr) return names;
    NamesBuilder builder;
    each(*names, builder);
    return builder.finish();
  });
}

}  // namespace

ReadNames pick_names(ReadNames read, Range range) {
  return built_names(std::move(read), [range](const Names& names, NamesBuilder& builder) {
    for (std::uint64_t i = range.begin; i < range.end; ++i) builder.add(names[i]);
  });
}

ReadNames pick_names(ReadNames read, std::vector<std::uint64_t> numbers) {
  return built_names(std::move(read),
                     [numbers = std::move(numbers)](const Names& names, NamesBuilder& builder) {
                       for (const std::uint64_t i : numbers) builder.add(names[i]);
                     });
}

ReadNames join_names(std::vector<NamedPart> parts) {
  const auto named = [](const NamedPart& part) { return static_cast<bool>(part.names); };
  if (std::none_of(parts.begin(), parts.end(), named)) return {};
  return read_once([parts = std::move(parts)]() -> std::shared_ptr<const Names> {
    std::vector<std::shared_ptr<const Names>> lists;
    for (const NamedPart& part : parts) lists.push_back(part.names ? part.names() : nullptr);
    const auto there = [](const auto& list) { return list != nullptr; };
    if (std::none_of(lists.begin(), lists.end(), there)) return nullptr;
    NamesBuilder builder;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (std::uint64_t i = 0; i < parts[k].size; ++i) {
        builder.add(lists[k] != nullptr ? (*lists[k])[i] : std::string_view());
      }
    }
    return builder.finish();
  });
}

ReadNames names_of_slots(std::shared_ptr<const ColumnGroup> group) {
  if (group == nullptr || group->slot_names == nullptr) return {};
  return read_once([group = std::move(group)] {
    NamesBuilder builder;
    for (std::uint64_t slot = 0; slot < group->size; ++slot) builder.add(group->slot_name(slot));
    return builder.finish();
  });
}

ReadNames names_or(ReadNames first, ReadNames second) {
  if (!first || !second) return first ? std::move(first) : std::move(second);
  return [first = std::move(first), second = std::move(second)] {
    const auto names = first();
    return names != nullptr ? names : second();
  };
}

}  // namespace dapple::detail

namespace dapple {

void NamesBuilder::add(std::string_view name) {
  if (name.size() > detail::kLongestName) {
    throw Error(Errc::invalid_argument,
                "a name has at most 65535 bytes, but one has " + std::to_string(name.size()));
  }
  if (!detail::is_ascii(name) && !detail::is_utf8(name)) {
    throw Error(Errc::invalid_argument, "the name " + detail::shown(name) + " is not UTF-8");
  }
  if (ends_.size() == detail::kMostNames) {
    throw Error(Errc::unsupported, "no more than 4294967294 rows or columns have names");
  }
  ends_.push_back(text_.size() + name.size());
  try {
    text_.append(name);
  } catch (const std::bad_alloc&) {
    ends_.pop_back();
    throw;
  }
}

std::shared_ptr<const Names> NamesBuilder::finish() {
  namespace at = detail::names_at;
  const bool narrow = text_.size() <= std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t width = narrow ? 4 : 8, slots = detail::slots_for(ends_.size());
  const std::uint64_t offsets = (ends_.size() + 1) * width, table = slots * detail::kNameSlot;
  auto bytes = std::make_shared<Array<std::byte>>(at::head + offsets + table + text_.size());
  std::byte* const p = bytes->data();
  std::fill_n(p, at::head, std::byte{0});
  std::fill_n(p + at::head + offsets, table, std::byte{0});
  if (narrow) {
    detail::put_offsets<std::uint32_t>(p + at::head, ends_);
  } else {
    detail::put_offsets<std::uint64_t>(p + at::head, ends_);
  }
  std::memcpy(p + at::head + offsets + table, text_.data(), text_.size());
  const std::uint64_t repeats =
      detail::SlotFiller({p + at::head + offsets, table}, text_, ends_).run();
  detail::store_le(p + at::count, std::uint64_t{ends_.size()});
  detail::store_le(p + at::text, std::uint64_t{text_.size()});
  detail::store_le(p + at::slots, slots);
  detail::store_le(p + at::repeats, repeats);
  detail::store_le(p + at::width, width);
  text_ = {};
  ends_ = {};
  const Range all{0, bytes->size()};
  return std::make_shared<detail::NameTable>(
      detail::memory_source({bytes->data(), bytes->size()}, "names", bytes), all, std::nullopt);
}

}  // namespace dapple
