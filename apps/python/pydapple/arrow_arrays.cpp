#include "arrow_arrays.h"

#include <utility>

namespace pydapple {

namespace {

bool continues(unsigned char c) noexcept { return (c & 0xC0) == 0x80; }

/// Bytes of the character at `p`; 0 if it is none that UTF-8 allows.
std::size_t character(const unsigned char* p, std::size_t left) noexcept {
  const unsigned char c = p[0];
  if (c < 0x80) return 1;
  const std::size_t size = c >= 0xC2 && c < 0xE0   ? 2
                           : (c & 0xF0) == 0xE0    ? 3
                           : c >= 0xF0 && c < 0xF5 ? 4
                                                   : 0;
  if (size == 0 || size > left) return 0;
  for (std::size_t k = 1; k < size; ++k) {
    if (!continues(p[k])) return 0;
  }
  const bool too_long = (c == 0xE0 && p[1] < 0xA0) || (c == 0xF0 && p[1] < 0x90);
  const bool surrogate = c == 0xED && p[1] >= 0xA0;
  const bool too_large = c == 0xF4 && p[1] >= 0x90;
  return too_long || surrogate || too_large ? 0 : size;
}

void release_schema(ArrowSchema* schema) {
  for (std::int64_t k = 0; k < schema->n_children; ++k) {
    if (schema->children[k]->release != nullptr) schema->children[k]->release(schema->children[k]);
  }
  if (schema->dictionary != nullptr) {
    if (schema->dictionary->release != nullptr) schema->dictionary->release(schema->dictionary);
    delete schema->dictionary;
  }
  delete static_cast<SchemaData*>(schema->private_data);
  schema->release = nullptr;
}

void release_array(ArrowArray* array) {
  for (std::int64_t k = 0; k < array->n_children; ++k) {
    if (array->children[k]->release != nullptr) array->children[k]->release(array->children[k]);
  }
  if (array->dictionary != nullptr) {
    if (array->dictionary->release != nullptr) array->dictionary->release(array->dictionary);
    delete array->dictionary;
  }
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

ArrowArray make_words(const std::shared_ptr<const Texts>& words) {
  auto data = std::make_unique<ArrayData>();
  data->texts = words;
  data->buffers = {nullptr, words->offsets.data(), words->bytes.data()};
  return make_array(words->offsets.size() - 1, std::move(data));
}

}  // namespace

void append_utf8(std::string& out, std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t left = text.size(); left > 0;) {
    const std::size_t size = character(p, left);
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out.append(reinterpret_cast<const char*>(p), size);
    }
    const std::size_t step = size == 0 ? 1 : size;
    p += step;
    left -= step;
  }
}

ArrowSchema make_schema(std::string format, std::unique_ptr<SchemaData> data) {
  for (ArrowSchema& child : data->children) data->pointers.push_back(&child);
  data->format = std::move(format);
  ArrowSchema out{};
  out.format = data->format.c_str();
  out.name = data->name.c_str();
  if (!data->metadata.empty()) out.metadata = data->metadata.data();
  out.flags = kNullable;
  out.n_children = static_cast<std::int64_t>(data->children.size());
  out.children = data->pointers.data();
  out.release = release_schema;
  out.private_data = data.release();
  return out;
}

ArrowArray make_array(std::uint64_t rows, std::unique_ptr<ArrayData> data) {
  for (ArrowArray& child : data->children) data->pointers.push_back(&child);
  ArrowArray out{};
  out.length = static_cast<std::int64_t>(rows);
  out.null_count = data->nulls;
  if (data->words) out.dictionary = new ArrowArray(make_words(data->words));
  out.n_buffers = static_cast<std::int64_t>(data->buffers.size());
  out.n_children = static_cast<std::int64_t>(data->children.size());
  out.buffers = data->buffers.data();
  out.children = data->pointers.data();
  out.release = release_array;
  out.private_data = data.release();
  return out;
}

}  // namespace pydapple
