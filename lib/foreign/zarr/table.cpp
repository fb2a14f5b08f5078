#include "lib/foreign/zarr/nodes.h"

#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/arrays/encoding.h"
#include "lib/object/dictionary.h"
#include "lib/object/lazy_words.h"
#include "lib/object/misfit.h"

namespace dapple::detail::zarr {

namespace {

constexpr std::uint64_t kStrip = 1 << 18;  // rows of a block

using Data = std::shared_ptr<const ArrayData>;

std::uint32_t add_word(const ArrayData& data, WordTable& words, const std::string& word) {
  if (!is_utf8(word)) data.fail(data.path(), "the string " + shown(word) + " is not UTF-8");
  return words.add(word);
}

/// A column of strings, which are missing where the mask, if there is one, is not 0.
class Strings final : public LazyWords {
 public:
  Strings(Data data, Data mask) : data_(std::move(data)), mask_(std::move(mask)) {}

 protected:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override {
    Array<std::byte> missing(mask_ == nullptr ? 0 : mask_->rows());
    if (mask_ != nullptr) mask_->read({0, mask_->rows()}, missing.data());
    for (const std::string& word : data_->read_words()) {
      const bool none = mask_ != nullptr && missing[codes.size()] != std::byte{0};
      codes.push_back(none ? 0 : add_word(*data_, words, word));
    }
  }

 private:
  Data data_, mask_;
};

/// A column of codes of a list of strings; -1 is missing.
class Categories final : public LazyWords {
 public:
  Categories(Data codes, Data words) : codes_(std::move(codes)), words_(std::move(words)) {}

 protected:
  void read_all(WordTable& words, std::vector<std::uint32_t>& codes) const override {
    for (const std::string& word : words_->read_words()) {
      const std::uint64_t before = words.size();
      if (add_word(*words_, words, word) <= before) {
        words_->fail(words_->path(), "the category " + shown(word) + " is there twice");
      }
    }
    const std::size_t size = size_of(codes_->type());
    Array<std::byte> stored(codes_->rows() * size);
    codes_->read({0, codes_->rows()}, stored.data());
    std::vector<std::int64_t> wide(codes_->rows());
    const std::size_t done =
        convert_cells(codes_->type(), stored.data(), size, ValueType::i64,
                      reinterpret_cast<std::byte*>(wide.data()), sizeof wide[0], wide.size());
    codes.reserve(wide.size());
    for (const std::int64_t code : wide) {
      if (done < wide.size() || code < -1 || code >= static_cast<std::int64_t>(words.size())) {
        codes_->fail(codes_->path(), "code " + std::to_string(code) + " of row " +
                                         std::to_string(codes.size()) + " has no category");
      }
      codes.push_back(static_cast<std::uint32_t>(code + 1));
    }
  }

 private:
  Data codes_, words_;
};

struct TableState final : DriverState {
  struct Cells {
    Data numbers;  // or
    std::shared_ptr<const LazyWords> words;
    Data mask = nullptr;  // of numbers that may be missing
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
  Array<std::byte> missing(rows.size());
  column.mask->read(rows, missing.data());
  for (std::size_t row = 0; row < missing.size(); ++row, cells += size) {
    if (missing[row] != std::byte{0}) {
      store_bits(e.value_type, cells, mark);
    } else if (load_bits(e.value_type, cells) == mark) {
      throw Error(Errc::unsupported, column.numbers->path(), std::nullopt,
                  "row " + std::to_string(rows.begin + row) + " of column " +
                      shown(described.label) +
                      " holds the number that marks missing cells when it is read");
    }
  }
}

/// The cells of a column of numbers, in the type of the block.
Array<std::byte> numbers_of(const Store& store, const Entry& e, const TableState::Cells& column,
                            Range rows) {
  const ValueType stored = column.numbers->type();
  Array<std::byte> cells(rows.size() * size_of(stored));
  column.numbers->read(rows, cells.data());
  if (column.mask == nullptr) return cells;
  Array<std::byte> wide(rows.size() * size_of(e.value_type));
  convert_cells(stored, cells.data(), size_of(stored), e.value_type, wide.data(),
                size_of(e.value_type), rows.size());
  mark_missing(store, e, column, rows, wide.data());
  return wide;
}

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

constexpr Driver kTableDriver = {.format = "zarr", .read = read_table};

/// Makes the schema and the state of a table, column by column.
class TableReader {
 public:
  TableReader(const Hierarchy& hierarchy, const Node& group)
      : hierarchy_(hierarchy), group_(group) {
    schema.kind = ObjectKind::frame;
    schema.attributes = group.for_schema();
    if (const std::string_view index = group.text("_index"); !index.empty())
      add(std::string(index));
    if (const Json* const order = group.attributes.find("column-order")) {
      for (const Json& name : order->items) add(name.text);
    }
    schema.cols = schema.columns.size();
  }
  Schema schema;
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

  void add_column(const std::string& name) {
    const auto node = hierarchy_.find(below(group_.path, checked_path(name)));
    if (!node) {
      throw Error(Errc::corrupt, group_.key, std::nullopt,
                  "the table has no column '" + name + "'");
    }
    Column column;
    column.label = name;
    if (!node->is_array) {
      const std::string_view encoding = node->text("encoding-type");
      if (encoding == "categorical") return add_category(*node, std::move(column));
      if (encoding == "nullable-string-array" || encoding == "nullable-integer" ||
          encoding == "nullable-boolean") {
        return add_masked(*node, std::move(column), encoding == "nullable-string-array");
      }
      return leave_out(name, "its encoding is '" + std::string(encoding) + "'");
    }
    Data data = open_vector(hierarchy_, group_, name);
    if (data->metadata().type.words) {
      const std::uint64_t rows = data->rows();
      return add_words(rows, std::make_shared<const Strings>(std::move(data), nullptr),
                       std::move(column));
    }
    column.value_type = data->type();
    if (data->metadata().type.boolean) column.meaning.kind = MeaningKind::boolean;
    put(data->rows(), std::move(column), {data, nullptr});
  }
  void add_category(const Node& node, Column column) {
    Data codes = open_vector(hierarchy_, node, "codes");
    Data words = open_vector(hierarchy_, node, "categories");
    if (!words->metadata().type.words) {
      return leave_out(column.label, "its categories are no strings");
    }
    const Json* const ordered = node.attributes.find("ordered");
    column.meaning.kind = MeaningKind::category;
    column.meaning.ordered = ordered != nullptr && ordered->truth;
    const std::uint64_t rows = codes->rows();
    add_words(rows, std::make_shared<const Categories>(std::move(codes), std::move(words)),
              std::move(column));
  }
  void add_masked(const Node& node, Column column, bool strings) {
    Data values = open_vector(hierarchy_, node, "values");
    Data mask = open_vector(hierarchy_, node, "mask");
    const std::uint64_t rows = values->rows();
    const CellType& type = values->metadata().type;
    if (type.words != strings || !mask->metadata().type.boolean || mask->rows() != rows) {
      throw Error(Errc::corrupt, node.key, std::nullopt,
                  "column '" + column.label + "' should have " + (strings ? "strings" : "numbers") +
                      ", and a mask of as many");
    }
    if (!strings) {
      column.value_type = type.boolean ? ValueType::u8 : wider(values->type());
      if (type.boolean) column.meaning.kind = MeaningKind::boolean;
      column.meaning.missing =
          type.boolean ? missing_mark(MeaningKind::boolean) : usual_mark(column.value_type);
      return put(rows, std::move(column), {std::move(values), nullptr, std::move(mask)});
    }
    add_words(rows, std::make_shared<const Strings>(std::move(values), std::move(mask)),
              std::move(column));
  }
  void add_words(std::uint64_t rows, std::shared_ptr<const LazyWords> words, Column column) {
    const bool category = column.meaning.kind == MeaningKind::category;
    const bool ordered = column.meaning.ordered;
    column.meaning = meaning_of_text(words);
    if (category) column.meaning.kind = MeaningKind::category;
    column.meaning.ordered = ordered;
    column.value_type = ValueType::u32;
    put(rows, std::move(column), {nullptr, std::move(words)});
  }
  void put(std::uint64_t rows, Column column, TableState::Cells cells) {
    if (!schema.columns.empty() && rows != schema.rows) {
      throw Error(Errc::corrupt, group_.key, std::nullopt,
                  "column '" + column.label + "' has " + counted(rows, "row") + ", not " +
                      std::to_string(schema.rows));
    }
    schema.rows = rows;
    schema.columns.push_back(std::move(column));
    state->columns.push_back(std::move(cells));
  }

  const Hierarchy& hierarchy_;
  const Node& group_;
};

}  // namespace

bool is_table(const Node& group) noexcept {
  return !group.is_array && group.text("encoding-type") == "dataframe";
}

void AxisNames::give_to(Schema& schema) const {
  const auto fitting = [](const ReadNames& read, std::uint64_t count) -> ReadNames {
    if (!read) return nullptr;
    return [read, count] {
      auto names = read();
      return names != nullptr && names->size() == count ? names : nullptr;
    };
  };
  schema.row_names = fitting(rows, schema.rows);
  schema.col_names = fitting(cols, schema.cols);
}

AxisNames names_beside(const std::shared_ptr<const Hierarchy>& hierarchy, std::string_view path) {
  const auto index_of = [&](std::string_view table) -> ReadNames {
    if (table.empty()) return nullptr;
    return read_once([hierarchy, table = std::string(table)]() -> std::shared_ptr<const Names> {
      const auto group = hierarchy->find(table);
      if (!group || !is_table(*group)) return nullptr;
      const std::string name(group->text("_index"));
      auto index =
          name.empty() ? std::nullopt : hierarchy->find(below(group->path, checked_path(name)));
      if (!index) return nullptr;
      const Data words = index->is_array ? open_vector(*hierarchy, *group, name)
                                         : open_vector(*hierarchy, *index, "values");
      if (!words->metadata().type.words) return nullptr;
      NamesBuilder names;
      for (const std::string& word : words->read_words()) names.add(word);
      return names.finish();
    });
  };
  const auto tables = arrays::tables_of(path);
  return {index_of(tables[0]), index_of(tables[1])};
}

std::shared_ptr<Store> open_table(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                  const Node& group) {
  TableReader table(hierarchy, group);
  EntryTable blocks =
      arrays::blocks_of(table.schema, {kStrip, 1}, file->name(), "the table " + group.path);
  auto store = make_store(std::move(file), std::move(table.schema), std::move(blocks), kTableDriver,
                          std::move(table.state));
  store->set_note(std::move(table.left_out));
  return store;
}

}  // namespace dapple::detail::zarr
