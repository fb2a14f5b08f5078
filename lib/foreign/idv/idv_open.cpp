#include <string>
#include <utility>

#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_primitives.h"
#include "lib/foreign/idv/idv_state.h"
#include "lib/foreign/idv/idv_values.h"

namespace dapple::detail::idv {
namespace {

using Shared = std::shared_ptr<const Contents>;

/// Makes index entries from lookup tables of columns that all have as many rows per block.
class LookupEntries final : public EntryMaker {
 public:
  LookupEntries(std::shared_ptr<ByteSource> file, Shared contents)
      : file_(std::move(file)), contents_(std::move(contents)) {}

  Entry make(std::uint64_t number) const override {
    const auto& strips = contents_->strips;
    const Strip& strip = strips[number % strips.size()];
    const std::uint64_t band = number / strips.size();
    return entry_of(*file_, *contents_, strip, band * contents_->toc[strip.column].block_rows);
  }

 private:
  std::shared_ptr<ByteSource> file_;
  Shared contents_;
};

/// ML.NET cuts all columns at the same rows. The format does not ask for it; where they differ,
/// all entries are made at once.
BlockIndex make_index(const std::shared_ptr<ByteSource>& file, const Shared& contents,
                      const Schema& schema) {
  if (schema.rows == 0 || schema.cols == 0) return {};
  const auto block_rows = [&](const Strip& strip) {
    return contents->toc[strip.column].block_rows;
  };
  const std::uint64_t rows = block_rows(contents->strips.front());
  BlockIndex::Bands bands{schema.rows, schema.cols, static_cast<std::uint32_t>(rows), {}};
  bool equal = true;
  for (const Strip& strip : contents->strips) {
    bands.col_starts.push_back(strip.begin);
    equal &= block_rows(strip) == rows;
  }
  if (equal) {
    return BlockIndex::on_demand(std::move(bands), std::make_unique<LookupEntries>(file, contents));
  }
  EntryTable entries;
  for (const Strip& strip : contents->strips) {
    for (std::uint64_t row = 0; row < schema.rows; row += block_rows(strip)) {
      entries.push_back(entry_of(*file, *contents, strip, row));
    }
  }
  return BlockIndex::from_entries(std::move(entries), schema.rows, schema.cols, file->name());
}

/// How the first block of a matrix is stored, as a hint for the whole. Its lookup entry is not
/// checked here: a damaged one is of no concern to those who read other blocks.
Storage storage_of(const ByteSource& file, const Contents& contents) {
  const Strip& strip = contents.strips.front();
  const TocColumn& column = contents.toc[strip.column];
  if (contents.header.rows == 0) return Storage::dense;
  const std::uint64_t rows = rows_of_block(contents.header, column, 0);
  const std::uint64_t cells = rows * column.codec.size;
  const auto inflated = load_le<std::uint32_t>(file.at(column.lookup_offset + 12, 4));
  const auto dense = vector_head_bytes(rows) + *item_bytes(*column.codec.item, cells);
  return cells > kMaxInt || inflated != dense ? Storage::csr : Storage::dense;
}

/// What is not in the object although it is in the file.
class Notes {
 public:
  /// Adds `reason` and the columns, if there are any.
  void add(std::string_view reason, const std::vector<std::string>& columns) {
    constexpr std::size_t kMostNamed = 8;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i == kMostNamed) {
        note_ += " and " + std::to_string(columns.size() - i) + " others";
        break;
      }
      note_ += i > 0 ? ", " : (note_.empty() ? "" : "; ") + std::string(reason) + ": ";
      note_ += columns[i];
    }
  }
  std::string take() { return std::move(note_); }

 private:
  std::string note_;
};

std::string note_on(const Columns& columns, const std::vector<TocColumn>& toc) {
  const auto typed = [](const TextColumn& column) {
    return "column \"" + column.label + "\" of " + column.type;
  };
  std::vector<std::string> unreadable, dropped, hidden, lost;
  for (const TextColumn& column : columns.texts) {
    if (!column.readable) unreadable.push_back(typed(column));
  }
  for (const TextColumn& column : columns.dropped) dropped.push_back(typed(column));
  for (const std::uint32_t number : columns.hidden) {
    hidden.push_back("column " + std::to_string(number) + " \"" + toc[number].name + '"');
  }
  if (columns.lost_names) lost.push_back(*columns.lost_names);
  Notes notes;
  notes.add("left out, as nobody can read them", unreadable);
  notes.add("left out, as a frame has no place for them", dropped);
  notes.add("left out, as later columns of the same name hide them", hidden);
  notes.add("the names of the slots are damaged", lost);
  return notes.take();
}

}  // namespace

Match recognise_idv(const Probe& probe) {
  if (is_idv(probe.head)) return Match::by_content;
  return probe.extension == ".idv" ? Match::by_name : Match::no;
}

std::shared_ptr<const Store> open_idv(std::shared_ptr<ByteSource> file,
                                      const OpenOptions& options) {
  auto contents = std::make_shared<Contents>();
  contents->header = read_header(*file);
  contents->toc = read_toc(*file, contents->header);
  Columns columns =
      choose_columns(file, contents->header, contents->toc, read_options(options.format_options));
  contents->strips = std::move(columns.strips);
  if (columns.schema.kind == ObjectKind::matrix) {
    columns.schema.storage = storage_of(*file, *contents);
  }
  BlockIndex index = make_index(file, contents, columns.schema);
  std::string note = note_on(columns, contents->toc);
  auto state =
      std::make_unique<State>(contents, std::move(columns.texts), std::move(columns.text_column));
  auto store = std::make_shared<Store>(std::move(file), std::move(columns.schema), std::move(index),
                                       kDriver, std::move(state));
  store->set_note(std::move(note));
  return store;
}

}  // namespace dapple::detail::idv
