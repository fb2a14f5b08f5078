#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/utf16.h"
#include "lib/foreign/btable/btable.h"

namespace dapple::detail::btable {

namespace {

constexpr std::uint64_t kVersionAt = 0;
constexpr std::uint64_t kLengthAt = 4;
constexpr std::uint64_t kLabelsAt = 8;

/// Entries of a band of rows, a block of about a mebibyte; and its most rows.
constexpr std::uint64_t kBandEntries = std::uint64_t{64} << 10;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 20;

bool is_separator(const std::byte* unit) noexcept {
  return load_be<std::uint16_t>(unit) == kSeparator;
}

/// The labels, one column each; `units` starts at byte kLabelsAt.
std::vector<Column> split_labels(std::span<const std::byte> units, const std::string& file) {
  std::size_t separators = 0;
  for (std::size_t at = 0; at < units.size(); at += 2) separators += is_separator(&units[at]);
  std::vector<Column> columns;
  columns.reserve(separators + 1);
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= units.size(); at += 2) {
    if (at < units.size() && !is_separator(&units[at])) continue;
    Column column{{}, ValueType::f64};
    if (const auto bad = append_utf16be_as_utf8(units.subspan(begin, at - begin), column.label)) {
      throw Error(Errc::corrupt, file, kLabelsAt + begin + *bad,
                  "the labels are not UTF-16: a surrogate without its partner");
    }
    columns.push_back(std::move(column));
    begin = at + 2;
  }
  return columns;
}

/// What a user should know before giving the file to other readers.
std::string note_on_labels(const std::vector<Column>& columns) {
  if (columns.size() == 1) return {};
  const auto last = std::find_if(columns.rbegin(), columns.rend(),
                                 [](const Column& column) { return !column.label.empty(); });
  const auto empty = last - columns.rbegin();
  if (empty == 0) return {};
  const std::string which = empty == 1 ? "label is" : std::to_string(empty) + " labels are";
  return "the last " + which +
         " empty: Java and Clojure readers of BTables do not see columns without one";
}

/// The entries of a row as they are stored.
struct RowEntries {
  const std::byte* data;
  std::uint32_t size;

  std::uint32_t column(std::uint32_t i) const noexcept {
    return load_be<std::uint32_t>(data + std::size_t{i} * kEntryBytes);
  }
  std::uint64_t bits(std::uint32_t i) const noexcept {
    return load_be<std::uint64_t>(data + std::size_t{i} * kEntryBytes + 4);
  }
};

/// Rows as three arrays.
class Band {
 public:
  explicit Band(std::uint64_t cols) : cols_(cols) { clear(); }

  std::uint64_t rows() const noexcept { return row_ptr_.size() - 1; }
  std::uint64_t entries() const noexcept { return col_idx_.size(); }

  /// Adds the next row without its zeros. Of several entries of a column the last counts, as in
  /// the reference readers. Throws corrupt.
  void add(ByteReader& in) {
    const auto count = in.be<std::int32_t>("a row's length");
    const std::uint64_t at = in.offset();
    if (count < 0) {
      in.fail(at - kCountBytes, "a row cannot have " + std::to_string(count) + " entries");
    }
    const auto size = static_cast<std::uint32_t>(count);
    const RowEntries row{in.take(std::uint64_t{size} * kEntryBytes, "entries").data(), size};
    const std::size_t begin = col_idx_.size();
    bool ascending = true;
    for (std::uint32_t i = 0; i < row.size; ++i) {
      const std::uint32_t col = row.column(i);
      if (col >= cols_) {  // a negative one is among the largest
        in.fail(at + std::uint64_t{i} * kEntryBytes,
                "column " + std::to_string(static_cast<std::int32_t>(col)) +
                    " is outside a table of " + counted(cols_, "column"));
      }
      ascending = ascending && (col_idx_.size() == begin || col > col_idx_.back());
      if (ascending && row.bits(i) == 0) continue;  // of two, it may be the last
      col_idx_.push_back(col);
      values_.push_back(row.bits(i));
    }
    if (!ascending) settle(row, begin);
    row_ptr_.push_back(col_idx_.size());
  }

  dbdf::CsrCells cells() const {
    return {row_ptr_.data(),
            col_idx_.data(),
            reinterpret_cast<const std::byte*>(values_.data()),
            ValueType::f64,
            static_cast<std::uint32_t>(rows()),
            static_cast<std::uint32_t>(cols_)};
  }
  void clear() {
    row_ptr_.assign(1, 0);
    col_idx_.clear();
    values_.clear();
  }

 private:
  /// The entries of a row in ascending order of columns, only the last one of each.
  void settle(const RowEntries& row, std::size_t begin) {
    std::map<std::uint32_t, std::uint64_t> last;
    for (std::uint32_t i = 0; i < row.size; ++i) last[row.column(i)] = row.bits(i);
    col_idx_.resize(begin);
    values_.resize(begin);
    for (const auto& [col, bits] : last) {
      if (bits == 0) continue;
      col_idx_.push_back(col);
      values_.push_back(bits);
    }
  }

  const std::uint64_t cols_;
  std::vector<std::uint64_t> row_ptr_, values_;
  std::vector<std::uint32_t> col_idx_;
};

/// Puts all rows, or the first `most`, and returns how many there are.
std::uint64_t put_rows(ByteReader rows, std::uint64_t most, const Schema& schema,
                       texts::Import& import) {
  Band band(schema.cols);
  BlockWriter* writer = nullptr;
  std::uint64_t height = 0;  // of every band; not known before the first is full
  std::uint64_t first = 0;
  const auto put = [&] {
    if (writer == nullptr) {
      height = std::max<std::uint64_t>(band.rows(), 1);
      writer = &import.start(
          schema, {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(schema.cols)});
    }
    if (band.entries() > 0) writer->put({first, 0}, band.cells());
    first += band.rows();
    band.clear();
  };
  while (rows.remaining() > 0 && first + band.rows() < most) {
    band.add(rows);
    const bool full = height > 0 ? band.rows() == height
                                 : band.entries() >= kBandEntries || band.rows() == kMostRows;
    if (full) put();
  }
  if (band.rows() > 0 || writer == nullptr) put();
  return first;
}

}  // namespace

Match recognise_btable(const Probe& probe) {
  const Match otherwise = probe.extension == ".btable" ? Match::by_name : Match::no;
  if (probe.head.size() < kLabelsAt ||
      load_be<std::int32_t>(probe.head.data() + kVersionAt) != kVersion) {
    return otherwise;
  }
  // A file of zeros would pass for a table with one empty label, so a label is asked for.
  const auto units = load_be<std::int32_t>(probe.head.data() + kLengthAt);
  if (units <= 0) return otherwise;
  std::uint64_t at = kLabelsAt + 2 * static_cast<std::uint64_t>(units);
  if (at > probe.file.size()) return otherwise;
  const std::uint64_t seen = std::min<std::uint64_t>(at, probe.head.size()) & ~std::uint64_t{1};
  std::string label;
  const auto bad = append_utf16be_as_utf8(probe.head.subspan(kLabelsAt, seen - kLabelsAt), label);
  if (bad && kLabelsAt + *bad + 4 <= seen) return otherwise;  // not a pair cut by the probe's end
  while (at <= probe.head.size() && probe.head.size() - at >= kCountBytes) {
    const auto count = load_be<std::int32_t>(probe.head.data() + at);
    if (count < 0) return otherwise;
    at += kCountBytes + static_cast<std::uint64_t>(count) * kEntryBytes;
    if (at > probe.file.size()) return otherwise;
  }
  return Match::by_content;
}

void parse_btable(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
                  texts::Import& import) {
  const std::uint64_t head = std::min(file->size(), kLabelsAt);
  ByteReader reader(file->bytes(0, head), 0, file->name());
  const auto version = reader.be<std::int32_t>("the version");
  if (version != kVersion) {
    throw Error(Errc::unsupported, file->name(), kVersionAt,
                "BTables of version " + std::to_string(version) +
                    " cannot be read, only those of version 0");
  }
  const auto units = reader.be<std::int32_t>("the length of the labels");
  const std::uint64_t left = file->size() - kLabelsAt;
  if (units < 0 || 2 * static_cast<std::uint64_t>(units) > left) {
    throw Error(Errc::corrupt, file->name(), kLengthAt,
                units < 0 ? "the length of the labels cannot be negative: " + std::to_string(units)
                          : "labels of " + std::to_string(units) + " UTF-16 units do not fit the " +
                                counted(left, "byte") + " that are left");
  }
  const std::uint64_t label_bytes = 2 * static_cast<std::uint64_t>(units);

  Schema schema;
  schema.kind = ObjectKind::frame;
  schema.columns = split_labels(file->bytes(kLabelsAt, label_bytes), file->name());
  schema.cols = schema.columns.size();
  std::string note = note_on_labels(schema.columns);
  schema.rows = texts::kUnknownRows;
  const std::uint64_t most = options.first_rows.value_or(~std::uint64_t{0});
  const std::uint64_t body = kLabelsAt + label_bytes;
  const auto rows = file->bytes(body, file->size() - body);
  schema.rows = put_rows({rows, body, file->name()}, most, schema, import);
  import.finish(std::move(schema), std::move(note));
}

}  // namespace dapple::detail::btable
