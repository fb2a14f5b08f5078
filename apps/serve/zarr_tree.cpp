#include "zarr_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "dapple/error.h"

namespace dapple::serve {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSmall = 1 << 18;  // bytes of a chunk: smaller tiles are put together,
constexpr std::uint64_t kLarge = 1 << 24;  // larger ones are cut

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A label as the name of a node: Zarr keeps slashes, periods and "__" for itself. Clients put
/// names into addresses as they are, where '?' and '#' end a path, '%' is an escape, and others are
/// dropped: a chunk that is then not found counts as zeros. '~' is the escape, since no client
/// touches it.
std::string node_name(std::string_view label) {
  constexpr std::string_view kReserved = "~%/\\?#\x7f", kDigits = "0123456789ABCDEF";
  if (label.empty()) return "~";
  const bool first = label.starts_with("__") || label == "zarr.json";
  const bool periods = label.find_first_not_of('.') == label.npos;
  std::string name;
  for (const char c : label) {
    const auto code = static_cast<unsigned char>(c);
    const bool reserved = code < ' ' || kReserved.find(c) != kReserved.npos;
    if (reserved || periods || (first && name.empty())) {
      name += {'~', kDigits[code / 16], kDigits[code % 16]};
    } else {
      name += c;
    }
  }
  return name;
}

std::string type_name(ValueType type) {
  const std::string kind = is_float(type) ? "float" : is_signed(type) ? "int" : "uint";
  return kind + std::to_string(8 * size_of(type));
}

std::uint64_t at_least_one(std::uint64_t n) { return std::max<std::uint64_t>(n, 1); }

void choose_chunks(ChunkedArray& array, TileShape tile) {
  const std::uint64_t item = size_of(array.type);
  const std::uint64_t down = at_least_one(tile.rows), across = at_least_one(tile.cols);
  const std::uint64_t side = at_least_one(kSmall / std::min(kSmall, down * across * item));
  array.chunk_cols = std::min({across * side, at_least_one(array.cols), kLarge / item});
  const std::uint64_t height =
      down * at_least_one(kSmall / std::min(kSmall, down * array.chunk_cols * item));
  array.chunk_rows = at_least_one(
      std::min({height, at_least_one(array.rows), kLarge / (array.chunk_cols * item)}));
}

TileShape tile_of(const BlockedObject& object) {
  const auto grid = object.grid();
  return grid ? grid->tile : TileShape{256, 256};
}

/// Rows of a chunk of a frame's columns: a quarter of a mebibyte of numbers, in whole tiles.
std::uint64_t rows_of_chunk(const Frame& frame) {
  constexpr std::uint64_t kWanted = kSmall / 8;
  const auto grid = frame.grid();
  const std::uint64_t tile = grid ? std::clamp<std::uint64_t>(grid->tile.rows, 1, kWanted) : 1;
  return std::min(at_least_one(frame.rows()), kWanted / tile * tile);
}

/// Takes a member out of the user's attributes; null where there is none.
Json taken(Json& attributes, const char* member) {
  const Json found = attributes.value(member, Json());
  attributes.erase(member);
  return found;
}

/// What rows and columns are called, where that is a pair of names.
Json dimensions_of(const Json& given) {
  const bool pair = given.is_array() && given.size() == 2 && given[0].is_string() &&
                    given[1].is_string() && given[0] != given[1];
  return pair ? given : Json::array({"row", "col"});
}

/// `known`, and what a column means beyond what its cells tell, as the CF conventions say it.
Json described(const Column& column, const std::string& name, Json known) {
  constexpr std::array kUnits = {"days", "seconds", "milliseconds", "microseconds", "nanoseconds"};
  const Meaning& meaning = column.meaning;
  if (name != column.label) known["label"] = column.label;
  const char* const unit = kUnits[static_cast<std::size_t>(meaning.unit)];
  if (meaning.kind == MeaningKind::timestamp) {
    known["units"] = std::string(unit) + " since 1970-01-01";
    known["calendar"] = "proleptic_gregorian";
  }
  if (meaning.kind == MeaningKind::duration) {
    known["units"] = unit;  // by the other xarray knows a duration
    known["dtype"] = "timedelta64[" + std::string(dapple::name(meaning.unit)) + "]";
  }
  if (!meaning.zone.empty()) known["time_zone"] = meaning.zone;
  if (meaning.ordered && meaning.words != nullptr) {
    Json& words = known["ordered_categories"] = Json::array();
    for (std::uint64_t i = 0; i < meaning.words->size(); ++i) words.push_back((*meaning.words)[i]);
  }
  if (!meaning.missing || meaning.has_words() || is_float(column.value_type)) return known;
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(column.value_type));
  if (is_signed(column.value_type)) {
    known["_FillValue"] = static_cast<std::int64_t>(*meaning.missing << unused) >> unused;
  } else {
    known["_FillValue"] = *meaning.missing;
  }
  return known;
}

Json array_json(const ChunkedArray& array, Json attributes, Json dimensions) {
  const bool words = array.has_words();
  const bool truth = array.column && array.meaning->meaning.kind == MeaningKind::boolean &&
                     !array.meaning->meaning.missing;
  Json codec{{"name", words ? "vlen-utf8" : "bytes"}};
  if (!words && size_of(array.type) > 1) codec["configuration"] = {{"endian", "little"}};
  Json shape = Json::array({array.rows}), chunk = Json::array({array.chunk_rows});
  if (!array.is_flat()) {
    shape.push_back(array.cols);
    chunk.push_back(array.chunk_cols);
  }
  return {
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", std::move(shape)},
      {"data_type", words   ? "string"
                    : truth ? "bool"
                            : type_name(array.type)},
      {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", std::move(chunk)}}}}},
      {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
      {"fill_value", words   ? Json("")
                     : truth ? Json(false)
                             : Json(0)},
      {"codecs", Json::array({std::move(codec)})},
      {"attributes", std::move(attributes)},
      {"dimension_names", std::move(dimensions)},
      {"storage_transformers", Json::array()}};
}

Json group_json(Json attributes) {
  return {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", std::move(attributes)}};
}

void append_number(std::string& out, std::size_t n) {
  const auto number = static_cast<std::uint32_t>(n);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xff);
}

/// `count` words as the codec vlen-utf8 has them.
template <class WordAt>
std::string encoded_words(std::size_t count, const WordAt& word_at) {
  std::string out;
  append_number(out, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view word = word_at(i);
    append_number(out, word.size());
    out += word;
  }
  return out;
}

/// The words of `count` codes; missing ones are empty.
std::string words_of(const Column& column, const std::string& codes, std::size_t count) {
  return encoded_words(count, [&](std::size_t i) {
    std::uint32_t code = 0;
    std::memcpy(&code, codes.data() + i * sizeof code, sizeof code);
    return code == kMissingCode ? std::string_view() : (*column.meaning.words)[code - 1];
  });
}

/// Chunk i of names.
std::string names_of(const ChunkedArray& array, std::uint64_t i) {
  const std::uint64_t first = i * array.chunk_rows;
  return encoded_words(static_cast<std::size_t>(array.chunk_rows), [&](std::size_t k) {
    return first + k < array.rows ? (*array.names)[first + k] : std::string_view();
  });
}

/// Chunk (i, j), padded with zeros.
std::string chunk_of(const ChunkedArray& array, std::uint64_t i, std::uint64_t j) {
  if (array.names != nullptr) return names_of(array, i);
  const std::uint64_t row = i * array.chunk_rows, col = j * array.chunk_cols;
  const Range rows{row, row + std::min(array.chunk_rows, array.rows - row)};
  const Range cols{col, col + std::min(array.chunk_cols, array.cols - col)};
  const ValueType type = array.has_words() ? ValueType::u32 : array.type;
  const std::size_t size = size_of(type);
  std::string bytes(static_cast<std::size_t>(array.chunk_rows * array.chunk_cols) * size, '\0');
  const std::uint64_t first = array.column.value_or(0);
  array.object->read({rows, {first + cols.begin, first + cols.end}}, type,
                     std::as_writable_bytes(std::span(bytes)),
                     {static_cast<std::size_t>(array.chunk_cols) * size, size});
  if (!array.has_words()) return bytes;
  return words_of(*array.meaning, bytes, static_cast<std::size_t>(array.chunk_rows));
}

/// The numbers of a chunk, "0/1", without signs or leading zeros.
std::optional<std::vector<std::uint64_t>> parse_place(std::string_view text) {
  std::vector<std::uint64_t> place;
  while (true) {
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto length = static_cast<std::size_t>(parsed.ptr - text.data());
    if (parsed.ec != std::errc() || (text[0] == '0' && length > 1)) return std::nullopt;
    place.push_back(number);
    text.remove_prefix(length);
    if (text.empty()) return place;
    if (text[0] != '/') return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace

ZarrTree::ZarrTree(std::vector<std::pair<std::string, Object>> objects) {
  Json attributes = Json::object();
  const bool single = objects.size() == 1 && objects[0].first.empty();
  if (single && std::holds_alternative<Matrix>(objects[0].second)) {
    const auto& matrix = std::get<Matrix>(objects[0].second);
    add_matrix("data", matrix);
    const Json noted = Json::parse(matrix.attributes());
    const Json dimensions = dimensions_of(noted.value("dimension_names", Json()));
    for (const std::size_t axis : {0, 1}) {
      const auto dimension = dimensions[axis].get<std::string>();
      add_names(dimension, axis == 0 ? matrix.row_names() : matrix.col_names(), dimension);
    }
  } else if (single) {
    add_frame("", std::get<Frame>(objects[0].second));
    attributes = Json::parse(metadata_.at(""))["attributes"];
  } else {
    for (const auto& [name, object] : objects) add(add_groups(name), object);
  }
  consolidate(dump(attributes));
}

std::string ZarrTree::add_groups(std::string_view name) {
  std::string path;
  for (;;) {
    const std::size_t slash = name.find('/');
    path += node_name(name.substr(0, slash));
    if (slash == name.npos) return path;
    if (arrays_.contains(path)) {
      throw Error(Errc::invalid_argument, "'" + path + "' is an array, and no group of others");
    }
    metadata_.try_emplace(path, dump(group_json(Json::object())));
    path += '/';
    name.remove_prefix(slash + 1);
  }
}

void ZarrTree::add(const std::string& path, const Object& object) {
  if (metadata_.contains(path)) {
    throw Error(Errc::invalid_argument, "two files are called '" + path +
                                            "', as which both would be served; serve one of them, "
                                            "or a link to it of another name");
  }
  if (const auto* const matrix = std::get_if<Matrix>(&object)) return add_matrix(path, *matrix);
  add_frame(path, std::get<Frame>(object));
}

void ZarrTree::put(const std::string& path, ChunkedArray array, std::string metadata) {
  metadata_[path] = std::move(metadata);
  arrays_[path] = std::move(array);
}

void ZarrTree::add_matrix(const std::string& path, const Matrix& matrix) {
  ChunkedArray array;
  array.object = std::make_shared<const Matrix>(matrix);
  array.type = matrix.value_type();
  array.rows = matrix.rows();
  array.cols = matrix.cols();
  choose_chunks(array, tile_of(matrix));
  Json attributes = Json::parse(matrix.attributes());
  Json dimensions = dimensions_of(taken(attributes, "dimension_names"));
  std::string json = dump(array_json(array, std::move(attributes), std::move(dimensions)));
  put(path, std::move(array), std::move(json));
}

void ZarrTree::add_frame(const std::string& path, const Frame& frame) {
  const auto shared = std::make_shared<const Frame>(frame);
  Json attributes = Json::parse(shared->attributes()), order = Json::array();
  const Json noted = taken(attributes, "column_attributes");
  for (std::uint64_t k = 0; k < shared->cols(); ++k) {
    const Column& column = shared->column_info(k);
    std::string name = node_name(column.label);
    const std::string prefix = path.empty() ? "" : path + "/";
    for (int again = 1; metadata_.contains(prefix + name); ++again) {
      name = node_name(column.label) + "." + std::to_string(again);
    }
    ChunkedArray array;
    array.object = shared;
    array.column = k;
    array.meaning = &column;
    array.type = column.value_type;
    array.rows = shared->rows();
    array.chunk_rows = rows_of_chunk(*shared);
    Json known = noted.is_object() ? noted.value(column.label, Json::object()) : Json::object();
    if (!known.is_object()) known = Json::object();
    known = described(column, name, std::move(known));
    std::string json = dump(array_json(array, std::move(known), Json::array({"row"})));
    put(prefix + name, std::move(array), std::move(json));
    order.push_back(name);
  }
  add_names(path.empty() ? "row" : path + "/row", shared->row_names(), "row");
  attributes["column-order"] = std::move(order);
  metadata_[path] = dump(group_json(std::move(attributes)));
}

/// Names of rows or columns, unless there is another array of that name.
void ZarrTree::add_names(const std::string& path, std::shared_ptr<const Names> names,
                         const std::string& dimension) {
  if (names == nullptr || dimension != node_name(dimension) || metadata_.contains(path)) return;
  ChunkedArray array;
  array.rows = names->size();
  array.chunk_rows = std::min(at_least_one(array.rows), kSmall / 8);
  array.names = std::move(names);
  std::string json = dump(array_json(array, Json::object(), Json::array({dimension})));
  put(path, std::move(array), std::move(json));
}

/// The root, with the metadata of all other nodes.
void ZarrTree::consolidate(std::string attributes) {
  Json nodes = Json::object();
  auto& list = nodes.get_ref<Json::object_t&>();  // nodes[path] would look through all before it
  for (const auto& [path, json] : metadata_) {
    if (!path.empty()) list.emplace_back(path, Json::parse(json));
  }
  Json root = group_json(Json::parse(attributes));
  root["consolidated_metadata"] = {
      {"kind", "inline"}, {"must_understand", false}, {"metadata", std::move(nodes)}};
  metadata_[""] = dump(root);
}

std::optional<std::string> ZarrTree::find(std::string_view key) const {
  constexpr std::string_view kMetadata = "zarr.json", kChunks = "/c/";
  if (key.ends_with(kMetadata)) {
    std::string_view path = key.substr(0, key.size() - kMetadata.size());
    if (path == "/" || (!path.empty() && !path.ends_with('/'))) return std::nullopt;
    if (!path.empty()) path.remove_suffix(1);
    const auto found = metadata_.find(path);
    return found == metadata_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::size_t mark = key.rfind(kChunks);
  if (mark == key.npos) return std::nullopt;
  const auto found = arrays_.find(key.substr(0, mark));
  if (found == arrays_.end()) return std::nullopt;
  const ChunkedArray& array = found->second;
  const auto place = parse_place(key.substr(mark + kChunks.size()));
  if (!place || place->size() != (array.is_flat() ? 1U : 2U)) return std::nullopt;
  const std::uint64_t i = (*place)[0], j = array.is_flat() ? 0 : (*place)[1];
  const auto outside = [](std::uint64_t n, std::uint64_t extent, std::uint64_t step) {
    return extent == 0 || n > (extent - 1) / step;
  };
  if (outside(i, array.rows, array.chunk_rows) || outside(j, array.cols, array.chunk_cols)) {
    return std::nullopt;
  }
  return chunk_of(array, i, j);
}

}  // namespace dapple::serve
