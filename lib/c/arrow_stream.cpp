// A Frame as a stream of Arrow record batches.
#include "dapple/arrow.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <utility>

#include "dapple/dapple_c.h"
#include "dapple/gather.h"
#include "lib/c/arrow_arrays.h"
#include "lib/c/arrow_columns.h"
#include "lib/c/handles.h"

namespace dapple::detail::c {

namespace {

constexpr std::uint64_t kBatchRows = 1 << 16;

class Stream {
 public:
  Stream(Frame frame, ArrowOptions options)
      : frame_(std::move(frame)),
        fault_(std::move(options.fault)),
        columns_(columns_of(frame_)),
        positions_(std::move(options.positions)),
        absent_(options.absent),
        metadata_(std::move(options.metadata)),
        metadata_of_columns_(std::move(options.metadata_of_columns)) {
    rows_ =
        positions_ ? Range{0, positions_->size()} : options.rows.value_or(Range{0, frame_.rows()});
    if (options.columns) columns_ = picked(*options.columns);
    for (std::size_t k = 0; k < options.names.size() && k < columns_.size(); ++k) {
      columns_[k].name = std::move(options.names[k]);
    }
    for (ArrowColumn& column : columns_) {
      std::string& zone = column.meaning.zone;
      if (options.named_zones && (zone.starts_with('+') || zone.starts_with('-'))) zone = "UTC";
      if (column.meaning.kind == MeaningKind::category) {
        column.words = texts_of(*column.meaning.words);
      }
    }
  }

  ArrowSchema schema() const {
    auto data = std::make_unique<SchemaData>();
    data->metadata = metadata_;
    data->children.reserve(columns_.size());
    for (const ArrowColumn& column : columns_) {
      auto child = std::make_unique<SchemaData>();
      child->name = column.name;
      const std::size_t k = data->children.size();
      if (k < metadata_of_columns_.size()) child->metadata = metadata_of_columns_[k];
      ArrowSchema& made =
          data->children.emplace_back(make_schema(format_of(column), std::move(child)));
      if (column.words) {
        made.dictionary = new ArrowSchema(make_schema("U", std::make_unique<SchemaData>()));
        if (column.meaning.ordered) made.flags |= ARROW_FLAG_DICTIONARY_ORDERED;
      }
    }
    return make_schema("+s", std::move(data));
  }

  /// The next rows; at the end an array that counts as released.
  ArrowArray next() {
    const std::uint64_t rows = std::min(rows_.size(), kBatchRows);
    if (rows == 0) return {};
    std::vector<std::unique_ptr<ArrayData>> parts;
    std::vector<ColumnBuffer> buffers;
    for (const ArrowColumn& column : columns_) {
      auto part = std::make_unique<ArrayData>();
      if (column.shown) {
        read_text(column, {rows_.begin, rows_.begin + rows}, *part);
      } else {
        part->values.reset(rows * size_of(column.type));
        part->buffers = {nullptr, part->values.data()};
        buffers.push_back({column.number, column.type, part->values.data(), size_of(column.type)});
      }
      parts.push_back(std::move(part));
    }
    if (positions_) {
      gather_rows(frame_, std::span(*positions_).subspan(rows_.begin, rows), buffers,
                  {.absent = absent_});
    } else {
      frame_.read_rows({rows_.begin, rows_.begin + rows}, buffers, {.absent = absent_});
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (!columns_[k].shown) describe(columns_[k], rows, *parts[k]);
    }
    auto batch = std::make_unique<ArrayData>();
    batch->buffers = {nullptr};
    batch->children.reserve(parts.size());
    for (auto& part : parts) batch->children.push_back(make_array(rows, std::move(part)));
    const ArrowArray made = make_array(rows, std::move(batch));
    rows_.begin += rows;  // last: a call that failed can be repeated
    return made;
  }

  dapple_error error{};  // the latest

  void tell(const Error& failed) const {
    if (fault_) fault_(failed);
  }

 private:
  std::vector<ArrowColumn> picked(const std::vector<std::size_t>& places) const {
    std::vector<ArrowColumn> columns;
    for (const std::size_t place : places) {
      if (place >= columns_.size()) {
        throw Error(Errc::out_of_range, "there is no column " + std::to_string(place) + " of " +
                                            std::to_string(columns_.size()));
      }
      columns.push_back(columns_[place]);
    }
    return columns;
  }

  /// All columns of the frame in order, and those that its format shows as text only.
  static std::vector<ArrowColumn> columns_of(const Frame& frame) {
    std::vector<ArrowColumn> all;
    const auto add = [&](ArrowColumn column, std::string_view label) {
      append_text(column.name, label);
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

  void read_text(const ArrowColumn& column, Range rows, ArrayData& out) const {
    auto texts = std::make_shared<Texts>();
    texts->offsets.reset(rows.size() + 1);
    std::int64_t* offset = texts->offsets.data();
    *offset = 0;
    const auto take = [&](std::uint64_t, std::string_view text) {
      append_text(texts->bytes, text);
      *++offset = static_cast<std::int64_t>(texts->bytes.size());
    };
    if (!positions_) {
      frame_.read_text(column.number, rows, take);
    } else {
      for (std::uint64_t k = rows.begin; k < rows.end; ++k) {
        frame_.read_text(column.number, {(*positions_)[k], (*positions_)[k] + 1}, take);
      }
    }
    set_texts(out, std::move(texts));
  }

  Frame frame_;
  std::function<void(const Error&)> fault_;
  std::vector<ArrowColumn> columns_;
  std::optional<std::vector<std::uint64_t>> positions_;
  Absent absent_;
  Range rows_;  // those left: of the frame, or of the positions
  std::string metadata_;
  std::vector<std::string> metadata_of_columns_;
};

template <class F>
int answered(ArrowArrayStream* stream, const F& work) noexcept {
  auto& self = *static_cast<Stream*>(stream->private_data);
  const std::int32_t code = guarded(&self.error, [&] {
    try {
      work(self);
    } catch (const Error& failed) {
      self.tell(failed);
      throw;
    }
  });
  return code == DAPPLE_OK ? 0 : code == DAPPLE_NO_MEMORY ? ENOMEM : EIO;
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

void require_rows(const Frame& frame, const ArrowOptions& options) {
  const auto require = [&](Range rows) {
    if (rows.begin <= rows.end && rows.end <= frame.rows()) return;
    throw Error(Errc::out_of_range, "rows " + std::to_string(rows.begin) + ":" +
                                        std::to_string(rows.end) + " are not inside the " +
                                        std::to_string(frame.rows()) + " rows");
  };
  if (options.rows) require(*options.rows);
  if (!options.positions) return;
  for (const std::uint64_t row : *options.positions) require({row, row + 1});
}

/// Where a column of the frame is among those that are streamed (`ArrowOptions::columns`). Throws
/// out_of_range.
std::size_t place_of(const Frame& frame, std::uint64_t col) {
  frame.column_type(col);
  const auto texts = frame.text_columns();
  const auto before = std::count_if(texts.begin(), texts.end(), [&](const TextColumn& text) {
    return text.readable && text.before <= col;
  });
  return static_cast<std::size_t>(col) + static_cast<std::size_t>(before);
}

}  // namespace

extern "C" int32_t dapple_arrow_stream(const dapple_object* object, const uint64_t* cols,
                                       size_t n_cols, uint64_t row_begin, uint64_t row_end,
                                       ArrowArrayStream* stream, dapple_error* error) {
  return guarded(error, [&] {
    const Frame& frame = frame_of(checked(object));
    ArrowOptions options;
    options.rows = range(row_begin, row_end, "rows");
    if (cols != nullptr) {
      options.columns.emplace();
      for (std::size_t k = 0; k < n_cols; ++k) {
        options.columns->push_back(place_of(frame, cols[k]));
      }
    }
    arrow_stream(frame, std::move(options), needed(stream, "stream"));
  });
}

}  // namespace dapple::detail::c

namespace dapple {

void arrow_stream(Frame frame, ArrowOptions options, ArrowArrayStream& out) {
  namespace c = detail::c;
  c::require_rows(frame, options);
  auto kept = std::make_unique<c::Stream>(std::move(frame), std::move(options));
  out.get_schema = [](ArrowArrayStream* s, ArrowSchema* schema) {
    return c::answered(s, [&](c::Stream& self) { *schema = self.schema(); });
  };
  out.get_next = [](ArrowArrayStream* s, ArrowArray* batch) {
    return c::answered(s, [&](c::Stream& self) { *batch = self.next(); });
  };
  out.get_last_error = [](ArrowArrayStream* s) {
    return static_cast<const c::Stream*>(s->private_data)->error.message;
  };
  out.release = c::release_stream;
  out.private_data = kept.release();
}

}  // namespace dapple
