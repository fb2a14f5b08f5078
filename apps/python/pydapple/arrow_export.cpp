// A Frame as a stream of Arrow record batches. Everything is copied, so that a consumer may keep
// batches for as long as it likes; the stream itself keeps the file mapped. No Python in here but
// where the capsule is made: consumers may call from any thread, with the GIL or without.
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrow_abi.h"
#include "arrow_arrays.h"
#include "core.h"

namespace pydapple {

namespace {

using dapple::Array;
using dapple::Meaning;
using dapple::MeaningKind;
using dapple::TimeUnit;
using dapple::ValueType;

constexpr std::uint64_t kBatchRows = 1 << 16;

const char* format_of(ValueType type) noexcept {
  constexpr const char* formats[] = {"", "C", "S", "I", "L", "c", "s", "i", "l", "f", "g"};
  return formats[static_cast<std::size_t>(type)];
}

/// A column of the stream: one of the frame's, or one that its format shows as text only.
struct Column {
  bool shown = false;
  std::uint64_t number = 0;
  ValueType type = ValueType::u8;
  Meaning meaning{};
  std::string name{};
  std::shared_ptr<const Texts> words{};  // of a category

  bool is_date() const noexcept {
    return meaning.kind == MeaningKind::timestamp && meaning.unit == TimeUnit::day;
  }
};

std::string format_of(const Column& column) {
  constexpr const char* units = "ssmun";  // Arrow has no durations in days
  const Meaning& meaning = column.meaning;
  const char unit = units[static_cast<std::size_t>(meaning.unit)];
  switch (meaning.kind) {
    case MeaningKind::number:
    case MeaningKind::category:
      return column.shown ? "U" : format_of(column.type);
    case MeaningKind::boolean:
      return "b";
    case MeaningKind::timestamp:
      return column.is_date() ? "tdD" : std::string("ts") + unit + ":" + meaning.zone;
    case MeaningKind::duration:
      return std::string("tD") + unit;
    case MeaningKind::text:
      return "U";
  }
  return {};
}

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

class Stream {
 public:
  /// The columns are called by `names`, if there are some.
  Stream(std::shared_ptr<const dapple::Frame> frame, std::vector<std::string> names,
         StreamFault told)
      : fault(std::move(told)), frame_(std::move(frame)) {
    const auto texts = frame_->text_columns();
    std::size_t text = 0;
    for (std::uint64_t col = 0; col <= frame_->cols(); ++col) {
      for (; text < texts.size() && texts[text].before <= col; ++text) {
        if (texts[text].readable) add({.shown = true, .number = text}, texts[text].label);
      }
      if (col == frame_->cols()) break;
      const dapple::Column& info = frame_->column_info(col);
      Column column{.number = col, .type = info.value_type, .meaning = info.meaning};
      if (info.meaning.kind == MeaningKind::category) column.words = texts_of(*info.meaning.words);
      add(std::move(column), info.label);
    }
    for (std::size_t k = 0; k < names.size() && k < columns_.size(); ++k) {
      columns_[k].name = std::move(names[k]);
    }
  }

  ArrowSchema schema() const {
    auto data = std::make_unique<SchemaData>();
    for (const Column& column : columns_) {
      auto child = std::make_unique<SchemaData>();
      child->name = column.name;
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
    const std::uint64_t rows = std::min(frame_->rows() - row_, kBatchRows);
    if (rows == 0) return {};
    const dapple::Range range{row_, row_ + rows};
    std::vector<std::unique_ptr<ArrayData>> parts;
    std::vector<dapple::ColumnBuffer> buffers;
    for (const Column& column : columns_) {
      auto part = std::make_unique<ArrayData>();
      if (column.shown) {
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
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (columns_[k].shown || is_number(columns_[k])) continue;
      dapple::visit_type(columns_[k].type,
                         [&](auto tag) { describe<decltype(tag)>(columns_[k], rows, *parts[k]); });
    }
    auto batch = std::make_unique<ArrayData>();
    batch->buffers = {nullptr};
    for (auto& part : parts) batch->children.push_back(make_array(rows, std::move(part)));
    row_ += rows;
    return make_array(rows, std::move(batch));
  }

  std::string error;
  StreamFault fault;

 private:
  void add(Column column, std::string_view label) {
    append_utf8(column.name, label);
    columns_.push_back(std::move(column));
  }

  static bool is_number(const Column& column) noexcept {
    return column.meaning.kind == MeaningKind::number && !column.meaning.missing;
  }

  static std::shared_ptr<const Texts> texts_of(const dapple::Dictionary& words) {
    auto out = std::make_shared<Texts>();
    out->offsets.reset(words.size() + 1);
    out->offsets[0] = 0;
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      append_utf8(out->bytes, words[i]);
      out->offsets[i + 1] = static_cast<std::int64_t>(out->bytes.size());
    }
    return out;
  }

  void read_text(const Column& column, dapple::Range rows, ArrayData& out) const {
    auto texts = std::make_shared<Texts>();
    texts->offsets.reset(rows.size() + 1);
    std::int64_t* offset = texts->offsets.data();
    *offset = 0;
    frame_->read_text(column.number, rows, [&](std::uint64_t, std::string_view text) {
      append_utf8(texts->bytes, text);
      *++offset = static_cast<std::int64_t>(texts->bytes.size());
    });
    set_texts(out, std::move(texts));
  }

  static void set_texts(ArrayData& out, std::shared_ptr<const Texts> texts) {
    out.buffers = {out.valid.size() != 0 ? out.valid.data() : nullptr, texts->offsets.data(),
                   texts->bytes.data()};
    out.texts = std::move(texts);
  }

  /// Turns stored values into what Arrow wants of the column's meaning.
  template <class T>
  static void describe(const Column& column, std::uint64_t rows, ArrayData& out) {
    auto* const values = reinterpret_cast<T*>(out.values.data());
    const Meaning& meaning = column.meaning;
    if (const auto mark = dapple::mark_of(meaning)) {
      using Bits = std::conditional_t<
          sizeof(T) == 1, std::uint8_t,
          std::conditional_t<sizeof(T) == 2, std::uint16_t,
                             std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
      const auto missing = static_cast<Bits>(*mark);
      for (std::uint64_t row = 0; row < rows; ++row) {
        Bits bits;
        std::memcpy(&bits, values + row, sizeof bits);
        if (bits != missing) continue;
        if (out.valid.size() == 0) {
          out.valid.reset((rows + 7) / 8);
          std::memset(out.valid.data(), 0xFF, out.valid.size());
        }
        out.valid[row / 8] = static_cast<std::uint8_t>(out.valid[row / 8] & ~(1U << row % 8));
        values[row] = T{};
        ++out.nulls;
      }
      if (out.nulls != 0) out.buffers[0] = out.valid.data();
    }
    if constexpr (std::is_integral_v<T>) {
      if (meaning.kind == MeaningKind::boolean) to_bits(values, rows, out);
      if (meaning.has_words()) to_words(column, values, rows, out);
      if (meaning.has_time() && meaning.unit == TimeUnit::day) {
        days(column, values, rows, out);
      }
    }
  }

  static bool is_valid(const ArrayData& out, std::uint64_t row) noexcept {
    return out.valid.size() == 0 || (out.valid[row / 8] >> row % 8 & 1) != 0;
  }

  [[noreturn]] static void fail(const Column& column, const char* what) {
    throw dapple::Error(dapple::Errc::corrupt, "column '" + column.name + "' holds " + what);
  }

  template <class T>
  static void to_bits(const T* values, std::uint64_t rows, ArrayData& out) {
    Array<std::byte> bits((rows + 7) / 8);
    std::memset(bits.data(), 0, bits.size());
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (values[row] != 0) bits[row / 8] |= static_cast<std::byte>(1U << row % 8);
    }
    out.values = std::move(bits);
    out.buffers[1] = out.values.data();
  }

  /// Of a category the places of its words, of text the words themselves.
  template <class T>
  static void to_words(const Column& column, T* codes, std::uint64_t rows, ArrayData& out) {
    const dapple::Dictionary& words = *column.meaning.words;
    const bool text = column.meaning.kind == MeaningKind::text;
    auto texts = text ? std::make_shared<Texts>() : nullptr;
    if (text) {
      texts->offsets.reset(rows + 1);
      texts->offsets[0] = 0;
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      const auto code = static_cast<std::uint64_t>(codes[row]);
      if (is_valid(out, row)) {
        if (code == 0 || code > words.size()) fail(column, "a code without a word");
        codes[row] = static_cast<T>(code - 1);
        if (text) append_utf8(texts->bytes, words[code - 1]);
      }
      if (text) texts->offsets[row + 1] = static_cast<std::int64_t>(texts->bytes.size());
    }
    if (text) {
      set_texts(out, std::move(texts));
    } else {
      out.words = column.words;
    }
  }

  template <class T>
  static void days(const Column& column, T* values, std::uint64_t rows, ArrayData& out) {
    constexpr std::int64_t day = 86400;
    if (!column.is_date()) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        std::int64_t seconds;
        if (__builtin_mul_overflow(static_cast<std::int64_t>(values[row]), day, &seconds)) {
          fail(column, "a duration that Arrow cannot hold in seconds");
        }
        values[row] = static_cast<T>(seconds);
      }
      return;
    }
    Array<std::byte> narrow(rows * sizeof(std::int32_t));
    for (std::uint64_t row = 0; row < rows; ++row) {
      const auto date = static_cast<std::int32_t>(values[row]);
      if (static_cast<T>(date) != values[row]) fail(column, "a date that Arrow cannot hold");
      std::memcpy(narrow.data() + row * sizeof date, &date, sizeof date);
    }
    out.values = std::move(narrow);
    out.buffers[1] = out.values.data();
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

nb::object stream_of(const FrameHandle& handle, std::optional<std::vector<std::string>> names,
                     const StreamFault* fault) {
  auto kept = std::make_unique<Stream>(handle.share_frame(),
                                       std::move(names).value_or(std::vector<std::string>()),
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

}  // namespace

void bind_arrow_export(nb::module_& m) {
  nb::class_<StreamFault>(m, "StreamFault")
      .def(nb::init<>())
      .def("error", [](const StreamFault& fault) {
        const auto error = fault.error();
        return error ? to_exception(*error) : nb::none();
      });
  m.def("arrow_stream", &stream_of, nb::arg("frame"), nb::arg("names") = nb::none(),
        nb::arg("fault") = nb::none());
}

}  // namespace pydapple
