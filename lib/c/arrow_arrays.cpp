#include "lib/c/arrow_arrays.h"

#include <utility>

#include "lib/base/utf8.h"

namespace dapple::detail::c {

namespace {

/// Releases a schema or an array, and what it has.
template <class Data, class Arrow>
void release(Arrow* arrow) {
  if (arrow->dictionary != nullptr) {
    if (arrow->dictionary->release != nullptr) arrow->dictionary->release(arrow->dictionary);
    delete arrow->dictionary;
  }
  delete static_cast<Data*>(arrow->private_data);
  arrow->release = nullptr;
}

ArrowArray make_words(const std::shared_ptr<const Texts>& words) {
  auto data = std::make_unique<ArrayData>();
  data->texts = words;
  data->buffers = {nullptr, words->offsets.data(), words->bytes.data()};
  return make_array(words->offsets.size() - 1, std::move(data));
}

}  // namespace

void append_text(std::string& out, std::string_view text) {
  if (detail::is_ascii(text)) {
    out += text;
    return;
  }
  while (!text.empty()) {
    const auto character = detail::next_utf8(text);
    const std::size_t size = character ? character->size : 1;
    out += character ? text.substr(0, size) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(size);
  }
}

ArrowSchema make_schema(std::string format, std::unique_ptr<SchemaData> data) {
  for (ArrowSchema& child : data->children) data->pointers.push_back(&child);
  data->format = std::move(format);
  ArrowSchema out{};
  out.format = data->format.c_str();
  out.name = data->name.c_str();
  if (!data->metadata.empty()) out.metadata = data->metadata.data();
  out.flags = ARROW_FLAG_NULLABLE;
  out.n_children = static_cast<std::int64_t>(data->children.size());
  out.children = data->pointers.data();
  out.release = release<SchemaData, ArrowSchema>;
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
  out.release = release<ArrayData, ArrowArray>;
  out.private_data = data.release();
  return out;
}

}  // namespace dapple::detail::c
