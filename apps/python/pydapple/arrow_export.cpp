// A Frame as a stream of Arrow record batches. Everything is copied, so that a consumer may keep
// batches for as long as it likes; the stream itself keeps the file mapped. No Python in here but
// where the capsule is made: consumers may call from any thread, with the GIL or without.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrow_abi.h"
#include "arrow_arrays.h"
#include "arrow_columns.h"
#include "core.h"
#include "dapple/gather.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::MeaningKind;
using Column = ArrowColumn;

constexpr std::uint64_t kBatchRows = 1 << 16;

/// What made a stream fail: Arrow passes on no more than a message and a number of the system.
/// Copies are of one. Any thread.
class StreamFault {
 public:
  void set(const dapple::Error& error) const {
    const std::lock_guard lock(state_->mutex);
    state_->error = error;
  }
  std::optional<dapple::Error> error() const {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
  }

 private:
  struct State {
    std::mutex mutex;
    std::optional<dapple::Error> error;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// What of a frame is streamed.
struct Selection {
  std::vector<std::string> names{};        // of the columns; none: the frame's own
  std::vector<std::size_t> columns{};      // places among those of the frame, text columns included
  bool all_columns = true;                 // `columns` does not tell
  dapple::Range rows{};                    // a range of rows, or
  std::vector<std::uint64_t> positions{};  // rows in any order
  bool by_position = false;
  bool named_zones = false;              // UTC for zones that are an offset
  std::string metadata{};                // of the schema, packed
  std::vector<std::string> of_fields{};  // of each field, or of none
};

class Stream {
 public:
  Stream(std::shared_ptr<const dapple::Frame> frame, Selection selection, StreamFault told)
      : fault(std::move(told)),
        frame_(std::move(frame)),
        positions_(std::move(selection.positions)),
        by_position_(selection.by_position),
        rows_(selection.by_position ? dapple::Range{0, positions_.size()} : selection.rows),
        metadata_(std::move(selection.metadata)),
        of_fields_(std::move(selection.of_fields)) {
    columns_ = columns_of(*frame_);
    if (!selection.all_columns) {
      std::vector<Column> picked;
      for (const std::size_t place : selection.columns) picked.push_back(columns_.at(place));
      columns_ = std::move(picked);
    }
    for (std::size_t k = 0; k < selection.names.size() && k < columns_.size(); ++k) {
      columns_[k].name = std::move(selection.names[k]);
    }
    for (Column& column : columns_) {
      std::string& zone = column.meaning.zone;
      if (selection.named_zones && (zone.starts_with('+') || zone.starts_with('-'))) zone = "UTC";
      if (column.meaning.kind == MeaningKind::category) {
        column.words = texts_of(*column.meaning.words);
      }
    }
  }

  ArrowSchema schema() const {
    auto data = std::make_unique<SchemaData>();
    data->metadata = metadata_;
    for (const Column& column : columns_) {
      auto child = std::make_unique<SchemaData>();
      child->name = column.name;
      const std::size_t k = data->children.size();
      if (k < of_fields_.size()) child->metadata = of_fields_[k];
      ArrowSchema made = make_schema(format_of(column), std::move(child));
      if (column.words) {
        made.dictionary = new ArrowSchema(make_schema("U", std::make_unique<SchemaData>()));
        if (column.meaning.ordered) made.flags |= kOrdered;
      }
      data->children.push_back(made);
    }
    return make_schema("+s", std::move(data));
  }

  /// The next rows; at the end an array that counts as released.
  ArrowArray next() {
    const std::uint64_t rows = std::min(rows_.size(), kBatchRows);
    if (rows == 0) return {};
    std::vector<std::unique_ptr<ArrayData>> parts;
    std::vector<dapple::ColumnBuffer> buffers;
    for (const Column& column : columns_) {
      auto part = std::make_unique<ArrayData>();
      if (column.shown) {
        read_text(column, {rows_.begin, rows_.begin + rows}, *part);
      } else {
        part->values.reset(rows * dapple::size_of(column.type));
        part->buffers = {nullptr, part->values.data()};
        buffers.push_back(
            {column.number, column.type, part->values.data(), dapple::size_of(column.type)});
      }
      parts.push_back(std::move(part));
    }
    if (by_position_) {
      dapple::gather_rows(*frame_, std::span(positions_).subspan(rows_.begin, rows), buffers);
    } else {
      frame_->read_rows({rows_.begin, rows_.begin + rows}, buffers);
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (!columns_[k].shown) describe(columns_[k], rows, *parts[k]);
    }
    auto batch = std::make_unique<ArrayData>();
    batch->buffers = {nullptr};
    for (auto& part : parts) batch->children.push_back(make_array(rows, std::move(part)));
    rows_.begin += rows;
    return make_array(rows, std::move(batch));
  }

  std::string error;
  StreamFault fault;

 private:
  /// All columns of the frame in order, and those that its format shows as text only.
  static std::vector<Column> columns_of(const dapple::Frame& frame) {
    std::vector<Column> all;
    const auto add = [&](Column column, std::string_view label) {
      append_utf8(column.name, label);
      all.push_back(std::move(column));
    };
    const auto texts = frame.text_columns();
    std::size_t text = 0;
    for (std::uint64_t col = 0; col <= frame.cols(); ++col) {
      for (; text < texts.size() && texts[text].before <= col; ++text) {
        if (texts[text].readable) add({.shown = true, .number = text}, texts[text].label);
      }
      if (col == frame.cols()) break;
      const dapple::Column& info = frame.column_info(col);
      add({.number = col, .type = info.value_type, .meaning = info.meaning}, info.label);
    }
    return all;
  }

  void read_text(const Column& column, dapple::Range rows, ArrayData& out) const {
    auto texts = std::make_shared<Texts>();
    texts->offsets.reset(rows.size() + 1);
    std::int64_t* offset = texts->offsets.data();
    *offset = 0;
    const auto take = [&](std::uint64_t, std::string_view text) {
      append_utf8(texts->bytes, text);
      *++offset = static_cast<std::int64_t>(texts->bytes.size());
    };
    if (!by_position_) {
      frame_->read_text(column.number, rows, take);
    } else {
      for (std::uint64_t k = rows.begin; k < rows.end; ++k) {
        frame_->read_text(column.number, {positions_[k], positions_[k] + 1}, take);
      }
    }
    set_texts(out, std::move(texts));
  }

  std::shared_ptr<const dapple::Frame> frame_;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> positions_;
  bool by_position_;
  dapple::Range rows_;  // those left: of the frame, or of the positions
  std::string metadata_;
  std::vector<std::string> of_fields_;
};

template <class F>
int guarded(ArrowArrayStream* stream, const F& work) noexcept {
  auto& self = *static_cast<Stream*>(stream->private_data);
  try {
    work(self);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const dapple::Error& error) {
    self.error = error.what();
    self.fault.set(error);
    return EIO;
  } catch (const std::exception& error) {
    self.error = error.what();
    return EIO;
  }
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

/// `rows` is None for all of them, a pair (begin, end), or an array of positions.
Selection selection_of(const dapple::Frame& frame, std::vector<std::string> names,
                       const std::optional<std::vector<std::size_t>>& columns, nb::handle rows) {
  Selection made;
  made.names = std::move(names);
  made.all_columns = !columns.has_value();
  if (columns) made.columns = *columns;
  made.rows = {0, frame.rows()};
  if (PyTuple_Check(rows.ptr())) {
    const auto [begin, end] = nb::cast<std::pair<std::uint64_t, std::uint64_t>>(rows);
    made.rows = {begin, end};
  } else if (!rows.is_none()) {
    const nb::object positions = contiguous(rows, dapple::ValueType::i64, 1);
    const auto* const first = static_cast<const std::int64_t*>(data_of(positions));
    made.positions.assign(first, first + PyArray_DIM(as_array(positions), 0));
    made.by_position = true;
  }
  return made;
}

nb::object stream_of(const FrameHandle& handle, std::optional<std::vector<std::string>> names,
                     const StreamFault* fault, std::optional<std::vector<std::size_t>> columns,
                     nb::handle rows, bool named_zones, const nb::bytes& metadata,
                     const nb::list& of_fields) {
  const auto frame = handle.share_frame();
  Selection selection =
      selection_of(*frame, std::move(names).value_or(std::vector<std::string>()), columns, rows);
  selection.named_zones = named_zones;
  selection.metadata.assign(metadata.c_str(), metadata.size());
  for (nb::handle field : of_fields) {
    const auto packed = nb::cast<nb::bytes>(field);
    selection.of_fields.emplace_back(packed.c_str(), packed.size());
  }
  auto kept = std::make_unique<Stream>(frame, std::move(selection),
                                       fault == nullptr ? StreamFault() : *fault);
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

/// The names of the columns that a consumer wants: those of the schema in a capsule.
std::vector<std::string> schema_names(nb::handle capsule) {
  const auto* const schema =
      static_cast<const ArrowSchema*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_schema"));
  if (schema == nullptr) throw nb::python_error();
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < schema->n_children; ++k) {
    const char* const name = schema->children[k]->name;
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

}  // namespace

void bind_arrow_export(nb::module_& m) {
  nb::class_<StreamFault>(m, "StreamFault")
      .def(nb::init<>())
      .def("error", [](const StreamFault& fault) {
        const auto error = fault.error();
        return error ? to_exception(*error) : nb::none();
      });
  m.def("arrow_stream", &stream_of, nb::arg("frame"), nb::arg("names") = nb::none(),
        nb::arg("fault") = nb::none(), nb::arg("columns") = nb::none(),
        nb::arg("rows") = nb::none(), nb::arg("named_zones") = false,
        nb::arg("metadata") = nb::bytes("", 0), nb::arg("of_fields") = nb::list());
  m.def("schema_names", &schema_names);
}

}  // namespace pydapple
