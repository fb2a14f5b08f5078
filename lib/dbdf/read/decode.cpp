// Decoding the blocks of dbdf files, and comparing index entries with the blocks they point to.

#include <algorithm>
#include <vector>

#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/decode_sparse.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/row_directory.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/hash.h"
#include "lib/object/copy_rows.h"
#include "lib/object/fill.h"

namespace dapple::detail::dbdf {

namespace {

[[noreturn, gnu::noinline]] void fail_entry(const Store& store, std::uint64_t number,
                                            const Entry& e, const std::string& what) {
  store.index().fail_entry(number, "the index entry of block " + text(e.pos) + what + "; " +
                                       std::string(store.index().remedy()));
}

[[noreturn, gnu::noinline]] void fail_unlike(const Store& store, std::uint64_t number,
                                             const Entry& e) {
  // A fresh sidecar means that the file has not changed, so it is the sidecar that is wrong.
  if (store.index().origin() == IndexOrigin::sidecar) {
    fail_entry(store, number, e,
               " does not match byte " + std::to_string(e.offset) + " of " + store.file().name());
  }
  store.fail(Errc::corrupt, e.offset,
             "the block does not match its index entry, block " + text(e.pos) + "; " +
                 std::string(store.index().remedy()));
}

void confirm(const Store& store, std::uint64_t number, const Entry& e) {
  const Schema& schema = store.schema();
  confirm_block(store, number, e, {store.file(), 0, schema.rows, schema.cols});
}

void check_hash(const Store& store, const Entry& e) {
  if (e.hash == 0) return;
  const HeldBytes block = store.stored_block(e, kPosition);
  const std::uint64_t hash = xxh3(block.bytes);
  if (hash != e.hash) {
    store.fail(Errc::corrupt, e.offset,
               "the bytes of block " + text(e.pos) + " do not match their hash in the index");
  }
}

BlockIndex walk_again(const Store& store) {
  std::uint64_t body = 0;
  const Schema schema = read_header(store.file(), body);
  return scan(store.file(), body, schema).index;
}

// Of much that is read at once, no encoded block is kept: it is decoded some rows at a time, into
// memory that stays in the processor's cache. What is kept is new memory, which takes longer to get
// than to decode into.
std::uint64_t rows_at_once(const Store& store, const Entry& e, const Target& out) {
  constexpr std::uint64_t kBytes = 64 << 10;
  const std::uint64_t few = e.rows / 8;  // more are decoded as a whole block (Store::payload)
  if (e.codec == 0 || few == 0 || !out.streamed || store.blocks().fetches()) return e.rows;
  return std::clamp<std::uint64_t>(kBytes / (e.cols * size_of(e.value_type)), 1, few);
}

void read_dense(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const std::size_t size = size_of(e.value_type);
  const std::uint64_t row_bytes = std::uint64_t{e.cols} * size;
  if (part.rows.empty() || part.cols.empty()) return;
  const std::uint64_t step = rows_at_once(store, e, out);
  for (Range rows = part.rows; !rows.empty(); rows.begin += std::min(step, rows.size())) {
    const Range some{rows.begin, rows.begin + std::min(step, rows.size())};
    const HeldBytes held = store.payload(e, {some.begin * row_bytes, some.end * row_bytes});
    Target target = out;
    target.data = out.cell(some.begin - part.rows.begin, 0);
    copy_part(store, e, {some, part.cols}, held.data() + part.cols.begin * size, row_bytes, target);
  }
}

// A value must also fit its column's declared type (R6, R8), whatever it is read as. Only blocks of
// a wider type than their column have to be checked.
void require_declared(const Store& store, const Entry& e, const Part& part, ValueType read_as) {
  const Schema& schema = store.schema();
  for (std::uint64_t c = part.cols.begin; c < part.cols.end;) {
    const ValueType declared = schema.type_of(e.pos.cx + c);
    const std::uint64_t end =
        schema.end_of_type({e.pos.cx + c, e.pos.cx + part.cols.end}) - e.pos.cx;
    if (!holds_all(declared, e.value_type) && declared != read_as) {
      std::vector<std::byte> scratch((end - c) * size_of(declared));
      const Target out{scratch.data(), declared, 0, size_of(declared)};
      for (std::uint64_t r = part.rows.begin; r < part.rows.end; ++r) {
        const Part row{{r, r + 1}, {c, end}};
        if (e.kind == BlockKind::dense) read_dense(store, e, row, out);
      }
      if (e.kind != BlockKind::dense)
        require_sparse_fits(store, e, {part.rows, {c, end}}, declared);
    }
    c = end;
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  if (e.kind == BlockKind::empty) {
    fill_zero(out, part.rows.size(), part.cols.size());
    return;
  }
  require_declared(store, e, part, out.type);
  if (e.kind == BlockKind::dense) {
    read_dense(store, e, part, out);
  } else {
    read_sparse(store, e, part, out);
  }
}

PackedCounts count_packed_blocks(const Store& store) {
  const ByteSource& file = store.file();
  if (file.fetches() && &store.blocks() == &file) {
    const auto trailer = find_trailer(file, kMatrixHeader);
    if (const auto copy = trailer ? find_head_copy(file, *trailer) : std::nullopt) {
      return copy->packed;
    }
  }
  store.require_whole_index();
  return count_packed(store.index());
}

std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  return DensePlace{store.payload(e), e.cols * size_of(e.value_type)};
}

}  // namespace

Entry entry_in_file(const Entry& e, const Origin& origin) {
  const ByteSource& file = origin.file;
  const std::uint64_t start = e.offset - origin.first - kPosition;
  const std::uint64_t header = std::min<std::uint64_t>(kLongestItemHeader, file.size() - start);
  Item item;
  read_item_header(file.bytes(start, header), start, origin.rows, origin.cols, file.size() - start,
                   file.name(), item);
  if (!item.holds_cells()) item.entry.kind = kNoKind;
  return item.entry;
}

// An entry is used only if the block header that it points to says the same.
void confirm_block(const Store& store, std::uint64_t number, const Entry& e, const Origin& origin) {
  const std::uint64_t size = origin.file.size(), offset = e.offset - origin.first;
  if (e.offset < origin.first || offset < kPosition || offset > size || e.bytes > size - offset ||
      e.bytes < kBlockStart || e.pos.rx < origin.at.rx || e.pos.cx < origin.at.cx) {
    fail_entry(store, number, e, " points outside the file");
  }
  Entry found;
  try {
    found = entry_in_file(e, origin);
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt || store.index().origin() != IndexOrigin::sidecar) throw;
    fail_unlike(store, number, e);
  }
  const BlockPos pos{e.pos.rx - origin.at.rx, e.pos.cx - origin.at.cx};
  const bool same_type = e.kind == BlockKind::empty || found.value_type == e.value_type ||
                         (origin.widened && holds_all(e.value_type, found.value_type));
  if (e.kind == kNoKind || found.kind != e.kind || found.pos != pos || found.rows != e.rows ||
      found.cols != e.cols || !same_type || found.stored != e.stored || found.bytes != e.bytes ||
      found.codec != e.codec) {
    fail_unlike(store, number, e);
  }
}

const Driver kDriver = {
    .format = "dbdf",
    .sparse_in_place = true,
    .dense_header = kDenseHeader,
    .header_size = [](const Entry& e) -> std::uint64_t { return header_size(e); },
    .plain_size =
        [](const Entry& e) {
          std::uint64_t bytes = 0;  // compared with kMostDecoded when the header was read
          block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, bytes);
          return bytes - header_size(e.kind);
        },
    .confirm = confirm,
    .check_hash = check_hash,
    .walk_again = walk_again,
    .find_stats = find_statistics,
    .find_row_counts = find_row_directory,
    .count_packed = count_packed_blocks,
    .read = read,
    .in_place = in_place,
    .entries = sparse_entries,
    .csr_arrays =
        [](const Store& store, const Entry& e, Range rows, RowCursor& cursor,
           const CsrTarget& out) {
          require_declared(store, e, {rows, {0, e.cols}}, out.type);
          return csr_arrays(store, e, rows, cursor, out);
        },
    .skip_rows = skip_csr_rows,
};

}  // namespace dapple::detail::dbdf
