#include "lib/foreign/csv/csv_sidecar.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "dapple/sidecar.h"
#include "lib/base/bytes.h"
#include "lib/dbdf/sidecar.h"
#include "lib/foreign/csv/saved_words.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/io/output_file.h"

namespace dapple::detail::csv {

namespace {

// The sidecar of a dbdf file has version 1 after the same magic.
constexpr std::uint64_t kTextVersion = 8;
constexpr std::uint64_t kHead = 64 << 10;  // of the text, which is hashed
constexpr std::size_t kHashBytes = 8;
/// The bytes that tell version and state of the text; how it is read follows.
constexpr std::size_t kStateBytes = 48;

class Bytes {
 public:
  template <Number T>
  void put(T value) {
    bytes_.resize(bytes_.size() + sizeof value);
    store_le(bytes_.data() + bytes_.size() - sizeof value, value);
  }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), p, p + text.size());
  }
  const std::vector<std::byte>& all() const noexcept { return bytes_; }
  std::vector<std::byte>& all() noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Everything that decides what a scan finds: which text, in which state, and how it is read.
Bytes make_binding(const ByteSource& data, const ScanInput& input, ScanStart start) {
  Bytes line;
  for (const char c : std::string_view(kSidecarMagic)) line.put(static_cast<std::uint8_t>(c));
  line.put(kTextVersion);
  line.put(data.size());
  line.put(data.identity().mtime_ns);
  line.put(data.identity().ctime_ns);
  line.put(xxh3(data.bytes(0, std::min(data.size(), kHead))));
  line.put(start.offset);
  line.put(start.line);
  line.put(static_cast<std::uint8_t>(input.delimiter));
  line.put(static_cast<std::uint8_t>(input.missing_as_nan));
  line.put(std::uint64_t{input.missing.more().size()});
  for (const std::string& word : input.missing.more()) line.put(word);
  line.put(std::uint64_t{input.given.size()});
  for (const std::optional<ValueType>& type : input.given) {
    line.put(type ? static_cast<std::uint8_t>(*type) : std::uint8_t{0});
  }
  for (const std::optional<MeaningKind>& kind : input.wanted) {
    line.put(kind ? static_cast<std::uint8_t>(*kind) : std::uint8_t{0});
  }
  return line;
}

/// What the fields of a column are; a zero for numbers.
void put_field(Bytes& bytes, const FieldReader* field) {
  if (field == nullptr) return bytes.put(std::uint8_t{0});
  const Meaning& meaning = field->meaning();
  bytes.put(static_cast<std::uint8_t>(meaning.kind));
  bytes.put(static_cast<std::uint8_t>(meaning.unit));
  bytes.put(static_cast<std::uint8_t>(meaning.zone.empty() ? 0 : 1));
  bytes.put(static_cast<std::uint8_t>(meaning.missing ? 1 : 0));
  const auto* const words = dynamic_cast<const WordTable*>(field->words());
  if (words != nullptr) put_words(*words, bytes.all());
}

std::shared_ptr<const FieldReader> read_field(ByteReader& bytes,
                                              const std::shared_ptr<const ByteSource>& sidecar) {
  const std::uint64_t at = bytes.offset();
  const auto kind = bytes.le<std::uint8_t>("meaning");
  if (kind == 0) return nullptr;
  const auto unit = bytes.le<std::uint8_t>("unit");
  if (kind > static_cast<std::uint8_t>(MeaningKind::text) ||
      unit > static_cast<std::uint8_t>(TimeUnit::nanosecond)) {
    bytes.fail(at, "unknown meaning or unit");
  }
  Meaning meaning;
  meaning.kind = static_cast<MeaningKind>(kind);
  meaning.unit = static_cast<TimeUnit>(unit);
  if (bytes.le<std::uint8_t>("zone") != 0) meaning.zone = "UTC";
  const bool missing = bytes.le<std::uint8_t>("missing") != 0;
  if (missing) meaning.missing = missing_mark(meaning.kind);
  std::shared_ptr<const WordFinder> words;
  if (meaning.has_words()) meaning.words = words = read_words(bytes, sidecar);
  const ValueType type = stored_type(meaning);
  return std::make_shared<FieldReader>(std::move(meaning), type, std::move(words));
}

void put_rows(Bytes& bytes, const Rows& rows) {
  bytes.put(rows.rows);
  bytes.put(rows.end);
  bytes.put(static_cast<std::uint8_t>(rows.quoted_delimiters));
  bytes.put(static_cast<std::uint8_t>(rows.quoted_line_ends));
  for (const std::uint16_t seen : rows.seen) bytes.put(seen);
  bytes.put(std::uint64_t{rows.rounded.size()});
  for (const auto& [col, at] : rows.rounded) {
    bytes.put(std::uint64_t{col});
    bytes.put(at.offset);
    bytes.put(at.line);
    bytes.put(at.text);
  }
  bytes.put(std::uint64_t{rows.strips.size()});
  for (const Strip& strip : rows.strips) {
    bytes.put(strip.row);
    bytes.put(strip.offset);
  }
  for (const auto& field : rows.fields) put_field(bytes, field.get());
}

Rows read_rows(ByteReader& bytes, std::size_t cols, const std::shared_ptr<ByteSource>& sidecar) {
  Rows rows;
  rows.rows = bytes.le<std::uint64_t>("rows");
  rows.end = bytes.le<std::uint64_t>("end of the rows");
  rows.quoted_delimiters = bytes.le<std::uint8_t>("quoted delimiters") != 0;
  rows.quoted_line_ends = bytes.le<std::uint8_t>("quoted line ends") != 0;
  for (std::size_t c = 0; c < cols; ++c) rows.seen.push_back(bytes.le<std::uint16_t>("columns"));
  for (auto n = bytes.le<std::uint64_t>("rounded integers"); n > 0; --n) {
    const auto col = bytes.le<std::uint64_t>("column");
    RoundedAt at;
    at.offset = bytes.le<std::uint64_t>("offset");
    at.line = bytes.le<std::uint64_t>("line");
    const auto text = bytes.take(bytes.le<std::uint64_t>("length"), "integer");
    at.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
    rows.rounded.emplace(col, std::move(at));
  }
  const auto strips = bytes.le<std::uint64_t>("strips");
  if (strips > bytes.remaining() / sizeof(Strip)) bytes.fail(bytes.offset(), "too many strips");
  rows.strips.reserve(strips);
  for (std::uint64_t i = 0; i < strips; ++i) {
    const auto row = bytes.le<std::uint64_t>("row");
    rows.strips.push_back({row, bytes.le<std::uint64_t>("offset")});
  }
  for (std::size_t c = 0; c < cols; ++c) rows.fields.push_back(read_field(bytes, sidecar));
  rows.sidecar = sidecar;
  return rows;
}

/// Whether the rows are such as a scan could find: whatever else a forged sidecar says, blocks lie
/// inside the file, in order, and hold all rows.
bool plausible(const Rows& rows, const ByteSource& data, ScanStart start) {
  if (rows.end > data.size() || rows.end < start.offset) return false;
  if (rows.strips.empty() || rows.seen.empty()) return rows.rows == 0;
  if (rows.strips.front().row != 0 || rows.strips.front().offset != start.offset) return false;
  for (std::size_t i = 0; i < rows.strips.size(); ++i) {
    const bool last = i + 1 == rows.strips.size();
    const Strip here = rows.strips[i];
    const Strip next = last ? Strip{rows.rows, rows.end} : rows.strips[i + 1];
    if (next.row <= here.row || next.row - here.row > std::numeric_limits<std::uint32_t>::max() ||
        next.offset <= here.offset ||
        // A row takes a byte per field at least, except for the end of the last line.
        next.row - here.row > (next.offset - here.offset + 1) / rows.seen.size()) {
      return false;
    }
  }
  const auto whole = [&](const auto& rounded) {
    return rounded.first < rows.seen.size() && rounded.second.offset < rows.end;
  };
  const auto marked = [&](std::size_t c) { return (rows.seen[c] & flag::rounded) != 0; };
  std::size_t wanted = 0;
  for (std::size_t c = 0; c < rows.seen.size(); ++c) wanted += marked(c) ? 1 : 0;
  return wanted == rows.rounded.size() &&
         std::all_of(rows.rounded.begin(), rows.rounded.end(),
                     [&](const auto& r) { return whole(r) && marked(r.first); });
}

}  // namespace

std::optional<Rows> find_saved_rows(const ByteSource& data, const ScanInput& input,
                                    ScanStart start) {
  const auto file = data.sibling(kSidecarEnding);
  const Bytes binding = make_binding(data, input, start);
  const std::size_t bound = binding.all().size();
  if (file == nullptr || file->size() < bound + kHashBytes) return std::nullopt;
  const std::byte* const bytes = file->at(0, file->size());
  if (std::memcmp(bytes, binding.all().data(), bound) != 0) return std::nullopt;
  const std::size_t hashed = static_cast<std::size_t>(file->size()) - kHashBytes;
  if (load_le<std::uint64_t>(bytes + hashed) != xxh3({bytes, hashed})) return std::nullopt;
  try {
    ByteReader reader({bytes + bound, hashed - bound}, bound, file->name());
    Rows rows = read_rows(reader, input.cols(), file);
    const bool whole = reader.remaining() == 0 && plausible(rows, data, start);
    if (whole && file->is_intact()) return rows;
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
  }
  return std::nullopt;
}

namespace {

Bytes make_sidecar(const ByteSource& data, const ScanInput& input, ScanStart start,
                   const Rows& rows) {
  Bytes bytes = make_binding(data, input, start);
  put_rows(bytes, rows);
  bytes.put(xxh3(bytes.all()));
  return bytes;
}

}  // namespace

std::optional<Error> fault_of_saved_rows(const ByteSource& data, const ScanInput& input,
                                         ScanStart start, const Rows& rows) {
  const auto file = data.sibling(kSidecarEnding);
  if (file == nullptr) return std::nullopt;
  const auto found = file->bytes(0, file->size());
  const Bytes expected = make_sidecar(data, input, start, rows);
  const auto other =
      std::mismatch(found.begin(), found.end(), expected.all().begin(), expected.all().end()).first;
  const auto at = static_cast<std::uint64_t>(other - found.begin());
  if (at == found.size() && at == expected.all().size()) return std::nullopt;
  const auto fault = [&](Errc code, const char* what) {
    return Error(code, file->name(), at,
                 std::string(what) + "; index " + data.name() + " again to renew it");
  };
  const std::size_t hashed = found.size() - std::min(found.size(), kHashBytes);
  if (found.size() < kHashBytes ||
      load_le<std::uint64_t>(&found[hashed]) != xxh3(found.first(hashed))) {
    return fault(Errc::corrupt, "the sidecar does not match its hash");
  }
  if (at < kStateBytes) {
    return fault(Errc::stale_index, "the sidecar belongs to another state of the file");
  }
  // One for other options is not used now, but may be sound.
  if (at < make_binding(data, input, start).all().size()) return std::nullopt;
  return fault(Errc::corrupt, "the sidecar does not say what is in the file");
}

void save_rows(const ByteSource& data, const std::filesystem::path& path, const ScanInput& input,
               ScanStart start, const Rows& rows) {
  const Bytes bytes = make_sidecar(data, input, start, rows);
  OutputFile out(sidecar_path(path), true);
  out.append(bytes.all());
  dbdf::require_unchanged(data, path);
  out.publish();
}

}  // namespace dapple::detail::csv
