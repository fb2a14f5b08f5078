#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/annotated.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/object/dictionary.h"
#include "lib/object/lazy_words.h"
#include "lib/object/misfit.h"

namespace dapple::detail::arrays {

namespace {

constexpr std::uint64_t kStrip = 1 << 18;  // rows of a block

/// Numbers of a vector, as its own type.
Array<std::byte> read_numbers(const Vector& vector, Range which) {
  const Items& items = vector.items;
  Array<std::byte> cells(which.size() * items.width);
  if (which.empty()) return cells;
  if (items.data == nullptr) {
    items.load(which, cells.data());
  } else {
    std::memcpy(cells.data(), items.data + which.begin * items.width, cells.size());
  }
  return cells;
}

/// The words of a column, which blames `file` for those that are none.
class Words : public LazyWords {
 protected:
  Words(std::string file, std::string label) : file_(std::move(file)), label_(std::move(label)) {}

  [[noreturn]] void fail(const std::string& wrong) const {
    throw Error(Errc::corrupt, file_, std::nullopt, "column '" + label_ + "' " + wrong);
  }
  std::uint32_t add(WordTable& words, std::string_view word) const {
    if (!is_utf8(word)) fail("has the string " + shown(word) + ", which is not UTF-8");
    return words.add(word);
  }

 private:
  std::string file_, label_;
};

/// A column of strings, which are missing where the mask, if there is one, is not 0.
class Strings final : public Words {
 public:
  Strings(std::string file, std::string label, Vector strings, Vector mask)
      : Words(std::move(file), std::move(label)),
        strings_(std::move(strings)),
        mask_(std::move(mask)) {}

 protected:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override {
    const Array<std::byte> missing = read_numbers(mask_, {0, mask_.items.size});
    codes.reserve(strings_.items.size);
    strings_.read_words([&](std::string_view word) {
      const bool none = missing.size() > 0 && missing[codes.size()] != std::byte{0};
      codes.push_back(none ? 0 : add(words, word));
    });
  }

 private:
  Vector strings_, mask_;
};

/// A column of codes of a list of strings or numbers; -1 is missing.
class Categories final : public Words {
 public:
  Categories(std::string file, std::string label, Vector codes, Vector words)
      : Words(std::move(file), std::move(label)),
        codes_(std::move(codes)),
        words_(std::move(words)) {}

 protected:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override {
    read_list(words);
    const std::uint64_t rows = codes_.items.size;
    const Array<std::byte> stored = read_numbers(codes_, {0, rows});
    std::vector<std::int64_t> wide(rows);
    const std::size_t done =
        convert_cells(codes_.type, stored.data(), codes_.items.width, ValueType::i64,
                      reinterpret_cast<std::byte*>(wide.data()), sizeof wide[0], wide.size());
    codes.reserve(wide.size());
    for (const std::int64_t code : wide) {
      if (done < wide.size() || code < -1 || code >= static_cast<std::int64_t>(words.size())) {
        fail("has code " + std::to_string(code) + " in row " + std::to_string(codes.size()) +
             ", which has no category");
      }
      codes.push_back(static_cast<std::uint32_t>(code + 1));
    }
  }

 private:
  void read_list(WordTable& words) const {
    const auto add_new = [&](std::string_view word) {
      const std::uint64_t before = words.size();
      if (add(words, word) <= before) fail("has the category " + shown(word) + " twice");
    };
    if (words_.read_words) return words_.read_words(add_new);
    Column as_read;
    as_read.value_type = words_.type;
    if (words_.boolean) as_read.meaning.kind = MeaningKind::boolean;
    const Array<std::byte> numbers = read_numbers(words_, {0, words_.items.size});
    std::string text;
    for (std::uint64_t i = 0; i < words_.items.size; ++i) {
      text.clear();
      append_text(as_read, load_bits(words_.type, numbers.data() + i * words_.items.width), text);
      add_new(text);
    }
  }

  Vector codes_, words_;
};

struct TableState final : DriverState {
  struct Cells {
    std::shared_ptr<const LazyWords> words;  // or
    Vector numbers{}, mask{};                // numbers may be missing where there is a mask
  };
  std::vector<Cells> columns;
};

/// The type in which numbers beside a mask have a mark that none of them is, if there is one.
ValueType wider(ValueType type) noexcept {
  for (const ValueType wide : kValueTypes) {
    const bool alike = is_signed(wide) == is_signed(type) && is_float(wide) == is_float(type);
    if (alike && !is_float(type) && size_of(wide) == 2 * size_of(type)) return wide;
  }
  return type;
}

/// Puts the mark of missing cells where the mask is not 0.
void mark_missing(const Store& store, const Entry& e, const TableState::Cells& column, Range rows,
                  std::byte* cells) {
  const Column& described = store.schema().columns[e.pos.cx];
  const std::uint64_t mark = *described.meaning.missing;
  const std::size_t size = size_of(e.value_type);
  const Array<std::byte> missing = read_numbers(column.mask, rows);
  for (std::size_t row = 0; row < missing.size(); ++row, cells += size) {
    if (missing[row] != std::byte{0}) {
      store_bits(e.value_type, cells, mark);
    } else if (load_bits(e.value_type, cells) == mark) {
      throw Error(Errc::unsupported, store.file().name(), std::nullopt,
                  "row " + std::to_string(rows.begin + row) + " of column " +
                      shown(described.label) +
                      " holds the number that marks missing cells when it is read");
    }
  }
}

/// The cells of a column of numbers, in the type of the block.
Array<std::byte> numbers_of(const Store& store, const Entry& e, const TableState::Cells& column,
                            Range rows) {
  Array<std::byte> cells = read_numbers(column.numbers, rows);
  if (column.mask.path.empty()) return cells;
  Array<std::byte> wide(rows.size() * size_of(e.value_type));
  convert_cells(column.numbers.type, cells.data(), column.numbers.items.width, e.value_type,
                wide.data(), size_of(e.value_type), rows.size());
  mark_missing(store, e, column, rows, wide.data());
  return wide;
}

/// Makes the schema and the state of a table, column by column.
class TableReader {
 public:
  TableReader(std::string file, const Objects& objects, const std::string& path, Schema& schema)
      : file_(std::move(file)), objects_(objects), path_(path), schema_(schema) {
    const auto group = objects_.find(path_);
    // In the first version, words of categories are together in a group beside the columns.
    if (group->text("encoding-version") == "0.1.0") words_ = path_ + "/__categories/";
    schema_.kind = ObjectKind::frame;
    if (const std::string index = group->text("_index"); !index.empty()) add(index);
    if (const auto order = group->attribute("column-order")) {
      for (const Json& name : order->items) add(name.text);
    }
    schema_.cols = schema_.columns.size();
  }
  std::unique_ptr<TableState> state = std::make_unique<TableState>();
  std::string left_out;

 private:
  void add(const std::string& name) {
    try {
      add_column(name);
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported) throw;
      leave_out(name, error.what());
    }
  }
  void leave_out(const std::string& name, const std::string& why) {
    left_out.append(left_out.empty() ? "left out: " : "; ").append(name).append(" (" + why + ")");
  }
  [[noreturn]] void fail(const std::string& wrong) const {
    throw objects_.fault(Errc::corrupt, path_, wrong);
  }

  void add_column(const std::string& name) {
    const std::string path = path_ + "/" + name;
    const auto object = objects_.find(path);
    if (!object) fail("the table has no column '" + name + "'");
    Column column;
    column.label = name;
    if (!object->is_array) {
      const std::string encoding = object->text("encoding-type");
      if (encoding == "categorical") {
        return add_category(path + "/codes", path + "/categories", *object, std::move(column));
      }
      if (encoding == "nullable-string-array" || encoding == "nullable-integer" ||
          encoding == "nullable-boolean") {
        return add_masked(path, std::move(column), encoding == "nullable-string-array");
      }
      return leave_out(name, "its encoding is '" + encoding + "'");
    }
    if (!words_.empty()) {
      if (const auto words = objects_.find(words_ + name)) {
        return add_category(path, words_ + name, *words, std::move(column));
      }
    }
    Vector data = objects_.open_vector(path);
    if (data.read_words) return add_words(std::move(data), {}, std::move(column));
    column.value_type = data.type;
    if (data.boolean) column.meaning.kind = MeaningKind::boolean;
    put(std::move(column), {nullptr, std::move(data)});
  }
  /// `noted` has the attribute that tells of their order.
  void add_category(const std::string& codes, std::string categories, const Object& noted,
                    Column column) {
    const auto object = objects_.find(categories);
    if (object && !object->is_array) categories += "/values";  // beside a mask that is empty
    Vector numbers = objects_.open_vector(codes);
    if (numbers.read_words || is_float(numbers.type)) {
      fail("the codes of column '" + column.label + "' are no integers");
    }
    const auto ordered = noted.attribute("ordered");
    column.meaning.ordered = ordered && ordered->truth;
    const std::uint64_t rows = numbers.items.size;
    auto words = std::make_shared<const Categories>(file_, column.label, std::move(numbers),
                                                    objects_.open_vector(categories));
    put_words(rows, std::move(words), MeaningKind::category, std::move(column));
  }
  void add_masked(const std::string& path, Column column, bool strings) {
    Vector values = objects_.open_vector(path + "/values");
    Vector mask = objects_.open_vector(path + "/mask");
    const bool words = values.read_words != nullptr;
    if (words != strings || !mask.boolean || mask.items.size != values.items.size) {
      fail("column '" + column.label + "' should have " + (strings ? "strings" : "numbers") +
           ", and a mask of as many");
    }
    if (strings) return add_words(std::move(values), std::move(mask), std::move(column));
    column.value_type = values.boolean ? ValueType::u8 : wider(values.type);
    if (values.boolean) column.meaning.kind = MeaningKind::boolean;
    column.meaning.missing =
        values.boolean ? missing_mark(MeaningKind::boolean) : usual_mark(column.value_type);
    put(std::move(column), {nullptr, std::move(values), std::move(mask)});
  }
  void add_words(Vector strings, Vector mask, Column column) {
    const std::uint64_t rows = strings.items.size;
    auto words =
        std::make_shared<const Strings>(file_, column.label, std::move(strings), std::move(mask));
    put_words(rows, std::move(words), MeaningKind::text, std::move(column));
  }
  void put_words(std::uint64_t rows, std::shared_ptr<const LazyWords> words, MeaningKind kind,
                 Column column) {
    const bool ordered = column.meaning.ordered;
    column.meaning = meaning_of_text(words);
    column.meaning.kind = kind;
    column.meaning.ordered = ordered;
    column.value_type = ValueType::u32;
    put(std::move(column), {std::move(words)}, rows);
  }
  void put(Column column, TableState::Cells cells) {
    const std::uint64_t rows = cells.numbers.items.size;
    put(std::move(column), std::move(cells), rows);
  }
  void put(Column column, TableState::Cells cells, std::uint64_t rows) {
    if (!schema_.columns.empty() && rows != schema_.rows) {
      fail("column '" + column.label + "' has " + counted(rows, "row") + ", not " +
           std::to_string(schema_.rows));
    }
    schema_.rows = rows;
    schema_.columns.push_back(std::move(column));
    state->columns.push_back(std::move(cells));
  }

  const std::string file_;
  const Objects& objects_;
  const std::string& path_;
  std::string words_;  // where those of categories are, with a slash; "": beside their codes
  Schema& schema_;
};

}  // namespace

void read_table(const Store& store, const Entry& e, const Part& part, const Target& out) {
  for (std::uint64_t c = part.cols.begin; c < part.cols.end; ++c) {
    const TableState::Cells& column = store.state<TableState>().columns[e.pos.cx + c];
    Target to = out;
    to.data = out.cell(0, c - part.cols.begin);
    if (column.words != nullptr) {
      read_codes(store, e, *column.words, {part.rows, {c, c + 1}}, to);
      continue;
    }
    const std::size_t size = size_of(e.value_type);
    const Array<std::byte> cells =
        numbers_of(store, e, column, {e.pos.rx + part.rows.begin, e.pos.rx + part.rows.end});
    const std::size_t done = convert_cells(e.value_type, cells.data(), size, to.type, to.data,
                                           to.row_step, part.rows.size());
    if (done < part.rows.size()) {
      fail_misfit(store, e, {part.rows.begin + done, c}, cells.data() + done * size, to.type);
    }
  }
}

std::shared_ptr<Store> open_table(std::shared_ptr<ByteSource> file, const Objects& objects,
                                  const std::string& path, Schema schema, const Driver& driver) {
  TableReader table(file->name(), objects, path, schema);
  EntryTable blocks = blocks_of(schema, {kStrip, 1}, file->name(), "the table " + path);
  auto store = detail::make_store(std::move(file), std::move(schema), std::move(blocks), driver,
                                  std::move(table.state));
  store->set_note(std::move(table.left_out));
  return store;
}

}  // namespace dapple::detail::arrays
