#include "lib/dbdf/columns.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/io/hash.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint32_t kColumnsVersion = 1;
constexpr std::uint64_t kTableHead = 32, kColumnRecord = 64;

namespace table_at {
constexpr std::size_t tag = 0, version = 8, count = 12, table = 16, hash = 24;
}
namespace column_at {
constexpr std::size_t column = 0, kind = 8, unit = 9, flags = 10, zone_bytes = 12, missing = 16,
                      words = 24, offsets = 32, word_bytes = 40, hash = 48, zone = 56;
}
constexpr std::uint8_t kOrderedWords = 1, kMissing = 2;

/// Covers the head up to its hash field, and the rest of the table.
std::uint64_t table_hash(std::span<const std::byte> table) noexcept {
  return xxh3(table.subspan(kTableHead), xxh3(table.first(table_at::hash)));
}

bool fits(const Column& column) noexcept {
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

template <class T>
void append_le(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

void append(std::vector<std::byte>& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void pad(std::vector<std::byte>& out) { out.resize(round_up(out.size(), 8)); }

/// Appends the offsets and bytes of the words, and completes the column's record.
void append_words(const Dictionary& words, std::vector<std::byte>& out, std::uint64_t record) {
  const std::uint64_t begin = out.size(), n = words.size();
  std::uint64_t end = 0;
  append_le(out, end);
  for (std::uint64_t i = 0; i < n; ++i) {
    end += words[i].size();
    append_le(out, end);
  }
  const std::uint64_t bytes = out.size();
  for (std::uint64_t i = 0; i < n; ++i) append(out, words[i]);
  const std::span<const std::byte> all(out);
  const std::uint64_t hash = dictionary_hash(all.subspan(begin, bytes - begin), all.subspan(bytes));
  std::byte* const p = out.data() + record;
  store_le(p + column_at::words, n);
  store_le(p + column_at::offsets, begin);
  store_le(p + column_at::word_bytes, end);
  store_le(p + column_at::hash, hash);
  pad(out);
}

}  // namespace

std::vector<std::byte> emit_columns(const std::vector<Column>& columns) {
  std::vector<std::uint64_t> described;
  for (std::uint64_t c = 0; c < columns.size(); ++c) {
    if (!fits(columns[c])) {
      throw Error(Errc::invalid_argument, "column \"" + columns[c].label + "\" is a " +
                                              std::string(name(columns[c].meaning.kind)) +
                                              " and cannot be stored as " +
                                              std::string(name(columns[c].value_type)));
    }
    if (!is_plain(columns[c])) described.push_back(c);
  }
  if (described.empty()) return {};
  std::vector<std::byte> out(kTableHead + kColumnRecord * described.size());
  std::memcpy(out.data() + table_at::tag, kColumnsTag, 8);
  store_le(out.data() + table_at::version, kColumnsVersion);
  store_le(out.data() + table_at::count, static_cast<std::uint32_t>(described.size()));
  for (std::size_t k = 0; k < described.size(); ++k) {
    const Meaning& m = columns[described[k]].meaning;
    const std::uint64_t zone = out.size();
    append(out, m.zone);
    std::byte* const p = out.data() + kTableHead + k * kColumnRecord;
    store_le(p + column_at::column, described[k]);
    p[column_at::kind] = static_cast<std::byte>(m.kind);
    p[column_at::unit] = static_cast<std::byte>(m.unit);
    p[column_at::flags] =
        static_cast<std::byte>((m.ordered ? kOrderedWords : 0) | (m.missing ? kMissing : 0));
    store_le(p + column_at::zone_bytes, static_cast<std::uint32_t>(m.zone.size()));
    store_le(p + column_at::missing, m.missing.value_or(0));
    store_le(p + column_at::zone, zone);
  }
  pad(out);
  const std::uint64_t table = out.size();
  for (std::size_t k = 0; k < described.size(); ++k) {
    const Meaning& m = columns[described[k]].meaning;
    if (m.has_words()) append_words(*m.words, out, kTableHead + k * kColumnRecord);
  }
  store_le(out.data() + table_at::table, table);
  store_le(out.data() + table_at::hash, table_hash(std::span(out).first(table)));
  return out;
}

void require_utf8(const std::vector<Column>& columns, const std::string& file) {
  for (const Column& column : columns) {
    if (!column.meaning.has_words() || column.meaning.words == nullptr) continue;
    const Dictionary& words = *column.meaning.words;
    if (const auto bad = find_not_utf8(words)) throw not_utf8(file, column.label, words[*bad]);
  }
}

namespace {

/// Reads the content. Every length is compared with what is left before it is used.
class Reader {
 public:
  Reader(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset, std::uint64_t bytes)
      : file_(file), offset_(offset), bytes_(bytes) {}

  /// Gives `lost` the errors of single columns; without it they are thrown.
  void read(std::vector<Column>& columns, std::vector<Error>* lost) {
    if (bytes_ < kTableHead) fail(0, "is cut off");
    const std::byte* head = file_->at(offset_, kTableHead);
    if (std::memcmp(head + table_at::tag, kColumnsTag, 8) != 0 ||
        load_le<std::uint32_t>(head + table_at::version) != kColumnsVersion) {
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
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t at = kTableHead + k * kColumnRecord;
      if (lost == nullptr) {
        record(at, columns);
      } else {
        save(at, columns, *lost);
      }
    }
  }

 private:
  void save(std::uint64_t at, std::vector<Column>& columns, std::vector<Error>& lost) {
    const auto col = load_le<std::uint64_t>(table_.data() + at + column_at::column);
    try {
      record(at, columns);
      read_words(columns[col].meaning);
    } catch (const Error& e) {
      if (e.code() == Errc::io) throw;
      if (col >= columns.size()) throw;
      Meaning& meaning = columns[col].meaning;
      const bool words = meaning.has_words();
      lost.emplace_back(e.code(), e.file(), e.offset(),
                        "column " + shown(columns[col].label) + " loses its " +
                            (words ? "words and keeps their codes" : "meaning") + ": " +
                            e.detail());
      Meaning number;
      number.missing = mark_of(meaning);
      meaning = std::move(number);
    }
  }

  static void read_words(const Meaning& meaning) {
    const std::uint64_t words = meaning.has_words() ? meaning.words->size() : 0;
    for (std::uint64_t i = 0; i < words; ++i) static_cast<void>((*meaning.words)[i]);
  }

  void record(std::uint64_t at, std::vector<Column>& columns) {
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
    const auto flags = static_cast<std::uint8_t>(p[column_at::flags]);
    m.ordered = (flags & kOrderedWords) != 0;
    if ((flags & kMissing) != 0) m.missing = load_le<std::uint64_t>(p + column_at::missing);
    const auto zone = load_le<std::uint64_t>(p + column_at::zone);
    const auto zone_bytes = load_le<std::uint32_t>(p + column_at::zone_bytes);
    if (zone > table_.size() || zone_bytes > table_.size() - zone) {
      fail(at + column_at::zone, "holds a time zone outside its bytes");
    }
    m.zone.assign(reinterpret_cast<const char*>(table_.data()) + zone, zone_bytes);
    if (m.has_words()) m.words = words(at);
    Column described = columns[column];
    described.meaning = std::move(m);
    if (!fits(described)) fail(at, "gives a column a meaning that its value type cannot hold");
    columns[column] = std::move(described);
  }

  std::shared_ptr<const Dictionary> words(std::uint64_t at) const {
    const std::byte* const p = table_.data() + at;
    const auto n = load_le<std::uint64_t>(p + column_at::words);
    const auto begin = load_le<std::uint64_t>(p + column_at::offsets);
    const auto bytes = load_le<std::uint64_t>(p + column_at::word_bytes);
    const std::uint64_t left = begin <= bytes_ ? bytes_ - begin : 0;
    if (n >= left / 8 || bytes > left - 8 * (n + 1)) {
      fail(at + column_at::words, "holds a dictionary outside its bytes");
    }
    const std::uint64_t first = offset_ + begin, offsets = 8 * (n + 1);
    return stored_dictionary(file_, file_->bytes(first, offsets),
                             file_->bytes(first + offsets, bytes),
                             load_le<std::uint64_t>(p + column_at::hash), file_->name(), first);
  }

  [[noreturn]] void fail(std::uint64_t at, const char* what) const {
    throw Error(Errc::corrupt, file_->name(), offset_ + at,
                std::string("the table of column meanings ") + what);
  }

  const std::shared_ptr<const MappedFile>& file_;
  std::uint64_t offset_, bytes_;
  std::span<const std::byte> table_;
};

}  // namespace

void read_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns) {
  Reader(file, offset, bytes).read(columns, nullptr);
}

void save_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns, std::vector<Error>& lost) {
  try {
    Reader(file, offset, bytes).read(columns, &lost);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    lost.emplace_back(e.code(), e.file(), e.offset(),
                      e.detail() + ", so every column is taken for one of numbers", e.remedy());
  }
}

}  // namespace dapple::detail::dbdf
