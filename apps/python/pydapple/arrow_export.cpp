// A Frame as a stream of Arrow record batches. Everything is copied, so that a consumer may keep
// batches for as long as it likes; the stream itself keeps the file mapped. No Python in here but
// where the capsule is made: consumers may call from any thread, with the GIL or without.
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow_abi.h"
#include "core.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::ValueType;

constexpr std::uint64_t kBatchRows = 1 << 16;

const char* format_of(ValueType type) noexcept {
  constexpr const char* formats[] = {"", "C", "S", "I", "L", "c", "s", "i", "l", "f", "g"};
  return formats[static_cast<std::size_t>(type)];
}

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

/// Appends `text`, with U+FFFD for each byte that is not UTF-8: Arrow's strings have no place for
/// it.
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

/// A column of the stream: one of the frame's, or one of its text columns.
struct Column {
  bool text;
  std::uint64_t number;
  ValueType type;
  std::string name;
};

// Schemas.

struct SchemaData {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

void release_schema(ArrowSchema* schema) {
  for (std::int64_t k = 0; k < schema->n_children; ++k) {
    if (schema->children[k]->release != nullptr) schema->children[k]->release(schema->children[k]);
  }
  delete static_cast<SchemaData*>(schema->private_data);
  schema->release = nullptr;
}

ArrowSchema make_schema(const char* format, std::unique_ptr<SchemaData> data) {
  for (ArrowSchema& child : data->children) data->pointers.push_back(&child);
  ArrowSchema out{};
  out.format = format;
  out.name = data->name.c_str();
  out.n_children = static_cast<std::int64_t>(data->children.size());
  out.children = data->pointers.data();
  out.release = release_schema;
  out.private_data = data.release();
  return out;
}

// Arrays.

struct ArrayData {
  Array<std::byte> values;
  Array<std::int64_t> offsets;
  std::string text;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void release_array(ArrowArray* array) {
  for (std::int64_t k = 0; k < array->n_children; ++k) {
    if (array->children[k]->release != nullptr) array->children[k]->release(array->children[k]);
  }
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

ArrowArray make_array(std::uint64_t rows, std::unique_ptr<ArrayData> data) {
  for (ArrowArray& child : data->children) data->pointers.push_back(&child);
  ArrowArray out{};
  out.length = static_cast<std::int64_t>(rows);
  out.n_buffers = static_cast<std::int64_t>(data->buffers.size());
  out.n_children = static_cast<std::int64_t>(data->children.size());
  out.buffers = data->buffers.data();
  out.children = data->pointers.data();
  out.release = release_array;
  out.private_data = data.release();
  return out;
}

// The stream.

class Stream {
 public:
  explicit Stream(std::shared_ptr<const dapple::Frame> frame) : frame_(std::move(frame)) {
    const auto texts = frame_->text_columns();
    std::size_t text = 0;
    for (std::uint64_t col = 0; col <= frame_->cols(); ++col) {
      for (; text < texts.size() && texts[text].before <= col; ++text) {
        if (texts[text].readable) add({true, text, ValueType::u8, {}}, texts[text].label);
      }
      if (col < frame_->cols()) add({false, col, frame_->column_type(col), {}}, frame_->label(col));
    }
  }

  ArrowSchema schema() const {
    auto data = std::make_unique<SchemaData>();
    for (const Column& column : columns_) {
      auto child = std::make_unique<SchemaData>();
      child->name = column.name;
      data->children.push_back(
          make_schema(column.text ? "U" : format_of(column.type), std::move(child)));
    }
    return make_schema("+s", std::move(data));
  }

  /// The next rows; at the end an array that counts as released.
  ArrowArray next() {
    const std::uint64_t rows = std::min(frame_->rows() - row_, kBatchRows);
    if (rows == 0) return {};
    const dapple::Range range{row_, row_ + rows};
    std::vector<std::unique_ptr<ArrayData>> parts;
    std::vector<dapple::ColumnBuffer> buffers;
    for (const Column& column : columns_) {
      auto part = std::make_unique<ArrayData>();
      if (column.text) {
        read_text(column, range, *part);
      } else {
        part->values.reset(rows * dapple::size_of(column.type));
        part->buffers = {nullptr, part->values.data()};
        buffers.push_back(
            {column.number, column.type, part->values.data(), dapple::size_of(column.type)});
      }
      parts.push_back(std::move(part));
    }
    frame_->read_rows(range, buffers);
    auto batch = std::make_unique<ArrayData>();
    batch->buffers = {nullptr};
    for (auto& part : parts) batch->children.push_back(make_array(rows, std::move(part)));
    row_ += rows;
    return make_array(rows, std::move(batch));
  }

  std::string error;

 private:
  void add(Column column, std::string_view label) {
    append_utf8(column.name, label);
    columns_.push_back(std::move(column));
  }

  void read_text(const Column& column, dapple::Range rows, ArrayData& out) const {
    out.offsets.reset(rows.size() + 1);
    std::int64_t* offset = out.offsets.data();
    *offset = 0;
    frame_->read_text(column.number, rows, [&](std::uint64_t, std::string_view text) {
      append_utf8(out.text, text);
      *++offset = static_cast<std::int64_t>(out.text.size());
    });
    out.buffers = {nullptr, out.offsets.data(), out.text.data()};
  }

  std::shared_ptr<const dapple::Frame> frame_;
  std::vector<Column> columns_;
  std::uint64_t row_ = 0;
};

template <class F>
int guarded(ArrowArrayStream* stream, const F& work) noexcept {
  auto& self = *static_cast<Stream*>(stream->private_data);
  try {
    work(self);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    self.error = error.what();
    return EIO;
  }
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

nb::object stream_of(const FrameHandle& handle) {
  auto kept = std::make_unique<Stream>(handle.share_frame());
  auto stream = std::make_unique<ArrowArrayStream>();
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    return guarded(s, [&](Stream& self) { *out = self.schema(); });
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    return guarded(s, [&](Stream& self) { *out = self.next(); });
  };
  stream->get_last_error = [](ArrowArrayStream* s) {
    return static_cast<Stream*>(s->private_data)->error.c_str();
  };
  stream->release = release_stream;
  stream->private_data = kept.release();
  PyObject* const capsule = PyCapsule_New(stream.get(), kArrowStreamName, [](PyObject* made) {
    auto* const held = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(made, kArrowStreamName));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  stream.release();
  return nb::steal(capsule);
}

}  // namespace

void bind_arrow_export(nb::module_& m) { m.def("arrow_stream", &stream_of); }

}  // namespace pydapple
