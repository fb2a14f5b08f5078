#include "lib/foreign/idv/idv_columns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_values.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::idv {

std::vector<std::uint32_t> hidden_columns(const std::vector<TocColumn>& toc) {
  std::set<std::string_view> later;
  std::vector<std::uint32_t> hidden;
  for (auto i = static_cast<std::uint32_t>(toc.size()); i-- > 0;) {
    if (toc[i].alive() && !later.insert(toc[i].name).second) hidden.push_back(i);
  }
  std::reverse(hidden.begin(), hidden.end());
  return hidden;
}

namespace {

/// The most that the labels of a vector's slots take: a label is the column's name and a number,
/// where the slot has no name.
std::uint64_t label_bytes(const TocColumn& column) {
  constexpr std::uint64_t kNumber = 8;
  return column.codec.size * parts_of(*column.codec.item).size() * (column.name.size() + kNumber);
}

/// Puts the columns of an object together, one column of the file after the other.
class Collector {
 public:
  /// `drop`: columns that can only be shown are left out.
  Collector(const std::shared_ptr<ByteSource>& file, const Header& header,
            const std::vector<TocColumn>& toc, bool drop = false)
      : file_(file), header_(header), toc_(toc), drop_(drop), room_(header) {
    for (const std::uint32_t number : hidden_columns(toc)) hidden_.insert(number);
    columns_.schema.kind = ObjectKind::frame;
    columns_.schema.rows = header.rows;
  }

  /// The frame's columns of a column of the file; as a text column what is too wide.
  void add_cells(std::uint32_t number) {
    const TocColumn& column = toc_[number];
    const bool vector = column.codec.vector;
    const std::uint64_t slots = vector ? column.codec.size : 1;
    const auto parts = parts_of(*column.codec.item);
    if (vector) {
      if (slots > kMostSlots - slots_) return add_text(number);
      if (label_bytes(column) > kMostLabelBytes - label_bytes_) return add_text(number);
      slots_ += slots;
      label_bytes_ += label_bytes(column);
    }
    // Who names a column again is given it again, whatever its metadata takes.
    MetadataRoom again(header_);
    const bool first = read_.insert(number).second;
    MetadataRoom& room = first ? room_ : again;
    std::vector<MetadataEntry> metadata;
    if (vector || column.codec.key_count > 0) {
      metadata = read_metadata_table(*file_, header_, column, room);
    }
    const auto names = read_slot_names(*file_, column, metadata, room);
    const auto slot_names = list_names(names, slots);
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      const ColumnCells cells = cells_of(file_, header_, column, metadata, part);
      add_strip(number, part, 0, static_cast<std::uint32_t>(slots));
      columns_.strips.back().scale = cells.scale;
      columns_.strips.back().texts = cells.texts;
      std::shared_ptr<const ColumnGroup> group;
      if (vector) {
        group = std::make_shared<ColumnGroup>(
            ColumnGroup{name_of(number) + std::string(parts[part].suffix), slots, slot_names});
      }
      for (std::uint64_t slot = 0; slot < slots; ++slot) {
        const auto named = names.find(slot);
        if (named != names.end()) slots_named_.push_back({columns_.schema.columns.size(), number});
        std::string label = named != names.end() ? named->second : name_of(number);
        if (vector && named == names.end()) label += '.' + std::to_string(slot);
        label += parts[part].suffix;
        columns_.schema.columns.push_back(
            {std::move(label), parts[part].value_type, cells.meaning, group, slot});
      }
    }
  }

  void add_matrix(std::uint32_t number) {
    const ValueCodec& codec = toc_[number].codec;
    columns_.schema.kind = ObjectKind::matrix;
    columns_.schema.value_type = parts_of(*codec.item)[0].value_type;
    add_strip(number, 0, 0, static_cast<std::uint32_t>(codec.size));
    auto group = std::make_shared<ColumnGroup>(ColumnGroup{toc_[number].name, codec.size});
    try {
      if (codec.size <= kMostSlots) {
        const auto metadata = read_metadata_table(*file_, header_, toc_[number], room_);
        group->slot_names =
            list_names(read_slot_names(*file_, toc_[number], metadata, room_), codec.size);
      }
    } catch (const Error& e) {
      if (e.code() != Errc::corrupt) throw;
      columns_.lost_names = e.detail();  // no reason to withhold the cells
    }
    columns_.schema.group = std::move(group);
  }

  /// A column that can only be shown, or not even that.
  void add_text(std::uint32_t number) {
    const TocColumn& column = toc_[number];
    const bool known = column.codec.known();
    std::string type = type_text(column.codec);
    if (known && !column.alive()) {
      type += ", compression " + compression_text(column.compression);
    }
    auto& texts = drop_ ? columns_.dropped : columns_.texts;
    texts.push_back({name_of(number), std::move(type), columns_.schema.cols, column.alive()});
    if (!drop_) columns_.text_column.push_back(number);
  }

  /// One column that another collection has.
  void add_column(const Columns& from, std::uint64_t col) {
    for (const Strip& strip : from.strips) {
      if (col < strip.begin || col - strip.begin >= strip.width) continue;
      add_strip(strip.column, strip.part, strip.first_slot + (col - strip.begin), 1);
      columns_.strips.back().scale = strip.scale;
      columns_.strips.back().texts = strip.texts;
      columns_.schema.columns.push_back(from.schema.columns[col]);
    }
  }

  void add(std::uint32_t number) {
    if (toc_[number].alive() && toc_[number].codec.cells()) {
      add_cells(number);
    } else {
      add_text(number);
    }
  }

  /// Labels of slots that other columns have too are told apart by their column's name in front.
  Columns take() {
    auto& columns = columns_.schema.columns;
    std::unordered_map<std::string, std::uint32_t> seen;
    if (!slots_named_.empty()) {
      for (const Column& column : columns) ++seen[column.label];
    }
    for (const NamedSlot& slot : slots_named_) {
      std::string& label = columns[slot.col].label;
      if (seen.at(label) > 1) label = name_of(slot.column) + '.' + label;
    }
    return std::move(columns_);
  }

 private:
  /// A column of the object with the name of its slot for a label.
  struct NamedSlot {
    std::uint64_t col;
    std::uint32_t column;  // of the file
  };

  /// The column's name; of a hidden one, with its place in the file.
  std::string name_of(std::uint32_t number) const {
    const std::string& name = toc_[number].name;
    if (!hidden_.contains(number)) return name;
    return name + " (hidden " + std::to_string(number) + ')';
  }

  static std::shared_ptr<const Dictionary> list_names(
      const std::map<std::uint64_t, std::string>& names, std::uint64_t slots) {
    if (names.empty()) return nullptr;
    std::vector<std::string> list(slots);
    for (const auto& [slot, name] : names) list[slot] = name;
    return listed_dictionary(std::move(list));
  }

  void add_strip(std::uint32_t column, std::uint32_t part, std::uint64_t first_slot,
                 std::uint32_t width) {
    columns_.strips.push_back({column, part, first_slot, columns_.schema.cols, width});
    columns_.schema.cols += width;
  }

  const std::shared_ptr<ByteSource>& file_;
  const Header& header_;
  const std::vector<TocColumn>& toc_;
  bool drop_;
  std::set<std::uint32_t> hidden_;
  Columns columns_;
  MetadataRoom room_;
  std::vector<NamedSlot> slots_named_;
  std::set<std::uint32_t> read_;   // columns whose metadata took of it
  std::uint64_t slots_ = 0;        // of vectors
  std::uint64_t label_bytes_ = 0;  // and of their labels
};

/// A vector of numbers that a matrix can be made of. Keys and truth values are a frame, which says
/// what they mean, unless they are too many for one.
bool is_matrix(const TocColumn& column) {
  const ValueCodec& codec = column.codec;
  if (!column.alive() || !codec.numeric() || !codec.vector) return false;
  if (parts_of(*codec.item).size() != 1) return false;
  const bool numbers = codec.key_count == 0 && codec.item->title != "Boolean";
  return numbers || codec.size > kMostSlots || label_bytes(column) > kMostLabelBytes;
}

/// The last column of that name, which hides those before it; one that can be read, if any can.
std::optional<std::uint32_t> find_named(const std::vector<TocColumn>& toc,
                                        const std::string& name) {
  std::optional<std::uint32_t> dead;
  for (auto i = static_cast<std::uint32_t>(toc.size()); i-- > 0;) {
    if (toc[i].name != name) continue;
    if (toc[i].alive()) return i;
    if (!dead) dead = i;
  }
  return dead;
}

/// All but those in `hidden`.
std::vector<std::uint32_t> visible_columns(const std::vector<TocColumn>& toc,
                                           const std::vector<std::uint32_t>& hidden) {
  std::vector<std::uint32_t> visible;
  for (std::uint32_t i = 0; i < toc.size(); ++i) {
    if (!std::binary_search(hidden.begin(), hidden.end(), i)) visible.push_back(i);
  }
  return visible;
}

/// The columns of the file of these names, or nothing when one is none of them.
std::optional<std::vector<std::uint32_t>> named_columns(const std::vector<TocColumn>& toc,
                                                        const std::vector<std::string>& names) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names) {
    const auto number = find_named(toc, name);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

[[noreturn]] void fail_dead(const ByteSource& file, const TocColumn& column) {
  throw Error(Errc::unsupported, file.name(), std::nullopt,
              "column \"" + column.name + "\" cannot be read: " +
                  (column.codec.known() ? "unknown compression" : type_text(column.codec)));
}

/// A frame of names that are, in part, labels of single columns of the frame of the whole file.
Columns columns_by_label(const std::shared_ptr<ByteSource>& file, const Header& header,
                         const std::vector<TocColumn>& toc, const std::vector<std::string>& names) {
  Collector whole(file, header, toc);
  for (const std::uint32_t i : visible_columns(toc, hidden_columns(toc))) whole.add(i);
  const Columns all = whole.take();
  Collector chosen(file, header, toc);
  for (const std::string& name : names) {
    if (const auto number = find_named(toc, name)) {
      if (!toc[*number].alive()) fail_dead(*file, toc[*number]);
      chosen.add(*number);
      continue;
    }
    std::uint64_t col = all.schema.columns.size();
    while (col > 0 && all.schema.columns[col - 1].label != name) --col;
    if (col == 0) {
      throw Error(Errc::absent, file->name(), std::nullopt, "no column \"" + name + '"');
    }
    chosen.add_column(all, col - 1);
  }
  return chosen.take();
}

}  // namespace

Columns choose_columns(const std::shared_ptr<ByteSource>& file, const Header& header,
                       const std::vector<TocColumn>& toc, const Options& options) {
  const bool everything = options.columns.empty();
  const bool drop = everything && options.drop_unsupported;
  std::vector<std::uint32_t> hidden;
  if (everything && !options.keep_hidden) hidden = hidden_columns(toc);
  const auto numbers =
      everything ? visible_columns(toc, hidden) : named_columns(toc, options.columns);
  if (!numbers) return columns_by_label(file, header, toc, options.columns);
  std::vector<std::uint32_t> alive;
  for (const std::uint32_t number : *numbers) {
    if (toc[number].alive()) {
      if (!drop || toc[number].codec.cells()) alive.push_back(number);
    } else if (!everything) {
      fail_dead(*file, toc[number]);
    }
  }
  Collector collector(file, header, toc, drop);
  if (alive.size() == 1 && is_matrix(toc[alive[0]])) {
    collector.add_matrix(alive[0]);
    for (const std::uint32_t number : *numbers) {
      if (number != alive[0]) collector.add_text(number);
    }
  } else {
    for (const std::uint32_t number : *numbers) collector.add(number);
  }
  Columns columns = collector.take();
  columns.hidden = std::move(hidden);
  return columns;
}

}  // namespace dapple::detail::idv
