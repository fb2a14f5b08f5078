// Opening, and what objects say of themselves.
#include <cstring>
#include <system_error>

#include "dapple/names.h"
#include "dapple/range_reader.h"
#include "dapple/version.h"
#include "lib/c/handles.h"
#include "lib/c/options.h"
#include "lib/catalog/formats.h"
#include "lib/io/memory/memory_source.h"
#include "lib/object/make_object.h"

namespace dapple::detail::c {

namespace {

using Release = void (*)(void*);

/// Calls `release` when the last copy is gone.
std::shared_ptr<const void> released_later(Release release, void* context) {
  if (release == nullptr) return nullptr;
  return std::shared_ptr<const void>(context,
                                     [release](const void* p) { release(const_cast<void*>(p)); });
}

/// The functions of a C program.
class CReader final : public RangeReader {
 public:
  CReader(const dapple_reader& reader, std::string name, std::shared_ptr<const void> keep)
      : reader_(reader), name_(std::move(name)), keep_(std::move(keep)) {}

  std::uint64_t size() const override { return answer(reader_.size(reader_.context), "size"); }
  std::uint64_t read(std::span<const RangeRequest> requests) const override {
    std::vector<dapple_range> ranges;
    for (const auto& [offset, to] : requests) ranges.push_back({offset, to.size(), to.data()});
    return answer(reader_.read(reader_.context, ranges.data(), ranges.size()), "read");
  }

 private:
  std::uint64_t answer(std::int64_t number, const char* what) const {
    if (number >= 0) return static_cast<std::uint64_t>(number);
    const int code = number < -4096 ? EIO : static_cast<int>(-number);
    throw Error(
        Errc::io, name_, std::nullopt,
        std::string("its reader failed (") + what + "): " + std::generic_category().message(code),
        {}, code);
  }

  const dapple_reader reader_;
  const std::string name_;
  const std::shared_ptr<const void> keep_;
};

void give(std::variant<Matrix, Frame> object, dapple_object** to) {
  *to = std::make_unique<dapple_object>(std::move(object)).release();
}

/// The names of one axis, or absent.
const Names& names_of(const dapple_object& object, std::int32_t axis) {
  if (axis != DAPPLE_ROWS && axis != DAPPLE_COLUMNS) fail_argument("names are of rows or columns");
  // The object keeps them.
  const auto names = axis == DAPPLE_ROWS ? object.any->row_names() : object.any->col_names();
  if (names != nullptr) return *names;
  throw Error(Errc::absent,
              axis == DAPPLE_ROWS ? "the rows have no names" : "the columns have no names");
}

std::string_view text_of(const dapple_object& object, std::int32_t what, std::uint64_t i) {
  switch (what) {
    case DAPPLE_LABEL:
      return frame_of(object).label(i);
    case DAPPLE_CONTENT: {
      const auto& contents = object.any->contents();
      if (i >= contents.size()) {
        throw Error(Errc::out_of_range, "the file says of " + std::to_string(contents.size()) +
                                            " objects that it holds them");
      }
      return contents[i];
    }
    case DAPPLE_NOTE:
      return object.any->note();
    case DAPPLE_ROW_NAME:
      return names_of(object, DAPPLE_ROWS)[i];
    case DAPPLE_COL_NAME:
      return names_of(object, DAPPLE_COLUMNS)[i];
    default:
      fail_argument("there is no text " + std::to_string(what));
  }
}

dapple_info info_of(const dapple_object& object) {
  const BlockedObject& any = *object.any;
  dapple_info info{};
  info.rows = any.rows();
  info.cols = any.cols();
  info.blocks = any.blocks().size();
  if (const auto grid = any.grid()) {
    info.tile_rows = grid->tile.rows;
    info.tile_cols = grid->tile.cols;
  }
  info.bytes = any.bytes();
  info.contents = any.contents().size();
  info.format = any.format().data();
  info.row_names = any.row_names() != nullptr ? 1 : 0;
  info.col_names = any.col_names() != nullptr ? 1 : 0;
  info.kind = DAPPLE_FRAME;
  if (const auto* const matrix = std::get_if<Matrix>(&object.held)) {
    info.kind = DAPPLE_MATRIX;
    info.type = static_cast<std::int32_t>(matrix->value_type());
    info.sparse = matrix->storage() == Storage::csr ? 1 : 0;
  }
  return info;
}

}  // namespace

extern "C" {

const char* dapple_version(void) { return DAPPLE_VERSION; }

int32_t dapple_open(const char* path, const char* const* options, dapple_object** object,
                    dapple_error* error) {
  return guarded(error, [&] {
    needed(object, "object");
    give(open(std::filesystem::path(&needed(path, "path")), open_options(options)), object);
  });
}

int32_t dapple_open_memory(const void* bytes, size_t size, void (*release)(void* context),
                           void* context, const char* name, const char* const* options,
                           dapple_object** object, dapple_error* error) {
  return guarded(error, [&] {
    const auto keep = released_later(release, context);
    needed(object, "object");
    const auto* const first = static_cast<const std::byte*>(array(bytes, size, "bytes"));
    give(detail::make_object(detail::open_store(
             detail::memory_source({first, size}, name == nullptr ? "memory" : name, keep),
             open_options(options))),
         object);
  });
}

int32_t dapple_open_reader(const dapple_reader* reader, const char* name,
                           const char* const* options, dapple_object** object,
                           dapple_error* error) {
  return guarded(error, [&] {
    needed(reader, "reader");
    auto keep = released_later(reader->release, reader->context);
    const std::string called = name == nullptr ? "reader" : name;
    const auto kept = std::make_shared<CReader>(*reader, called, std::move(keep));
    if (reader->size == nullptr || reader->read == nullptr) fail_argument("a function is NULL");
    needed(object, "object");
    give(open(kept, called, open_options(options)), object);
  });
}

void dapple_close(dapple_object** object) { end_handle(object); }

int32_t dapple_get_info(const dapple_object* object, dapple_info* info, dapple_error* error) {
  return guarded(error, [&] { needed(info, "info") = info_of(checked(object)); });
}

int32_t dapple_get_text(const dapple_object* object, int32_t what, uint64_t i, const char** text,
                        size_t* size, dapple_error* error) {
  return guarded(error, [&] {
    const std::string_view found = text_of(checked(object), what, i);
    needed(text, "text") = found.data();
    needed(size, "size") = found.size();
  });
}

int32_t dapple_find_name(const dapple_object* object, int32_t axis, const char* name, uint64_t* i,
                         dapple_error* error) {
  return guarded(error, [&] {
    const std::string_view wanted = &needed(name, "name");
    const auto found = names_of(checked(object), axis).find(wanted);
    if (!found) throw Error(Errc::absent, "nothing is named \"" + std::string(wanted) + "\"");
    needed(i, "i") = *found;
  });
}

int32_t dapple_get_attributes(const dapple_object* object, char* text, size_t room, size_t* size,
                              dapple_error* error) {
  return guarded(error, [&] {
    const std::string json = checked(object).any->attributes();
    needed(size, "size") = json.size();
    if (room > json.size()) std::memcpy(array(text, room, "text"), json.c_str(), json.size() + 1);
  });
}

int32_t dapple_get_column(const dapple_object* object, uint64_t col, dapple_column* column,
                          dapple_error* error) {
  return guarded(error, [&] {
    const auto* const frame = std::get_if<Frame>(&checked(object).held);
    const Column plain{.value_type = object->any->column_type(col)};
    const Column& found = frame != nullptr ? frame->column_info(col) : plain;
    const Meaning& meaning = found.meaning;
    const auto mark = mark_of(meaning);
    dapple_column& out = needed(column, "column");
    out = {};
    out.zone = frame != nullptr ? meaning.zone.c_str() : "";
    out.words = meaning.words != nullptr ? meaning.words->size() : 0;
    out.missing = mark.value_or(0);
    out.has_missing = mark ? 1 : 0;
    out.type = static_cast<std::int32_t>(found.value_type);
    out.meaning = static_cast<std::int32_t>(meaning.kind);
    out.unit = static_cast<std::int32_t>(meaning.unit);
    out.ordered = meaning.ordered ? 1 : 0;
  });
}

int32_t dapple_find_column(const dapple_object* object, const char* label, uint64_t* col,
                           dapple_error* error) {
  return guarded(error, [&] {
    needed(col, "col") = frame_of(checked(object)).column(&needed(label, "label"));
  });
}

int32_t dapple_get_word(const dapple_object* object, uint64_t col, uint64_t i, const char** text,
                        size_t* size, dapple_error* error) {
  return guarded(error, [&] {
    const Meaning& meaning = frame_of(checked(object)).column_info(col).meaning;
    if (meaning.words == nullptr) {
      throw Error(Errc::type_mismatch, "column " + std::to_string(col) + " has no words");
    }
    const std::string_view word = (*meaning.words)[i];
    needed(text, "text") = word.data();
    needed(size, "size") = word.size();
  });
}

}  // extern "C"

}  // namespace dapple::detail::c
