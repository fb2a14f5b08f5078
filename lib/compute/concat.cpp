#include "dapple/concat.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/compute/concat_columns.h"
#include "lib/compute/concat_driver.h"
#include "lib/object/groups.h"
#include "lib/object/make_object.h"
#include "lib/object/store.h"

namespace dapple {

namespace detail {

namespace {

/// What the columns of matrices that follow each other by rows are called. Throws invalid_argument
/// when they are called differently.
std::shared_ptr<const ColumnGroup> merge_names(std::shared_ptr<const ColumnGroup> before,
                                               const Store& store) {
  const auto& next = store.schema().group;
  if (next == nullptr || next->slot_names == nullptr) return before != nullptr ? before : next;
  if (before == nullptr || before->slot_names == nullptr) return next;
  if (!same_words(before->slot_names.get(), next->slot_names.get())) {
    fail_piece(store, Errc::invalid_argument,
               "the columns of this matrix have other names than those of the matrices before");
  }
  return before;
}

/// The names of rows of objects beside each other, or of columns of objects below each other, which
/// must not differ. Throws invalid_argument.
template <class Which>
ReadNames agreed_names(const std::vector<Piece>& pieces, const Which& which, const char* what) {
  ReadNames agreed;
  std::shared_ptr<const Names> known;
  for (const Piece& piece : pieces) {
    const ReadNames own = which(piece.store->schema());
    const auto names = own ? own() : nullptr;
    if (names == nullptr) continue;
    if (known == nullptr) {
      known = names;
      agreed = own;
    } else if (!same_names(*known, *names)) {
      fail_piece(*piece.store, Errc::invalid_argument,
                 std::string("the ") + what + " have other names than those of the objects before");
    }
  }
  return agreed;
}

/// The names of the rows and columns of the whole. Where a piece has none for those that it adds,
/// they have the name "".
void merge_own_names(const std::vector<Piece>& pieces, Axis axis, Schema& all) {
  const bool down = axis == Axis::rows;
  std::vector<NamedPart> parts;
  for (const Piece& piece : pieces) {
    const Schema& one = piece.store->schema();
    parts.push_back(down ? NamedPart{one.row_names, one.rows}
                         : NamedPart{one.names_of_columns(), one.cols});
  }
  (down ? all.row_names : all.col_names) = join_names(std::move(parts));
  if (!down) {
    all.row_names = agreed_names(
        pieces, [](const Schema& one) { return one.row_names; }, "rows");
    return;
  }
  const auto has_own = [](const Piece& piece) {
    return piece.store->schema().read_col_names() != nullptr;
  };
  all.col_names = nullptr;  // slots alone are those of the group
  if (std::any_of(pieces.begin(), pieces.end(), has_own)) {
    const auto names = [](const Schema& one) { return one.names_of_columns(); };
    all.col_names = agreed_names(pieces, names, "columns");
  }
}

/// Tells of attributes that others than the first have, since those of the first are kept.
void note_attributes(const std::vector<Piece>& pieces, const TakeNote& note) {
  const std::string kept = pieces.front().store->schema().read_attributes();
  for (const Piece& piece : pieces) {
    const std::string json = piece.store->schema().read_attributes();
    if (json.empty() || json == kept) continue;
    note("the attributes are those of the first, " + pieces.front().store->known_as() + "; " +
         piece.store->known_as() + " has others");
    return;
  }
}

/// Places the pieces along the axis and merges what they say of themselves.
Schema merge_schemas(std::vector<Piece>& pieces, Axis axis, const ConcatOptions& options) {
  for (const Piece& piece : pieces) {
    if (!piece.store->text_columns().empty()) {
      fail_piece(*piece.store, Errc::unsupported,
                 "column " + shown(piece.store->text_columns().front().label) +
                     " can only be shown, not put together",
                 "idv.drop_unsupported");
    }
  }
  Schema all = pieces.front().store->schema();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    const Store& store = *piece.store;
    const Schema& next = store.schema();
    if (next.kind != all.kind) {
      fail_piece(store, Errc::invalid_argument,
                 "a matrix and a frame cannot be put together; this is a " +
                     std::string(next.kind == ObjectKind::frame ? "frame" : "matrix"));
    }
    std::uint64_t Schema::*along = axis == Axis::rows ? &Schema::rows : &Schema::cols;
    std::uint64_t Schema::*across = axis == Axis::rows ? &Schema::cols : &Schema::rows;
    if (next.*across != all.*across) {
      fail_piece(store, Errc::invalid_argument,
                 "has " + counted(next.*across, axis == Axis::rows ? "column" : "row") +
                     " where the others have " + std::to_string(all.*across));
    }
    (axis == Axis::rows ? piece.first_row : piece.first_col) = all.*along;
    if (next.*along > std::numeric_limits<std::uint64_t>::max() - all.*along) {
      fail_piece(store, Errc::invalid_argument, "more than 2^64 rows or columns in all");
    }
    all.*along += next.*along;
    if (all.kind == ObjectKind::matrix) {
      all.value_type = common_type(all.value_type, next.value_type);
      if (next.storage == Storage::dense) all.storage = Storage::dense;
      all.group = axis == Axis::rows ? merge_names(all.group, store) : nullptr;
    } else if (axis == Axis::columns) {
      all.columns.insert(all.columns.end(), next.columns.begin(), next.columns.end());
    }
  }
  if (all.kind == ObjectKind::matrix) {
    for (Piece& piece : pieces) {
      Recode recode;
      recode.rounds = rounding(piece.store->schema().value_type, all.value_type, options);
      if (recode.rounds) piece.recode = {std::move(recode)};
    }
  }
  if (all.kind != ObjectKind::frame || axis != Axis::rows) return all;
  std::vector<const Store*> stores;
  for (Piece& piece : pieces) {
    stores.push_back(piece.store.get());
    piece.recode.resize(all.columns.size());
  }
  WordJoins joins;
  for (std::size_t c = 0; c < all.columns.size(); ++c) {
    std::vector<Recode> recode(pieces.size());
    all.columns[c] = merge_column(stores, c, options, joins, recode);
    for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].recode[c] = std::move(recode[i]);
  }
  return all;
}

/// Says of a block what it holds in the whole, where numbers of its columns become others: cells
/// that it does not store too, if zero does not stay zero.
void recode_entry(const Piece& piece, const Schema& whole, Entry& entry) {
  const std::vector<Recode>& recode = piece.recode;
  bool fills_zeros = false;
  for (std::uint64_t c = entry.pos.cx; c < recode.size() && c - entry.pos.cx < entry.cols; ++c) {
    if (recode[c].keeps()) continue;
    entry.value_type = common_type(entry.value_type, whole.type_of(c));
    fills_zeros = fills_zeros || !recode[c].keeps_zero();
  }
  if (entry.kind == BlockKind::dense || !fills_zeros) return;
  entry.kind = BlockKind::dense;
  entry.stored = std::uint64_t{entry.rows} * entry.cols;
}

EntryTable move_entries(const std::vector<Piece>& pieces, const Schema& whole) {
  EntryTable entries;
  std::uint64_t n = 0;
  for (const Piece& piece : pieces) n += piece.store->index().size();
  entries.reserve(n);
  for (const Piece& piece : pieces) {
    const BlockIndex& index = piece.store->index();
    piece.store->require_whole_index();
    for (std::uint64_t i = 0; i < index.size(); ++i) {
      Entry entry = index.entry(i);
      recode_entry(piece, whole, entry);
      entry.pos.rx += piece.first_row;
      entry.pos.cx += piece.first_col;
      entry.offset = i;
      entry.bytes = entry.hash = 0;
      entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace

std::shared_ptr<const Store> store_of(std::vector<Piece> pieces, Schema schema, Axis axis) {
  const auto file = pieces.front().store->shared_file();
  BlockIndex index = BlockIndex::from_entries(move_entries(pieces, schema), schema.rows,
                                              schema.cols, file->name());
  const Driver& driver = concat_driver(pieces, schema.kind == ObjectKind::frame);
  auto state = std::make_unique<ConcatState>();
  state->axis = axis;
  state->pieces = std::move(pieces);
  return std::make_shared<const Store>(file, std::move(schema), std::move(index), driver,
                                       std::move(state));
}

}  // namespace detail

std::variant<Matrix, Frame> concat(std::span<const std::variant<Matrix, Frame>> parts, Axis axis,
                                   const ConcatOptions& options) {
  if (parts.empty()) throw Error(Errc::invalid_argument, "there is nothing to put together");
  std::vector<detail::Piece> pieces;
  for (const auto& part : parts) {
    pieces.push_back(
        {std::visit([](const BlockedObject& o) { return o.share(); }, part), 0, 0, {}});
  }
  detail::Schema schema = detail::merge_schemas(pieces, axis, options);
  detail::merge_own_names(pieces, axis, schema);
  if (options.note) detail::note_attributes(pieces, options.note);
  return detail::make_object(detail::store_of(std::move(pieces), std::move(schema), axis));
}

}  // namespace dapple
