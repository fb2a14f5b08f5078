#include "lib/foreign/hdf5/describe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/column.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/object/attributes.h"

namespace dapple::detail::hdf5 {

namespace {

constexpr std::uint64_t kMostValues = kMostAttributes / 2;  // each takes two bytes of JSON or more

/// How many values, and whether they are a list; nothing for more dimensions, or too many.
struct Extent {
  std::uint64_t count;
  bool list;
};

std::optional<Extent> extent_of(const Session& session, hid_t attribute) {
  const Api& h5 = session.api();
  const Handle space(h5.H5Aget_space(attribute), h5.H5Sclose);
  if (!space.is_open()) return std::nullopt;
  const H5S_class_t kind = h5.H5Sget_simple_extent_type(space.get());
  if (kind == H5S_SCALAR) return Extent{1, false};
  if (kind != H5S_SIMPLE || h5.H5Sget_simple_extent_ndims(space.get()) != 1) return std::nullopt;
  hsize_t count = 0;
  h5.H5Sget_simple_extent_dims(space.get(), &count, nullptr);
  return count <= kMostValues ? std::optional(Extent{count, true}) : std::nullopt;
}

std::optional<std::vector<std::string>> read_pointers(const Session& session, hid_t type,
                                                      std::uint64_t count, const ReadCells& read) {
  std::vector<char*> texts(count, nullptr);
  const bool done = read(type, texts.data()) >= 0;
  std::vector<std::string> strings;
  for (char* const text : texts) {
    if (done) strings.emplace_back(text == nullptr ? "" : text);
    if (text != nullptr) session.api().H5free_memory(text);
  }
  return done ? std::optional(std::move(strings)) : std::nullopt;
}

/// `count` strings of one length or of any; nothing when `type` is another one, they are longer
/// than 64 KiB, or cannot be read. REQUIRES a count that the file was compared with.
std::optional<std::vector<std::string>> read_strings(const Session& session, hid_t type,
                                                     std::uint64_t count, const ReadCells& read) {
  constexpr std::size_t longest = std::size_t{1} << 16;
  const Api& h5 = session.api();
  if (h5.H5Tget_class(type) != H5T_STRING) return std::nullopt;
  if (h5.H5Tis_variable_str(type) > 0) return read_pointers(session, type, count, read);
  const std::size_t length = h5.H5Tget_size(type);
  if (length == 0 || length > longest ||
      count > std::numeric_limits<std::size_t>::max() / longest) {
    return std::nullopt;
  }
  std::vector<char> text(count * length);
  if (read(type, text.data()) < 0) return std::nullopt;
  std::vector<std::string> strings;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view padded(text.data() + i * length, length);
    const bool blanks = h5.H5Tget_strpad(type) == H5T_STR_SPACEPAD;  // as Fortran writes them
    const std::size_t end = blanks ? padded.find_last_not_of(' ') + 1 : padded.find('\0');
    strings.emplace_back(padded.substr(0, end));
  }
  return strings;
}

Json text_value(std::string text) {
  Json value;
  value.kind = Json::Kind::string;
  value.text = std::move(text);
  return value;
}

/// NaN and infinities, which JSON has not, as Zarr writes them.
Json number_value(ValueType type, const std::byte* cell) {
  double number = 0;
  if (type == ValueType::f32) number = static_cast<double>(load_le<float>(cell));
  if (type == ValueType::f64) number = load_le<double>(cell);
  if (std::isnan(number)) return text_value("NaN");
  if (std::isinf(number)) return text_value(number > 0 ? "Infinity" : "-Infinity");
  std::uint64_t bits = 0;
  std::memcpy(&bits, cell, size_of(type));
  Json value;
  value.kind = Json::Kind::number;
  append_number(type, bits, value.text);
  return value;
}

std::vector<Json> numbers(const Session& session, hid_t type, std::uint64_t count,
                          const ReadCells& read) {
  const auto value = value_type_of(session, type);
  if (!value) return {};
  const bool truth = is_boolean(session, type);
  std::vector<std::byte> cells(count * size_of(*value));
  if (!read_numbers(session, type, *value, count, cells.data(), read)) return {};
  std::vector<Json> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const cell = cells.data() + i * size_of(*value);
    all.push_back(number_value(*value, cell));
    if (!truth) continue;
    all.back().kind = Json::Kind::boolean;
    all.back().truth = *cell != std::byte{0};
  }
  return all;
}

/// The value of an attribute; nothing for what JSON has not, such as references.
std::optional<Json> value_of(const Session& session, hid_t attribute) {
  const Api& h5 = session.api();
  const Handle type(h5.H5Aget_type(attribute), h5.H5Tclose);
  const auto extent = extent_of(session, attribute);
  if (!type.is_open() || !extent) return std::nullopt;
  const ReadCells read = [&](hid_t as, void* out) { return h5.H5Aread(attribute, as, out); };
  std::vector<Json> all;
  if (auto texts = read_strings(session, type.get(), extent->count, read)) {
    for (std::string& text : *texts) all.push_back(text_value(std::move(text)));
  } else {
    all = numbers(session, type.get(), extent->count, read);
  }
  if (all.size() != extent->count) return std::nullopt;
  if (!extent->list) return std::move(all.front());
  Json list;
  list.kind = Json::Kind::array;
  list.items = std::move(all);
  return list;
}

struct Collected {
  const Session& session;
  Json all;
};

/// Called by C code, through which no exception may pass.
herr_t collect(hid_t object, const char* name, const H5A_info_t*, void* into) noexcept {
  auto& [session, all] = *static_cast<Collected*>(into);
  try {
    const Handle attribute(session.api().H5Aopen(object, name, H5P_DEFAULT),
                           session.api().H5Aclose);
    auto value = attribute.is_open() ? value_of(session, attribute.get()) : std::nullopt;
    if (!value) return 0;
    Json alone;
    alone.kind = Json::Kind::object;
    alone.keys.emplace_back(name);
    alone.items.push_back(std::move(*value));
    if (!fault_of_attributes(alone.dump()).empty()) return 0;
    all.keys.push_back(std::move(alone.keys.front()));
    all.items.push_back(std::move(alone.items.front()));
    return 0;
  } catch (...) {
    return -1;
  }
}

std::string read_attributes(const OpenFile& opened, const std::string& path) {
  const Session session(opened.name());
  const Handle object = opened.open_object(session, path);
  Collected found{session, {}};
  found.all.kind = Json::Kind::object;
  if (!object.is_open() || session.api().H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_INC,
                                                     nullptr, collect, &found) < 0) {
    opened.fail(session, "the attributes of " + path + " cannot be read");
  }
  arrays::drop_encoding(found.all);
  std::string text = found.all.dump();
  return found.all.keys.empty() || !fault_of_attributes(text).empty() ? std::string() : text;
}

constexpr std::uint64_t kStrip = 1 << 16;  // strings that are read at once

/// How many bytes a chunk has when it is decompressed; 0 where there are none.
std::uint64_t chunk_bytes(const Session& session, hid_t data) {
  const Api& h5 = session.api();
  const Handle created(h5.H5Dget_create_plist(data), h5.H5Pclose);
  const Handle type(h5.H5Dget_type(data), h5.H5Tclose);
  hsize_t items = 0;
  if (!created.is_open() || !type.is_open() || h5.H5Pget_layout(created.get()) != H5D_CHUNKED ||
      h5.H5Pget_chunk(created.get(), 1, &items) != 1) {
    return 0;
  }
  constexpr std::uint64_t kReference = 16;  // to where a string of any length is
  const bool elsewhere = h5.H5Tis_variable_str(type.get()) > 0;
  std::uint64_t bytes = 0;
  return multiply(items, elsewhere ? kReference : h5.H5Tget_size(type.get()), bytes) ? bytes : 0;
}

/// A data set of strings, which is read in strips. The library keeps the chunk that a strip ends
/// in: it would decompress it for each strip.
class Strings {
 public:
  Strings(const OpenFile& opened, const std::string& path) : opened_(opened), path_(path) {
    const Session session(opened_.name());
    Handle object = opened_.open_object(session, path_);
    const std::uint64_t chunk = object.is_open() ? chunk_bytes(session, object.get()) : 0;
    object.close();
    data_ = opened_.open_data_set(session, path_, std::max(chunk, kUsualCache));
  }
  ~Strings() {
    const Session session(opened_.name());
    data_.close();
  }
  Strings(const Strings&) = delete;
  Strings& operator=(const Strings&) = delete;

  /// Strings [which.begin, which.end). Throws corrupt.
  std::vector<std::string> read(Range which) const {
    const Session session(opened_.name());
    const Api& h5 = session.api();
    const Handle type(h5.H5Dget_type(data_.get()), h5.H5Tclose);
    const Handle in_file(h5.H5Dget_space(data_.get()), h5.H5Sclose);
    const hsize_t start = which.begin, count = which.size();
    const Handle in_memory(h5.H5Screate_simple(1, &count, nullptr), h5.H5Sclose);
    std::optional<std::vector<std::string>> strings;
    if (type.is_open() && in_memory.is_open() && in_file.is_open() &&
        h5.H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) >=
            0) {
      strings = read_strings(session, type.get(), count, [&](hid_t as, void* out) {
        return h5.H5Dread(data_.get(), as, in_memory.get(), in_file.get(), H5P_DEFAULT, out);
      });
    }
    if (!strings) opened_.fail(session, "the strings of " + path_ + " cannot be read");
    return std::move(*strings);
  }

 private:
  static constexpr std::uint64_t kUsualCache = 1 << 20;

  const OpenFile& opened_;
  const std::string& path_;
  Handle data_;
};

}  // namespace

std::optional<Json> read_attribute(const OpenFile& opened, const std::string& path,
                                   const char* name) {
  const Session session(opened.name());
  const Api& h5 = session.api();
  const Handle object = opened.open_object(session, path);
  if (!object.is_open() || h5.H5Aexists(object.get(), name) <= 0) return std::nullopt;
  const Handle attribute(h5.H5Aopen(object.get(), name, H5P_DEFAULT), h5.H5Aclose);
  return attribute.is_open() ? value_of(session, attribute.get()) : std::nullopt;
}

std::function<std::string()> attributes_of(std::shared_ptr<const OpenFile> opened,
                                           std::string path) {
  return [opened = std::move(opened), path = std::move(path)] {
    return read_attributes(*opened, path);
  };
}

std::optional<arrays::Vector> find_strings(const std::shared_ptr<const OpenFile>& opened,
                                           const std::string& path) {
  const Session session(opened->name());
  const Api& h5 = session.api();
  const auto fault = [&](Errc code, const char* what) {
    return Error(code, opened->name(), std::nullopt, "the data set " + path + what);
  };
  const Handle object = opened->open_object(session, path);
  if (!object.is_open() || h5.H5Iget_type(object.get()) != H5I_DATASET) {
    opened->fail(session, "the data set " + path + " cannot be opened");
  }
  const Handle type(h5.H5Dget_type(object.get()), h5.H5Tclose);
  if (!type.is_open() || h5.H5Tget_class(type.get()) != H5T_STRING) return std::nullopt;
  if (is_elsewhere(session, object.get())) {
    throw fault(Errc::unsupported, " keeps its values in other files, which are not opened");
  }
  const Handle space(h5.H5Dget_space(object.get()), h5.H5Sclose);
  if (!space.is_open() || h5.H5Sget_simple_extent_ndims(space.get()) != 1) {
    throw fault(Errc::corrupt, " should have one dimension");
  }
  hsize_t size = 0;
  h5.H5Sget_simple_extent_dims(space.get(), &size, nullptr);
  if (!is_plausible(opened->file(), size, 1,
                    std::max<std::size_t>(1, h5.H5Tget_size(type.get())))) {
    throw fault(Errc::corrupt, " has more items than the file can hold");
  }
  return arrays::Vector{
      .path = path,
      .items = {size, 0},
      .read_words = [opened, path, size](const arrays::TakeWord& take) {
        const Strings strings(*opened, path);
        for (std::uint64_t done = 0; done < size; done += kStrip) {
          const Range which{done, done + std::min<std::uint64_t>(kStrip, size - done)};
          for (const std::string& word : strings.read(which)) take(word);
        }
      }};
}

}  // namespace dapple::detail::hdf5
