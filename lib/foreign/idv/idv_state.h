// What an opened .idv file needs beyond schema and index.
#pragma once

#include <memory>
#include <vector>

#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_columns.h"
#include "lib/object/store.h"

namespace dapple::detail::idv {

extern const detail::Driver kDriver;

/// The file's own description of its columns; never changes after opening.
struct Contents {
  Header header;
  std::vector<TocColumn> toc;
  std::vector<Strip> strips;
};

/// The strip that holds a column of the object.
const Strip& strip_of(const Contents& contents, std::uint64_t col) noexcept;

/// True for a column of the object, the first part of items of this type, that holds times as the
/// file's ticks, numbers without a meaning.
bool is_ticks(const Schema& schema, std::uint64_t col, const ItemType& item) noexcept;

/// What the index says of the block of a strip that starts at `row`. Throws corrupt.
Entry entry_of(const ByteSource& file, const Contents& contents, const Strip& strip,
               std::uint64_t row);

class State final : public DriverState {
 public:
  State(std::shared_ptr<const Contents> contents, std::vector<TextColumn> texts,
        std::vector<std::uint32_t> text_column)
      : contents_(std::move(contents)),
        texts_(std::move(texts)),
        text_column_(std::move(text_column)) {}

  const Contents& contents() const noexcept { return *contents_; }

  /// The column of the file that is this text column.
  const TocColumn& text_column(std::uint64_t k) const { return contents_->toc[text_column_[k]]; }

  std::span<const TextColumn> text_columns() const noexcept override { return texts_; }
  void read_text(const Store& store, std::size_t k, Range rows,
                 const TakeText& take) const override;
  std::vector<Detail> details(const Store& store) const override;

 private:
  std::shared_ptr<const Contents> contents_;
  std::vector<TextColumn> texts_;
  std::vector<std::uint32_t> text_column_;  // of the file, for each of texts_
};

/// `Driver::is_recoded` and `recode`: compressed blocks are inflated, and kept for the next time.
bool is_compressed(const Store& store, const Entry& entry);
HeldBytes inflate_entry(const Store& store, const Entry& entry);

/// The bytes of a block. `whole`: all of it is read now, so that none of it is kept. Throws
/// corrupt.
BlockBytes block_of(const Store& store, const Entry& entry, bool whole);

}  // namespace dapple::detail::idv
