#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/base/parallel.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/futhark/futhark.h"
#include "lib/foreign/futhark/futhark_options.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/futhark/tokens.h"
#include "lib/foreign/text/import.h"
#include "lib/object/copy_rows.h"

namespace dapple::detail::futhark {

namespace {

/// Values that an error message lists, and that an object lists at most.
constexpr std::uint64_t kListed = 8;
constexpr std::uint64_t kKept = Store::kMostContents;

/// A column costs memory, and a vector of one element three bytes of text.
constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;

/// How the elements of one binary value are stored.
struct Layout {
  ElementType element = ElementType::i32;
  std::uint64_t row_bytes = 0;  // from one row to the next
};

struct FutharkState final : DriverState {
  std::vector<Layout> values;  // of a frame one per column; of a matrix one

  const Layout& layout(std::uint64_t col) const {
    return values.size() == 1 ? values.front() : values[col];
  }
};

/// Elements that are no cells as they are, but are made into those that follow each other.
bool is_made(ElementType element) noexcept {
  return element == ElementType::f16 || element == ElementType::boolean;
}

/// Makes the cells of `n` elements: f32 of halves, u8 of Booleans, which must be 0 or 1.
void make_cells(const Store& store, const Entry& e, ElementType element, const std::byte* block,
                std::uint64_t at, std::uint64_t n, std::byte* cells) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (element == ElementType::f16) {
      const std::byte* const half = block + at + i * sizeof(std::uint16_t);
      store_le(cells + i * sizeof(float), half_to_float(load_le<std::uint16_t>(half)));
      continue;
    }
    cells[i] = block[at + i];
    if (const auto truth = std::to_integer<unsigned>(cells[i]); truth > 1) {
      store.fail(Errc::corrupt, e.offset + at + i,
                 std::to_string(truth) + " is no bool, which is 0 or 1");
    }
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  if (!is_made(layout.element)) return read_in_place(store, e, part, out);
  const HeldBytes held = store.payload(e);
  const std::uint64_t cols = part.cols.size();
  std::uint64_t at =
      part.rows.begin * layout.row_bytes + part.cols.begin * info(layout.element).size;
  std::vector<std::byte> cells(cols * size_of(e.value_type));
  for (std::uint64_t row = part.rows.begin; row < part.rows.end; ++row, at += layout.row_bytes) {
    make_cells(store, e, layout.element, held.data(), at, cols, cells.data());
    Target target = out;
    target.data = out.cell(row - part.rows.begin, 0);
    copy_part(store, e, {{row, row + 1}, part.cols}, cells.data(), cells.size(), target);
  }
}

std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  const Layout& layout = store.state<FutharkState>().layout(e.pos.cx);
  if (is_made(layout.element)) return std::nullopt;
  return DensePlace{store.payload(e), layout.row_bytes};
}

constexpr Driver kDriver = {.format = "futhark", .read = read, .in_place = in_place};

Layout layout_of(const StreamValue& value) {
  return {value.element, value.cols() * info(value.element).size};
}

/// A piece of a text value that becomes a block.
struct TextTile {
  std::uint64_t offset;  // of its cells
  std::uint64_t row_bytes;
  Entry block;
};

/// Calls `f` with the dense blocks of a value, of that size, whose first cell is in column `col` of
/// the object, and with the bytes before each; a value has `size` bytes.
template <class F>
void for_each_block(const StreamValue& value, std::uint64_t col, const arrays::Tile& most,
                    std::uint64_t size, const F& f) {
  const std::uint64_t all_cols = value.cols();
  arrays::for_each_dense({{0, value.rows()}, {col, col + all_cols}}, most, [&](Entry e) {
    e.value_type = info(value.element).cell;
    e.bytes = ((e.rows - 1) * all_cols + e.cols) * size;
    f(e, (e.pos.rx * all_cols + e.pos.cx - col) * size);
  });
}

/// What has been decided about the object so far.
struct Opening {
  Schema schema;
  EntryTable entries;           // of binary values
  TextCells cells;              // of the others,
  std::vector<TextTile> tiles;  // and where they belong
  TileShape shape;              // of a tile
  std::unique_ptr<FutharkState> state = std::make_unique<FutharkState>();
  std::string note;
  std::vector<std::string> types;  // of the stream's values

  void add(const StreamValue& value, std::uint64_t col) {
    if (value.binary) {
      for_each_block(value, col, {arrays::kMostSide, arrays::kMostSide}, info(value.element).size,
                     [&](Entry& e, std::uint64_t before) {
                       e.offset = value.data + before;
                       entries.push_back(e);
                     });
    } else {
      const std::uint64_t size = size_of(info(value.element).cell);
      for_each_block(value, col, {value.tile_rows(), value.tile_cols()}, size,
                     [&](const Entry& e, std::uint64_t before) {
                       tiles.push_back({value.data + before, value.cols() * size, e});
                     });
    }
    state->values.push_back(layout_of(value));
    const auto side = [](std::uint64_t extent) {
      return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(extent, 1, kTileElements));
    };
    shape = {side(value.tile_rows()), side(value.tile_cols())};
  }
};

std::string note_of(const StreamValue& value) {
  std::string note;
  const auto add = [&](const std::string& part) { note += (note.empty() ? "" : "; ") + part; };
  if (value.dims.size() > 2) {
    add("a " + text(value.element, value.dims) + ": all dimensions but the last are rows");
  }
  if (is_made(value.element)) {
    add(std::string(info(value.element).name) + " is read as " +
        std::string(name(info(value.element).cell)));
  }
  return note;
}

void open_matrix(Opening& opening, const StreamValue& value) {
  opening.schema.rows = value.rows();
  opening.schema.cols = value.cols();
  opening.schema.value_type = info(value.element).cell;
  opening.note = note_of(value);
  opening.add(value, 0);
}

/// Adds one more column to a frame.
void open_column(Opening& opening, const StreamValue& value, const std::string& file) {
  Schema& schema = opening.schema;
  const std::uint64_t number = schema.cols;
  const auto fail = [&](Errc code, const std::string& detail) {
    throw Error(code, file, value.begin,
                "value " + std::to_string(number) + " is a " + text(value.element, value.dims) +
                    ", but " + detail);
  };
  if (value.dims.size() != 1) {
    fail(Errc::invalid_argument, "the columns of a frame are vectors");
  }
  if (number > 0 && value.rows() != schema.rows) {
    fail(Errc::invalid_argument, "the vectors before it have " + counted(schema.rows, "element"));
  }
  if (number == kMostColumns) {
    fail(Errc::unsupported, "a frame of vectors has at most 1048576 columns");
  }
  schema.kind = ObjectKind::frame;
  schema.rows = value.rows();
  schema.columns.push_back({std::to_string(number), info(value.element).cell});
  ++schema.cols;
  if (is_made(value.element) && opening.note.empty()) {
    opening.note = "f16 columns are read as f32, bool columns as u8";
  }
  opening.add(value, number);
}

[[noreturn]] void fail_several(const ByteSource& file, const std::vector<std::string>& types,
                               std::uint64_t count) {
  std::string list;
  for (std::size_t i = 0; i < std::min(types.size(), kListed); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(i) + ": " + types[i];
  }
  if (count > kListed) list += ", ...";
  throw Error(Errc::invalid_argument, file.name(), std::nullopt,
              "the file holds " + std::to_string(count) + " values (" + list + ")",
              "futhark.value");
}

/// Reads the whole stream, and fills in what the options choose of it.
void choose(StreamReader& reader, const ByteSource& file, const Options& options,
            Opening& opening) {
  StreamValue value;
  std::uint64_t count = 0;
  const std::uint64_t wanted = options.value.value_or(0);
  for (;; ++count) {
    TextCells* const cells = options.frame || count == wanted ? &opening.cells : nullptr;
    if (!reader.next(value, cells)) break;
    if (options.frame) {
      open_column(opening, value, file.name());
    } else if (count == wanted) {
      open_matrix(opening, value);
    }
    if (count < kKept) opening.types.push_back(text(value.element, value.dims));
  }
  if (options.frame) return;
  if (wanted >= count) {
    throw Error(Errc::out_of_range, file.name(), std::nullopt,
                "there is no value " + std::to_string(wanted) + " among the " +
                    std::to_string(count) + " of the file, which are counted from 0");
  }
  if (count == 1) return;
  if (!options.value && !options.first) fail_several(file, opening.types, count);
  opening.note = "value " + std::to_string(wanted) + " of " + std::to_string(count) +
                 (opening.note.empty() ? "" : "; ") + opening.note;
}

void import_tiles(Opening& opening, unsigned threads, BlockWriter& writer) {
  opening.cells.finish();
  parallel_in_order(opening.tiles.size(), threads, [&](std::uint64_t i, unsigned, Turn& turn) {
    const auto& [offset, row_bytes, block] = opening.tiles[i];
    writer.put(block.pos,
               {opening.cells.at(offset, block.bytes), block.value_type, block.rows, block.cols,
                row_bytes},
               &turn);
  });
}

/// Copies the blocks of binary values, which are in the same object.
void import_blocks(const Store& binary, BlockWriter& writer) {
  std::vector<std::byte> cells;
  for (std::uint64_t i = 0; i < binary.index().size(); ++i) {
    const Entry e = binary.index().entry(i);
    const std::size_t row_bytes = e.cols * size_of(e.value_type);
    // Blocks of vectors: one column, as high as a tile.
    for (std::uint64_t row = 0; row < e.rows; row += kTileElements) {
      const std::uint64_t rows = std::min<std::uint64_t>(e.rows - row, kTileElements);
      cells.resize(rows * row_bytes);
      binary.driver().read(binary, e, {{row, row + rows}, {0, e.cols}},
                           {cells.data(), e.value_type, row_bytes, size_of(e.value_type)});
      writer.put({e.pos.rx + row, e.pos.cx},
                 {cells.data(), e.value_type, static_cast<std::uint32_t>(rows), e.cols, row_bytes});
    }
  }
}

/// Text that begins like an array: brackets, and one element or what fits into `p` of it.
bool starts_array(const char* p, const char* end) {
  if (p == end || *p != '[') return false;
  while (p != end && *p == '[') p = skip_blank<Dialect::untyped>(p + 1, end);
  if (p == end) return true;
  const auto numeral = lex_untyped(p, end);
  if (!numeral) return false;
  p = skip_blank<Dialect::untyped>(numeral->end, end);
  return p == end || *p == ',' || *p == ']';
}

}  // namespace

Match recognise_futhark(const Probe& probe) {
  const char* const begin = reinterpret_cast<const char*>(probe.head.data());
  const char* const end = begin + probe.head.size();
  const char* const p = skip_blank<Dialect::untyped>(begin, end);
  constexpr std::ptrdiff_t kHeader = 7;
  if (end - p >= kHeader && p[0] == 'b' && p[1] == 2 &&
      find_element(&ElementInfo::code, {p + 3, 4})) {
    return Match::by_content;
  }
  const std::string_view start(p, static_cast<std::size_t>(end - p));
  const bool other_name = probe.extension == ".csv" || probe.extension == ".tsv";
  if (!other_name && (starts_array(p, end) || start.starts_with("empty(["))) {
    return Match::by_content;
  }
  return probe.extension == ".in" || probe.extension == ".out" ? Match::by_name : Match::no;
}

std::shared_ptr<const Store> open_futhark(std::shared_ptr<ByteSource> file,
                                          const OpenOptions& options) {
  const Options chosen = read_options(options.format_options);
  if (chosen.frame && chosen.value) {
    throw Error(Errc::invalid_argument, "one value or all of them as a frame: both were asked for");
  }
  StreamReader reader(*file, parse_types(chosen.types));
  Opening opening;
  choose(reader, *file, chosen, opening);
  auto binary = make_store(file, opening.schema, std::move(opening.entries), kDriver,
                           std::move(opening.state));
  if (!opening.tiles.empty()) {
    texts::Import import(file, kDriver.format, options);
    BlockWriter& writer = import.start(opening.schema, opening.shape);
    import_tiles(opening, options.threads, writer);
    import_blocks(*binary, writer);
    import.set_contents(std::move(opening.types));
    import.finish(std::move(opening.schema), std::move(opening.note));
    return import.store();
  }
  binary->set_note(std::move(opening.note));
  binary->set_contents(std::move(opening.types));
  return binary;
}

}  // namespace dapple::detail::futhark
