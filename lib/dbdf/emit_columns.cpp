#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/codec/packed_words.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/columns_table.h"
#include "lib/object/dictionary.h"
#include "lib/object/groups.h"

namespace dapple::detail::dbdf {

namespace {

/// Whether the mark of missing cells, if there is one, is a value of the column's type.
bool has_mark(const Column& column) noexcept {
  const std::size_t bits = 8 * size_of(column.value_type);
  return bits == 64 || column.meaning.missing.value_or(0) >> bits == 0;
}

}  // namespace

bool fits(const Column& column) {
  if (!has_mark(column) || column.meaning.unit > TimeUnit::nanosecond) return false;
  switch (column.meaning.kind) {
    case MeaningKind::number:
      return true;
    case MeaningKind::boolean:
      return column.value_type == ValueType::u8;
    case MeaningKind::timestamp:
    case MeaningKind::duration:
      return column.value_type == ValueType::i64;
    case MeaningKind::category:
    case MeaningKind::text:
      return !is_signed(column.value_type) && column.meaning.words != nullptr &&
             size_of(column.value_type) >= size_of(code_type(column.meaning.words->size()));
  }
  return false;
}

void require_fit(const Column& column, const std::string& file) {
  if (fits(column)) return;
  const Meaning& meaning = column.meaning;
  if (!has_mark(column)) {
    throw Error(Errc::invalid_argument, file, std::nullopt,
                "column " + shown(column.label) + " is of " + std::string(name(column.value_type)) +
                    ", and its mark of missing cells has bits beyond the lowest " +
                    std::to_string(8 * size_of(column.value_type)) +
                    ": no cell can be equal to it");
  }
  if (meaning.unit > TimeUnit::nanosecond) {
    throw Error(Errc::invalid_argument, file, std::nullopt,
                "column " + shown(column.label) + ": there is no unit of ticks " +
                    std::to_string(static_cast<unsigned>(meaning.unit)) +
                    "; they are 0, days, to 4, nanoseconds");
  }
  const std::string what =
      "column " + shown(column.label) + " is a " + std::string(name(meaning.kind));
  if (meaning.has_words() && meaning.words == nullptr) {
    throw Error(Errc::invalid_argument, file, std::nullopt,
                what + " without a dictionary of its words");
  }
  throw Error(Errc::invalid_argument, file, std::nullopt,
              what + " and cannot be stored as " + std::string(name(column.value_type)));
}

namespace {

void append(std::vector<std::byte>& out, std::string_view text) {
  append_bytes(out, std::as_bytes(std::span(text)));
}

void pad(std::vector<std::byte>& out) { out.resize(round_up(out.size(), 8)); }

/// Replaces what `out` has from `begin` on, the offsets and then the words, with the same packed,
/// and flags the record. False, and nothing has changed, where that is no smaller.
bool pack_last(std::vector<std::byte>& out, std::uint64_t begin, std::span<const std::byte> offsets,
               std::span<const std::byte> words, std::byte* record) {
  const std::vector<std::byte> frame = pack_words(offsets, words);
  if (frame.empty()) return false;
  record[column_at::flags] |= std::byte{kPackedWords};
  out.resize(begin);
  append_le(out, static_cast<std::uint64_t>(frame.size()));
  out.insert(out.end(), frame.begin(), frame.end());
  pad(out);
  return true;
}

[[noreturn]] void fail_changed() {
  throw Error(Errc::io, "the words of a dictionary changed while they were written");
}

/// What is written of a dictionary, which may get more words meanwhile.
struct Words {
  std::uint64_t count = 0, bytes = 0;

  std::uint64_t offset_bytes() const noexcept { return 8 * (count + 1); }
  std::uint64_t room() const noexcept { return round_up(offset_bytes() + bytes, 8); }
};

Words words_in(const Dictionary& dictionary) {
  Words words{dictionary.size()};
  for (std::uint64_t i = 0; i < words.count; ++i) words.bytes += dictionary[i].size();
  return words;
}

/// Appends the offsets and bytes of the words, and completes the column's record. True if they are
/// packed.
bool append_words(const Dictionary& dictionary, const Words& words, WordsAs as,
                  std::vector<std::byte>& out, std::uint64_t record) {
  const std::uint64_t begin = out.size(), head = words.offset_bytes();
  out.resize(begin + words.room());
  const std::span<std::byte> offsets = std::span(out).subspan(begin, head);
  const std::span<std::byte> bytes = std::span(out).subspan(begin + head, words.bytes);
  std::uint64_t end = 0;
  store_le(offsets.data(), end);
  for (std::uint64_t i = 0; i < words.count; ++i) {
    const std::string_view word = dictionary[i];
    if (word.size() > words.bytes - end) fail_changed();
    std::copy_n(std::as_bytes(std::span(word)).data(), word.size(), bytes.data() + end);
    end += word.size();
    store_le(offsets.data() + 8 * (i + 1), end);
  }
  if (end != words.bytes) fail_changed();
  std::byte* const p = out.data() + record;
  store_le(p + column_at::words, words.count);
  store_le(p + column_at::offsets, begin);
  store_le(p + column_at::word_bytes, words.bytes);
  store_le(p + column_at::hash, dictionary_hash(offsets, bytes));
  return as == WordsAs::packed && pack_last(out, begin, offsets, bytes, p);
}

/// Collects records, then the bytes that they point to.
class Emitter {
 public:
  void add(std::uint64_t col, const Meaning& meaning) {
    records_.push_back({col, &meaning, nullptr, meaning.has_words() ? meaning.words.get() : nullptr,
                        meaning.zone});
  }

  void add(std::uint64_t col, const ColumnGroup& group) {
    const Dictionary* const names = group.slot_names.get();
    if (group.name.size() > kMostNameBytes) {
      throw Error(Errc::invalid_argument, "the name of a group has more than 65535 bytes");
    }
    if (names != nullptr && names->size() != group.size) {
      throw Error(Errc::invalid_argument, "group \"" + group.name + "\" has " +
                                              counted(group.size, "slot") + " and " +
                                              std::to_string(names->size()) + " slot names");
    }
    records_.push_back({col, nullptr, &group, names, group.name});
  }

  std::vector<std::byte> emit(WordsAs as) {
    if (records_.empty()) return {};
    std::vector<std::byte> out(kTableHead + kColumnRecord * records_.size());
    std::memcpy(out.data() + table_at::tag, kColumnsTag, 8);
    const bool groups = records_.back().group != nullptr;
    store_le(out.data() + table_at::version, groups ? kGroupsVersion : kMeaningsVersion);
    store_le(out.data() + table_at::count, static_cast<std::uint32_t>(records_.size()));
    for (std::size_t k = 0; k < records_.size(); ++k) put(records_[k], k, out);
    pad(out);
    const std::uint64_t table = out.size();
    append_dictionaries(as, out);
    store_le(out.data() + table_at::table, table);
    store_le(out.data() + table_at::hash, table_hash(std::span(out).first(table)));
    return out;
  }

 private:
  /// Appends each dictionary once, in memory taken at once: words may be most of a file.
  void append_dictionaries(WordsAs as, std::vector<std::byte>& out) const {
    std::map<const Dictionary*, Words> sizes;
    std::map<const Dictionary*, std::uint64_t> written;  // record of the first that has it
    std::uint64_t room = out.size();
    for (const Record& record : records_) {
      const Dictionary* const words = record.words;
      if (words == nullptr || sizes.contains(words)) continue;
      room += sizes.emplace(words, words_in(*words)).first->second.room();
    }
    out.reserve(room);
    for (std::size_t k = 0; k < records_.size(); ++k) {
      const Dictionary* const words = records_[k].words;
      if (words == nullptr) continue;
      const std::uint64_t record = kTableHead + k * kColumnRecord;
      const auto [same, is_new] = written.emplace(words, record);
      if (is_new) {
        if (append_words(*words, sizes[words], as, out, record)) {
          store_le(out.data() + table_at::version, kPackedVersion);
        }
      } else {
        out[record + column_at::flags] |=
            out[same->second + column_at::flags] & std::byte{kPackedWords};
        std::memcpy(out.data() + record + column_at::words,
                    out.data() + same->second + column_at::words,
                    column_at::zone - column_at::words);
      }
    }
  }

  struct Record {
    std::uint64_t col;
    const Meaning* meaning;
    const ColumnGroup* group;  // of a group instead
    const Dictionary* words;   // null: none
    std::string_view text;     // its zone or name
  };

  static void put(const Record& record, std::size_t k, std::vector<std::byte>& out) {
    const std::uint64_t text = out.size();
    append(out, record.text);
    std::byte* const p = out.data() + kTableHead + k * kColumnRecord;
    store_le(p + column_at::column, record.col);
    store_le(p + column_at::zone_bytes, static_cast<std::uint32_t>(record.text.size()));
    store_le(p + column_at::zone, text);
    if (record.group != nullptr) {
      p[column_at::kind] = std::byte{kGroup};
      store_le(p + column_at::slots, record.group->size);
      return;
    }
    const Meaning& m = *record.meaning;
    p[column_at::kind] = static_cast<std::byte>(m.kind);
    p[column_at::unit] = static_cast<std::byte>(m.unit);
    p[column_at::flags] =
        static_cast<std::byte>((m.ordered ? kOrderedWords : 0) | (m.missing ? kMissing : 0));
    store_le(p + column_at::missing, m.missing.value_or(0));
  }

  std::vector<Record> records_;  // of meanings, then of groups
};

}  // namespace

std::vector<std::byte> emit_columns(const std::vector<Column>& columns, WordsAs words) {
  Emitter emitter;
  for (std::uint64_t c = 0; c < columns.size(); ++c) {
    require_fit(columns[c], {});
    if (!is_plain(columns[c])) emitter.add(c, columns[c].meaning);
  }
  for (std::uint64_t c = 0; c < columns.size();) {
    const Range group = whole_group(columns, c);
    if (!group.empty()) emitter.add(c, *columns[c].group);
    c = std::max(c + 1, group.end);
  }
  return emitter.emit(words);
}

std::vector<std::byte> emit_columns(const Schema& schema, WordsAs words) {
  if (schema.kind == ObjectKind::frame) return emit_columns(schema.columns, words);
  Emitter emitter;
  if (schema.group != nullptr && schema.group->size == schema.cols) emitter.add(0, *schema.group);
  return emitter.emit(words);
}

}  // namespace dapple::detail::dbdf
