#include "lib/foreign/zarr/metadata.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/text.h"

namespace dapple::detail::zarr {

namespace {

constexpr std::size_t kMostDimensions = 32;
constexpr std::uint64_t kMostChunkBytes = std::uint64_t{1} << 31;

class Parser {
 public:
  Parser(const Json& json, const std::string& key) : json_(json), key_(key) {}
  ArrayMetadata parse() {
    const auto version = require(json_, "zarr_format").count();
    if (version == 2) {
      parse_v2();
    } else if (version == 3) {
      parse_v3();
    } else {
      fail(Errc::unsupported, "zarr_format is " + require(json_, "zarr_format").dump() +
                                  "; versions 2 and 3 are read");
    }
    check_chunk(out_.chunk);
    if (out_.shards) check_shards(*out_.shards);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(Errc code, std::string what) const {
    throw Error(code, key_, std::nullopt, std::move(what));
  }
  [[noreturn]] void fail_codec(const std::string& name) const {
    fail(Errc::unsupported, "the codec '" + name +
                                "' is not read; bytes, transpose, sharding_indexed, zstd, blosc, "
                                "gzip, zlib and crc32c are");
  }
  const Json& require(const Json& in, std::string_view name) const {
    if (const Json* const member = in.find(name)) return *member;
    fail(Errc::corrupt, "there is no member '" + std::string(name) + "'");
  }
  const std::string& require_text(const Json& in, std::string_view name) const {
    const Json& member = require(in, name);
    if (member.is(Json::Kind::string)) return member.text;
    fail(Errc::corrupt, "'" + std::string(name) + "' should be a string, not " + brief(member));
  }
  /// The name of an extension point, and its configuration: an object, or null.
  std::pair<std::string, Json> named(const Json& in) const {
    if (in.is(Json::Kind::string)) return {in.text, {}};
    const Json* const given = in.find("configuration");
    return {require_text(in, "name"), given != nullptr ? *given : Json{}};
  }
  static std::string brief(const Json& value) {
    std::string text = value.dump();
    if (text.size() <= 60) return text;
    std::size_t end = 57;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // inside a character
    return text.substr(0, end) + "...";
  }

  Extents extents(const Json& in, std::string_view name) const {
    const Json& list = require(in, name);
    Extents out;
    for (const Json& item : list.items) {
      const auto n = item.count();
      if (!n) break;
      out.push_back(*n);
    }
    if (!list.is(Json::Kind::array) || out.size() != list.items.size() ||
        out.size() > kMostDimensions) {
      fail(Errc::corrupt,
           "'" + std::string(name) + "' should be a list of extents, not " + brief(list));
    }
    return out;
  }

  void check_chunk(const Extents& chunk) const {
    if (chunk.size() != out_.shape.size()) {
      fail(Errc::corrupt, "chunks of " + counted(chunk.size(), "dimension") +
                              " do not fit an array of " + std::to_string(out_.shape.size()));
    }
    std::uint64_t bytes = out_.type.size;
    for (const std::uint64_t extent : chunk) {
      if (extent == 0) fail(Errc::corrupt, "a chunk of " + extents_text(chunk) + " cells is empty");
      if (!multiply(bytes, extent, bytes) || bytes > kMostChunkBytes) {
        fail(Errc::unsupported, "a chunk of " + extents_text(chunk) + " cells takes more than " +
                                    std::to_string(kMostChunkBytes) + " bytes");
      }
    }
  }
  void check_shards(const Shards& shards) const {
    check_chunk(shards.chunk);
    for (std::size_t d = 0; d < shards.chunk.size(); ++d) {
      if (shards.chunk[d] % out_.chunk[d] != 0) {
        fail(Errc::corrupt, "chunks of " + extents_text(out_.chunk) +
                                " cells do not divide shards of " + extents_text(shards.chunk));
      }
    }
  }

  /// Members that the specification does not have may change what the others mean, unless they say
  /// that they do not (Zarr v3, "array metadata").
  void require_known_members() const {
    static constexpr std::string_view kMembers[] = {
        "zarr_format",         "node_type", "shape",      "data_type",       "chunk_grid",
        "chunk_key_encoding",  "codecs",    "fill_value", "dimension_names", "attributes",
        "storage_transformers"};
    for (std::size_t i = 0; i < json_.keys.size(); ++i) {
      const std::string& name = json_.keys[i];
      if (std::find(std::begin(kMembers), std::end(kMembers), name) != std::end(kMembers)) continue;
      const Json* const needed = json_.items[i].find("must_understand");
      if (needed == nullptr || !needed->is(Json::Kind::boolean) || needed->truth) {
        fail(Errc::unsupported, "the member " + shown(name) + " of the metadata is not understood");
      }
    }
  }

  void parse_v3() {
    require_known_members();
    out_.shape = extents(json_, "shape");
    const Json& type = require(json_, "data_type");
    if (!type.is(Json::Kind::string) || !take_type(type.text)) fail_type(brief(type));
    const auto [grid, grid_config] = named(require(json_, "chunk_grid"));
    if (grid != "regular")
      fail(Errc::unsupported, "the chunk grid '" + grid + "' is not read; regular ones are");
    out_.chunk = extents(grid_config, "chunk_shape");
    take_keys();
    out_.chain.order = straight();
    const Json& codecs = require(json_, "codecs");
    take_codecs(codecs, true);
    take_fill(json_.find("fill_value"));
    const Json* const transformers = json_.find("storage_transformers");
    if (transformers != nullptr && !transformers->items.empty()) {
      fail(Errc::unsupported, "storage_transformers are not read");
    }
  }

  void take_keys() {
    const auto [name, config] = named(require(json_, "chunk_key_encoding"));
    if (name != "default" && name != "v2") {
      fail(Errc::unsupported, "the chunk key encoding '" + name + "' is not read");
    }
    out_.separator = name == "default" ? '/' : '.';
    if (const Json* const given = config.find("separator")) take_separator(*given);
    if (name == "default") out_.prefix = std::string("c") + out_.separator;
  }
  void take_separator(const Json& given) {
    if (!given.is_text("/") && !given.is_text(".")) {
      fail(Errc::corrupt, "a separator of keys is '/' or '.', not " + brief(given));
    }
    out_.separator = given.text[0];
  }

  std::vector<std::size_t> straight() const {
    std::vector<std::size_t> order(out_.shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }

  /// Codecs from the array to its bytes.
  void take_codecs(const Json& list, bool outermost) {
    if (!list.is(Json::Kind::array)) fail(Errc::corrupt, "codecs should be a list");
    bool as_bytes = false;
    for (const Json& item : list.items) {
      const auto [name, config] = named(item);
      out_.codecs.append(out_.codecs.empty() ? "" : ", ").append(name);
      const bool makes_bytes = name == "bytes" || name == "sharding_indexed" || name == "vlen-utf8";
      const bool of_cells = makes_bytes || name == "transpose";
      if (!of_cells) take_step(name);
      if (of_cells == as_bytes) fail(Errc::corrupt, "the codec '" + name + "' is out of place");
      if (name == "transpose") {
        take_transpose(require(config, "order"));
      } else if (name == "sharding_indexed") {
        if (!outermost || list.items.size() != 1) {
          fail(Errc::unsupported, "sharding_indexed is read only as the one codec of an array");
        }
        take_sharding(config);
      } else if (name == "bytes" || name == "vlen-utf8") {
        take_bytes(name, config);
      }
      as_bytes = as_bytes || makes_bytes;
    }
    if (!as_bytes) fail(Errc::corrupt, "no codec makes bytes of the array");
  }
  void take_bytes(const std::string& name, const Json& config) {
    if ((name == "vlen-utf8") != out_.type.words) fail_codec(name);
    const Json* const endian = config.find("endian");
    if (endian != nullptr && !endian->is_text("little") && !endian->is_text("big")) {
      fail(Errc::corrupt, "endian is 'little' or 'big', not " + brief(*endian));
    }
    out_.chain.big_endian = endian != nullptr && endian->text == "big";
  }
  void take_step(const std::string& name) {
    static constexpr std::pair<std::string_view, Packing> kPackings[] = {
        {"zstd", Packing::zstd},           {"blosc", Packing::blosc},
        {"gzip", Packing::gzip},           {"zlib", Packing::zlib},
        {"numcodecs.zlib", Packing::zlib}, {"numcodecs.zstd", Packing::zstd},
        {"numcodecs.gzip", Packing::gzip}, {"numcodecs.blosc", Packing::blosc}};
    if (name == "crc32c") {
      out_.chain.steps.push_back(std::nullopt);
      return;
    }
    for (const auto& [known, packing] : kPackings) {
      if (name == known) {
        out_.chain.steps.push_back(packing);
        return;
      }
    }
    fail_codec(name);
  }
  void take_transpose(const Json& given) {
    std::vector<std::size_t> order = out_.chain.order;
    if (given.is_text("F")) {
      std::reverse(order.begin(), order.end());
    } else if (!given.is_text("C")) {
      order.clear();
      for (const Json& item : given.items) {
        const auto d = item.count();
        if (!d || *d >= out_.chain.order.size()) break;
        order.push_back(out_.chain.order[*d]);
      }
      auto sorted = order;
      std::sort(sorted.begin(), sorted.end());
      if (sorted != straight()) {
        fail(Errc::corrupt,
             "the order of a transpose should have each dimension once, not " + brief(given));
      }
    }
    out_.chain.order = std::move(order);
  }
  void take_sharding(const Json& config) {
    Shards shards;
    shards.chunk = out_.chunk;
    out_.chunk = extents(config, "chunk_shape");
    if (const Json* const where = config.find("index_location")) {
      if (!where->is_text("start") && !where->is_text("end")) {
        fail(Errc::corrupt, "index_location is 'start' or 'end', not " + brief(*where));
      }
      shards.index_first = where->text == "start";
    }
    const Json& index = require(config, "index_codecs");
    for (std::size_t i = 0; i < index.items.size(); ++i) {
      const auto [name, options] = named(index.items[i]);
      const Json* const endian = options.find("endian");
      const bool bytes =
          i == 0 && name == "bytes" && (endian == nullptr || endian->is_text("little"));
      const bool crc = i == 1 && name == "crc32c";
      if (!bytes && !crc)
        fail(Errc::unsupported, "the codec '" + name + "' of a shard's index is not read");
      shards.index_has_crc = crc;
    }
    if (index.items.empty()) fail(Errc::corrupt, "no codec makes bytes of the shard's index");
    take_codecs(require(config, "codecs"), false);
    out_.shards = std::move(shards);
  }

  void parse_v2() {
    out_.shape = extents(json_, "shape");
    out_.chunk = extents(json_, "chunks");
    out_.separator = '.';
    if (const Json* const given = json_.find("dimension_separator")) take_separator(*given);
    take_filters();
    const Json& type = require(json_, "dtype");
    if (!type.is(Json::Kind::string) || !take_dtype(type.text)) fail_type(brief(type));
    out_.chain.order = straight();
    const std::string& order = require_text(json_, "order");
    if (order != "C" && order != "F")
      fail(Errc::corrupt, "order is 'C' or 'F', not " + shown(order));
    if (order == "F") std::reverse(out_.chain.order.begin(), out_.chain.order.end());
    const Json* const compressor = json_.find("compressor");
    if (compressor != nullptr && !compressor->is(Json::Kind::null)) {
      out_.codecs = require_text(*compressor, "id");
      take_step(out_.codecs);
    }
    const Json* const fill = json_.find("fill_value");
    take_fill(fill != nullptr && fill->is(Json::Kind::null) ? nullptr : fill);
  }
  void take_filters() {
    const Json* const filters = json_.find("filters");
    if (filters == nullptr) return;
    for (const Json& filter : filters->items) {
      const std::string& id = require_text(filter, "id");
      if (id != "vlen-utf8" || filters->items.size() > 1) fail_codec(id);
      out_.type.words = true;
    }
  }

  [[noreturn]] void fail_type(const std::string& type) const {
    fail(Errc::unsupported, "cells of the data type " + type +
                                " are not read; Booleans, integers and floats of 1 to 8 bytes are");
  }
  bool take_type(const std::string& name) {
    if (name == "string") {
      out_.type = {.read_as = ValueType::u32, .size = 1, .words = true};
      return true;
    }
    if (name == "bool") {
      out_.type = {.read_as = ValueType::u8, .size = 1, .boolean = true};
      return true;
    }
    if (name == "float16") {
      out_.type = {.read_as = ValueType::f32, .size = 2, .half = true};
      return true;
    }
    // As ours, but with the kind as a word.
    const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
    const std::string kind = name.substr(0, digits);
    const bool known = kind == "uint" || kind == "int" || kind == "float";
    return known && take_number(kind[0] + name.substr(digits));
  }

  /// A type as NumPy writes it: "<f4".
  bool take_dtype(const std::string& dtype) {
    if (out_.type.words) {
      out_.type = {.read_as = ValueType::u32, .size = 1, .words = true};
      return dtype == "|O";
    }
    if (dtype.size() != 3 || std::string_view("<>|").find(dtype[0]) == std::string_view::npos)
      return false;
    out_.chain.big_endian = dtype[0] == '>';
    const std::string_view kind = std::string_view(dtype).substr(1);
    if (kind == "b1") return take_type("bool");
    if (kind == "f2") return take_type("float16");
    return is_digit(dtype[2]) && take_number(dtype[1] + std::to_string(8 * (dtype[2] - '0')));
  }

  bool take_number(const std::string& name) {
    const auto type = find_value_type(name);
    if (type) out_.type = {.read_as = *type, .size = size_of(*type)};
    return type.has_value();
  }

  void take_fill(const Json* fill) {
    if (fill == nullptr) return;
    if (out_.type.words) {
      if (fill->is(Json::Kind::string)) out_.fill_word = fill->text;
    } else if (!parse_fill(*fill, out_.type, out_.fill.data())) {
      fail(Errc::corrupt, "the fill value " + brief(*fill) + " is no " +
                              std::string(dapple::name(out_.type.read_as)));
    }
  }
  const Json& json_;
  const std::string& key_;
  ArrayMetadata out_;
};

}  // namespace

std::uint64_t ArrayMetadata::items() const noexcept {
  return std::accumulate(chunk.begin(), chunk.end(), std::uint64_t{1}, std::multiplies<>());
}

ArrayMetadata parse_array(const Json& json, const std::string& key) {
  return Parser(json, key).parse();
}

}  // namespace dapple::detail::zarr
