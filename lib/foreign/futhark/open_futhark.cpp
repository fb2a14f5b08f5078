#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/futhark/decode.h"
#include "lib/foreign/futhark/futhark.h"
#include "lib/foreign/futhark/futhark_options.h"
#include "lib/foreign/futhark/import_text.h"
#include "lib/foreign/futhark/stream.h"
#include "lib/foreign/futhark/string_literal.h"
#include "lib/foreign/futhark/tokens.h"
#include "lib/foreign/text/import.h"

namespace dapple::detail::futhark {

namespace {

/// Blocks count rows and columns in 32 bits: longer sides are cut into pieces of this many.
constexpr std::uint64_t kSide = std::uint64_t{1} << 31;

/// Values that an error message lists, and that an object lists at most.
constexpr std::uint64_t kListed = 8;
constexpr std::uint64_t kKept = Store::kMostContents;

/// A column costs memory, and a vector of one element three bytes of text.
constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;

bool plain(const StreamValue& value) {
  return value.element != ElementType::f16 && value.element != ElementType::boolean;
}

Layout layout_of(const StreamValue& value) {
  return {value.element, value.cols() * info(value.element).size};
}

/// Adds the blocks of a value whose first cell is in column `col` of the object.
class BlockList {
 public:
  BlockList(EntryTable& entries, std::vector<TextTile>& tiles) : entries_(entries), tiles_(tiles) {}

  void add(const StreamValue& value, std::uint64_t col) {
    if (value.rows() == 0 || value.cols() == 0) return;
    if (value.binary) {
      add_binary(value, col);
    } else {
      add_text(value, col);
    }
  }

 private:
  void add_binary(const StreamValue& value, std::uint64_t col) {
    const std::uint64_t size = info(value.element).size, row_bytes = value.cols() * size;
    for_each_tile(value, kSide, kSide, [&](Entry& e) {
      e.offset = value.data + e.pos.rx * row_bytes + e.pos.cx * size;
      e.bytes = (std::uint64_t{e.rows} - 1) * row_bytes + e.cols * size;
      e.pos.cx += col;
      entries_.push_back(e);
    });
  }

  void add_text(const StreamValue& value, std::uint64_t col) {
    std::size_t i = 0;
    for_each_tile(value, value.tile_rows(), value.tile_cols(), [&](Entry& e) {
      const TileStart& start = value.tiles[i++];
      std::uint64_t end = value.end;
      if (i < value.tiles.size()) {
        end = value.tiles[i].offset;
        // Two tiles may share a character of a string, of which each needs all.
        const bool shared = value.tiles[i].in_string > 1;
        if (shared) end += std::min<std::uint64_t>(value.end - end, kLongestCharacter);
      }
      tiles_.push_back({start, end, {e.pos.rx, e.pos.cx + col}, e.rows, e.cols, value.element});
    });
  }

  template <class F>
  static void for_each_tile(const StreamValue& value, std::uint64_t height, std::uint64_t width,
                            const F& f) {
    const std::uint64_t all_rows = value.rows(), all_cols = value.cols();
    for (std::uint64_t row = 0; row < all_rows;) {
      const std::uint64_t rows = std::min(height, all_rows - row);
      for (std::uint64_t col = 0; col < all_cols;) {
        const std::uint64_t cols = std::min(width, all_cols - col);
        Entry e;
        e.pos = {row, col};
        e.rows = static_cast<std::uint32_t>(rows);
        e.cols = static_cast<std::uint32_t>(cols);
        e.kind = BlockKind::dense;
        e.value_type = info(value.element).cell;
        e.stored = rows * cols;
        f(e);
        col += cols;
      }
      row += rows;
    }
  }

  EntryTable& entries_;
  std::vector<TextTile>& tiles_;
};

/// What has been decided about the object so far.
struct Opening {
  Schema schema;
  EntryTable entries;           // of binary values
  std::vector<TextTile> tiles;  // of the others
  TileShape shape;              // of a tile
  std::unique_ptr<FutharkState> state = std::make_unique<FutharkState>();
  std::string note;
  std::vector<std::string> types;  // of the stream's values

  void add(const StreamValue& value, std::uint64_t col) {
    BlockList(entries, tiles).add(value, col);
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
  if (!plain(value)) {
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
  if (!plain(value) && opening.note.empty()) {
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
  for (; reader.next(value); ++count) {
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
  BlockIndex index = BlockIndex::from_entries(std::move(opening.entries), opening.schema.rows,
                                              opening.schema.cols, file->name());
  auto binary = std::make_shared<Store>(file, opening.schema, std::move(index), kDriver,
                                        std::move(opening.state));
  if (!opening.tiles.empty()) {
    texts::Import import(file, kDriver.format, options);
    BlockWriter& writer = import.start(opening.schema, opening.shape);
    import_tiles(*file, opening.tiles, reader.dialect(), options.threads, writer);
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
