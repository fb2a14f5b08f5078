#include "lib/dbdf/columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/codec/packed_words.h"
#include "lib/dbdf/columns_table.h"
#include "lib/object/dictionary.h"
#include "lib/object/groups.h"

namespace dapple::detail::dbdf {

namespace {

/// Reads the content. Every length is compared with what is left before it is used.
class Reader {
 public:
  /// Gives `lost` the errors of single columns and groups; without it they are thrown.
  Reader(const std::shared_ptr<const ByteSource>& file, std::uint64_t offset, std::uint64_t bytes,
         std::vector<Error>* lost = nullptr)
      : file_(file), offset_(offset), bytes_(bytes), lost_(lost) {}

  void read(std::vector<Column>& columns) {
    const std::uint32_t count = read_table();
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t at = kTableHead + k * kColumnRecord;
      is_group(at) ? save_group(at, columns) : save_meaning(at, columns);
    }
  }

  /// The group of a matrix of `cols` columns.
  std::shared_ptr<const ColumnGroup> read_group(std::uint64_t cols) {
    if (read_table() != 1 || !is_group(kTableHead)) {
      fail(table_at::count, "describes columns of a matrix");
    }
    auto group = group_at(kTableHead, 0, cols);
    if (group->size != cols) fail(kTableHead, "holds a group of some columns of a matrix");
    return group;
  }

 private:
  /// Returns the number of records, which are in the table.
  std::uint32_t read_table() {
    if (bytes_ < kTableHead) fail(0, "is cut off");
    const std::byte* head = file_->at(offset_, kTableHead);
    version_ = load_le<std::uint32_t>(head + table_at::version);
    if (std::memcmp(head + table_at::tag, kColumnsTag, 8) != 0 || version_ < kMeaningsVersion ||
        version_ > kPackedVersion) {
      fail(0, "has another tag or version");
    }
    const auto count = load_le<std::uint32_t>(head + table_at::count);
    const auto table = load_le<std::uint64_t>(head + table_at::table);
    const auto hash = load_le<std::uint64_t>(head + table_at::hash);
    if (table > bytes_ || table < kTableHead || (table - kTableHead) / kColumnRecord < count) {
      fail(table_at::table, "is larger than its block");
    }
    table_ = file_->bytes(offset_, table);
    if (table_hash(table_) != hash) fail(table_at::hash, "does not match its hash");
    return count;
  }

  bool is_group(std::uint64_t at) const {
    return version_ >= kGroupsVersion && table_[at + column_at::kind] == std::byte{kGroup};
  }

  /// The zone or name of a record.
  std::string text_of(std::uint64_t at, const char* outside) const {
    const std::byte* const p = table_.data() + at;
    const auto text = load_le<std::uint64_t>(p + column_at::zone);
    const auto bytes = load_le<std::uint32_t>(p + column_at::zone_bytes);
    if (text > table_.size() || bytes > table_.size() - text) fail(at + column_at::zone, outside);
    return {reinterpret_cast<const char*>(table_.data()) + text, bytes};
  }

  /// A group of columns from `column` on, of which there are `left`.
  std::shared_ptr<ColumnGroup> group_at(std::uint64_t at, std::uint64_t column,
                                        std::uint64_t left) {
    const std::byte* const p = table_.data() + at;
    const auto size = load_le<std::uint64_t>(p + column_at::slots);
    const auto names = load_le<std::uint64_t>(p + column_at::words);
    if (load_le<std::uint64_t>(p + column_at::column) != column || size == 0 || size > left) {
      fail(at, "names a group of columns that there are not");
    }
    if (load_le<std::uint32_t>(p + column_at::name_bytes) > kMostNameBytes) {
      fail(at + column_at::name_bytes, "holds too long a name of a group");
    }
    if (names != 0 && names != size) {
      fail(at + column_at::words, "holds another number of slot names than slots");
    }
    auto group = std::make_shared<ColumnGroup>();
    group->name = text_of(at, "holds the name of a group outside its bytes");
    group->size = size;
    if (names != 0) save_names(at, *group);
    return group;
  }

  void save_names(std::uint64_t at, ColumnGroup& group) {
    try {
      group.slot_names = words(at);
      read_words(group.slot_names.get());
    } catch (const Error& e) {
      group.slot_names = nullptr;
      lose(e, "group " + shown(group.name) + " loses the names of its slots");
    }
  }

  void take_group(std::uint64_t at, std::vector<Column>& columns) {
    const auto first = load_le<std::uint64_t>(table_.data() + at + column_at::column);
    const std::shared_ptr<const ColumnGroup> group =
        group_at(at, first, first < columns.size() ? columns.size() - first : 0);
    const std::span<Column> slots = std::span(columns).subspan(first, group->size);
    if (std::any_of(slots.begin(), slots.end(),
                    [](const Column& c) { return c.group != nullptr; })) {
      fail(at, "holds groups that share a column");
    }
    for (std::uint64_t slot = 0; slot < group->size; ++slot) {
      slots[slot].group = group;
      slots[slot].slot = slot;
    }
  }

  void save_group(std::uint64_t at, std::vector<Column>& columns) {
    try {
      take_group(at, columns);
    } catch (const Error& e) {
      lose(e, "a group of columns is lost");
    }
  }

  /// The mark of missing cells, if there are any.
  std::optional<std::uint64_t> missing_at(std::uint64_t at) const {
    const std::byte* const p = table_.data() + at;
    if ((p[column_at::flags] & std::byte{kMissing}) == std::byte{0}) return std::nullopt;
    return load_le<std::uint64_t>(p + column_at::missing);
  }

  void take_meaning(std::uint64_t at, std::vector<Column>& columns) {
    const std::byte* const p = table_.data() + at;
    const auto column = load_le<std::uint64_t>(p + column_at::column);
    const auto kind = static_cast<std::uint8_t>(p[column_at::kind]);
    const auto unit = static_cast<std::uint8_t>(p[column_at::unit]);
    if (column >= columns.size()) fail(at, "names a column that the frame does not have");
    if (kind > static_cast<std::uint8_t>(MeaningKind::text) ||
        unit > static_cast<std::uint8_t>(TimeUnit::nanosecond)) {
      fail(at + column_at::kind, "holds an unknown meaning or unit");
    }
    Meaning m;
    m.kind = static_cast<MeaningKind>(kind);
    m.unit = static_cast<TimeUnit>(unit);
    m.ordered = (table_[at + column_at::flags] & std::byte{kOrderedWords}) != std::byte{0};
    m.missing = missing_at(at);
    m.zone = text_of(at, "holds a time zone outside its bytes");
    if (m.has_words()) m.words = words(at);
    Column described = columns[column];
    described.meaning = std::move(m);
    if (!fits(described)) fail(at, "gives a column a meaning that its value type cannot hold");
    columns[column] = std::move(described);
  }

  void save_meaning(std::uint64_t at, std::vector<Column>& columns) {
    const auto col = load_le<std::uint64_t>(table_.data() + at + column_at::column);
    try {
      take_meaning(at, columns);
      const Meaning& meaning = columns[col].meaning;
      if (meaning.has_words()) read_words(meaning.words.get());
    } catch (const Error& e) {
      if (col >= columns.size()) throw;
      Meaning lost;
      lost.kind = static_cast<MeaningKind>(table_[at + column_at::kind]);
      lost.missing = missing_at(at);
      lose(e, "column " + shown(columns[col].label) + " loses its " +
                  (lost.has_words() ? "words and keeps their codes" : "meaning"));
      Meaning& number = columns[col].meaning = {};
      number.missing = mark_of(lost);
    }
  }

  /// Throws corrupt for damaged words, which are read where others may be saved. Those of many
  /// columns are read once.
  void read_words(const Dictionary* words) {
    if (lost_ == nullptr || sound_.count(words) != 0) return;
    for (std::uint64_t i = 0; i < words->size(); ++i) static_cast<void>((*words)[i]);
    sound_.insert(words);
  }

  /// In a handler of `e`, which it throws again unless there is a list of what is lost.
  void lose(const Error& e, const std::string& what) {
    if (lost_ == nullptr || e.code() == Errc::io) throw;
    lost_->emplace_back(e.code(), e.file(), e.offset(), what + ": " + e.detail());
  }

  /// The same dictionary for records of the same bytes.
  std::shared_ptr<const Dictionary> words(std::uint64_t at) {
    const std::byte* const p = table_.data() + at;
    const auto n = load_le<std::uint64_t>(p + column_at::words);
    const auto begin = load_le<std::uint64_t>(p + column_at::offsets);
    const auto bytes = load_le<std::uint64_t>(p + column_at::word_bytes);
    const auto hash = load_le<std::uint64_t>(p + column_at::hash);
    const std::uint64_t left = begin <= bytes_ ? bytes_ - begin : 0;
    if (version_ == kPackedVersion &&
        (p[column_at::flags] & std::byte{kPackedWords}) != std::byte{0}) {
      return packed_words(at, {begin, n, bytes, hash}, left);
    }
    if (n >= left / 8 || bytes > left - 8 * (n + 1)) {
      fail(at + column_at::words, "holds a dictionary outside its bytes");
    }
    auto& known = dictionaries_[{begin, n, bytes, hash}];
    if (known != nullptr) return known;
    const auto stored = [file = file_, first = offset_ + begin, offsets = 8 * (n + 1), size = bytes,
                         sum = hash] {
      const auto all = file->bytes(first, offsets + size);
      return stored_dictionary(file, all.first(offsets), all.subspan(offsets), sum, file->name(),
                               first);
    };
    known = file_->fetches() ? late_dictionary(n, file_->name(), stored) : stored();
    return known;
  }

  using Place = std::array<std::uint64_t, 4>;  // where it starts, words, their bytes, hash

  /// `left` is how much follows its start.
  std::shared_ptr<const Dictionary> packed_words(std::uint64_t at, const Place& place,
                                                 std::uint64_t left) {
    // A number of words that is not absurd, so that nothing below overflows.
    const std::uint64_t n = place[1], bytes = place[2];
    if (left < 8 || n / kMostWordRatio > left || bytes / kMostWordRatio > left ||
        (n * 4 + bytes) / kMostWordRatio > left) {
      fail(at + column_at::words, kOutside);
    }
    auto& known = dictionaries_[place];
    if (known != nullptr) return known;
    const auto frame = [file = file_, first = offset_ + place[0], most = left - 8,
                        least = (n * 4 + bytes) / kMostWordRatio,
                        blame = offset_ + at + column_at::words] {
      const auto size = load_le<std::uint64_t>(file->at(first, 8));
      if (size > most || size < least) fail_in(*file, blame, kOutside);
      return file->bytes(first + 8, size);
    };
    if (!file_->fetches()) frame();  // damage is an error of opening
    known = late_dictionary(n, file_->name(), [frame, file = file_, place, first = offset_] {
      const auto& [begin, words, size, hash] = place;
      const auto packed = frame();
      const std::size_t offsets = 8 * (words + 1);
      const auto memory = std::make_shared<Array<std::byte>>(offsets + size);
      const std::span<std::byte> all(memory->data(), memory->size());
      if (!unpack_words(packed, all.first(offsets), all.subspan(offsets))) {
        throw Error(Errc::corrupt, file->name(), first + begin + 8,
                    "the packed dictionary of a column is damaged");
      }
      return stored_dictionary(memory, all.first(offsets), all.subspan(offsets), hash, file->name(),
                               first + begin + 8);
    });
    return known;
  }

  static constexpr char kOutside[] = "holds a packed dictionary outside its bytes";

  [[noreturn]] void fail(std::uint64_t at, const char* what) const {
    fail_in(*file_, offset_ + at, what);
  }
  [[noreturn]] static void fail_in(const ByteSource& file, std::uint64_t byte, const char* what) {
    throw Error(Errc::corrupt, file.name(), byte,
                std::string("the table of column meanings ") + what);
  }

  const std::shared_ptr<const ByteSource>& file_;
  std::uint64_t offset_, bytes_;
  std::vector<Error>* lost_;
  std::span<const std::byte> table_;
  std::uint32_t version_ = kMeaningsVersion;
  std::map<Place, std::shared_ptr<const Dictionary>> dictionaries_;
  std::set<const Dictionary*> sound_;  // of which every word was read
};

void read_with(Reader reader, Schema& schema) {
  if (schema.kind == ObjectKind::frame) {
    reader.read(schema.columns);
  } else {
    schema.group = reader.read_group(schema.cols);
  }
}

}  // namespace

void read_columns(const std::shared_ptr<const ByteSource>& file, std::uint64_t offset,
                  std::uint64_t bytes, Schema& schema) {
  read_with(Reader(file, offset, bytes), schema);
}

void save_columns(const std::shared_ptr<const ByteSource>& file, std::uint64_t offset,
                  std::uint64_t bytes, Schema& schema, std::vector<Error>& lost) {
  try {
    read_with(Reader(file, offset, bytes, &lost), schema);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    const char* const frame = ", so every column is taken for one of numbers";
    const char* const matrix = ", so the names of the columns are lost";
    lost.emplace_back(e.code(), e.file(), e.offset(),
                      e.detail() + (schema.kind == ObjectKind::frame ? frame : matrix), e.option());
  }
}

std::vector<Error> words_not_utf8(const Schema& schema, const std::string& file) {
  std::vector<Error> found;
  std::set<const Dictionary*> seen;  // columns may share their words
  const auto look = [&](const Dictionary* words, const std::string& whose) {
    if (words == nullptr || !seen.insert(words).second) return;
    if (const auto bad = find_not_utf8(*words)) {
      found.push_back(not_utf8(file, whose, (*words)[*bad]));
    }
  };
  const auto look_at_names = [&](const ColumnGroup& group) {
    look(group.slot_names.get(), "group " + shown(group.name) + " holds the slot name ");
  };
  for (const Column& column : schema.columns) {
    const Meaning& meaning = column.meaning;
    if (meaning.has_words()) {
      look(meaning.words.get(), "column " + shown(column.label) + " holds the word ");
    }
    if (column.group != nullptr && column.slot == 0) look_at_names(*column.group);
  }
  if (schema.group != nullptr) look_at_names(*schema.group);
  return found;
}

void require_utf8(const Schema& schema, const std::string& file) {
  const std::vector<Error> found = words_not_utf8(schema, file);
  if (!found.empty()) throw found.front();
}

}  // namespace dapple::detail::dbdf
