// What the parts of the extension share: its objects, and how they are bound.
//
// A handle owns a copy of a Matrix or Frame, which keeps the file mapped; so do blocks and the
// arrays that view them. Everything is called with the GIL held unless it says otherwise.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "dapple/block.h"
#include "dapple/convert.h"
#include "dapple/error.h"
#include "dapple/frame.h"
#include "dapple/gather.h"
#include "dapple/matrix.h"
#include "dapple/names.h"
#include "dapple/open.h"
#include "dapple/product.h"
#include "dapple/sidecar.h"
#include "dapple/stats.h"
#include "dapple/tiles.h"
#include "dapple/verify.h"
#include "dapple/writer.h"

namespace pydapple {

namespace nb = nanobind;

/// A Matrix or a Frame, until it is closed.
class Handle {
 public:
  virtual ~Handle() = default;

  /// `far`: its bytes may have to be waited for, perhaps by threads that need the GIL for them.
  Handle(std::shared_ptr<const dapple::BlockedObject> object, bool far) noexcept
      : object_(std::move(object)), far_(far) {}

  bool far() const noexcept { return far_; }
  bool closed() const noexcept { return object_ == nullptr; }
  void close() noexcept { object_.reset(); }

  /// Throws ValueError once closed.
  const dapple::BlockedObject& object() const {
    require_open();
    return *object_;
  }
  /// For work without the GIL, during which another thread may close the handle.
  std::shared_ptr<const dapple::BlockedObject> share() const {
    require_open();
    return object_;
  }

 protected:
  void require_open() const {
    if (!object_)
      throw dapple::Error(dapple::Errc::invalid_argument, "the matrix or frame is closed");
  }
  std::shared_ptr<const dapple::BlockedObject> object_;
  bool far_;
};

class MatrixHandle : public Handle {
 public:
  explicit MatrixHandle(dapple::Matrix matrix, bool far = false);
  MatrixHandle(const MatrixHandle& other) : MatrixHandle(other.matrix(), other.far_) {}

  const dapple::Matrix& matrix() const { return static_cast<const dapple::Matrix&>(object()); }
  std::shared_ptr<const dapple::Matrix> share_matrix() const {
    return std::static_pointer_cast<const dapple::Matrix>(share());
  }
  dapple::ValueType value_type() const noexcept { return type_; }

  /// The tiles as the matrix's own type T, as long as every one that was asked for could be viewed;
  /// then null.
  template <dapple::Value T>
  const dapple::Tiles<T>* views() const noexcept {
    return std::get_if<dapple::Tiles<T>>(&views_);
  }
  void give_up_views() const noexcept { views_ = std::monostate(); }

  /// Of a matrix that another process sent: pages of the file are given back after large reads,
  /// because Dask counts them as a worker's own memory, and pauses or ends it.
  void set_gives_back() noexcept { gives_back_ = true; }
  bool gives_back() const noexcept { return gives_back_; }

  /// True when a few cells are read so fast that waiting for the GIL afterwards would take longer:
  /// where no block is sparse, compressed, text or far away.
  bool is_quick() const;

 private:
  dapple::ValueType type_;
  bool gives_back_ = false;
  // Written with the GIL held only.
  mutable std::variant<std::monostate, dapple::Tiles<std::uint8_t>, dapple::Tiles<std::uint16_t>,
                       dapple::Tiles<std::uint32_t>, dapple::Tiles<std::uint64_t>,
                       dapple::Tiles<std::int8_t>, dapple::Tiles<std::int16_t>,
                       dapple::Tiles<std::int32_t>, dapple::Tiles<std::int64_t>,
                       dapple::Tiles<float>, dapple::Tiles<double>>
      views_;
  mutable std::optional<bool> quick_;
};

class FrameHandle : public Handle {
 public:
  explicit FrameHandle(dapple::Frame frame, bool far = false)
      : Handle(std::make_shared<dapple::Frame>(std::move(frame)), far) {}

  const dapple::Frame& frame() const { return static_cast<const dapple::Frame&>(object()); }
  std::shared_ptr<const dapple::Frame> share_frame() const {
    return std::static_pointer_cast<const dapple::Frame>(share());
  }
};

/// A list of names. It keeps its file mapped.
struct NamesHandle {
  std::shared_ptr<const dapple::Names> names;
};

/// What a handle holds, itself.
std::variant<dapple::Matrix, dapple::Frame> variant_of(const Handle& handle);
/// The other way; `far` as a Handle takes it.
nb::object to_handle(std::variant<dapple::Matrix, dapple::Frame>&& opened, bool far);

/// How many threads a caller asks for; 0: one for each processor.
struct Threads {
  std::int64_t given = 1;  // negative: that is no number of threads

  operator unsigned() const {
    if (given >= 0 && given <= std::numeric_limits<unsigned>::max()) {
      return static_cast<unsigned>(given);
    }
    throw dapple::Error(dapple::Errc::invalid_argument,
                        "threads is a number of threads, or 0: one for each processor");
  }
};

/// Lets a signal handler, such as that of Ctrl-C, run. Throws what it raises.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Copies `region`, which is not empty, row after row to `out`, `row_stride` values apart (0: no
/// gap). With the GIL or without.
void read_cells(const dapple::Matrix& matrix, const dapple::Region& region, void* out,
                std::size_t row_stride, dapple::ValueType type, const dapple::ReadOptions& options);
/// The same without the GIL, and in pieces between which Ctrl-C is seen.
void read_region(const dapple::Matrix& matrix, const dapple::Region& region, void* out,
                 std::size_t row_stride, dapple::ValueType type,
                 const dapple::ReadOptions& options);

/// mp_subscript of Matrix: integers and slices here, anything else by its method `_subscript`.
PyObject* matrix_subscript(PyObject* self, PyObject* key) noexcept;

/// Has Python raise the exception for `error`: one of those in errors.py.
void raise(const dapple::Error& error) noexcept;
/// The exception itself.
nb::object to_exception(const dapple::Error& error);

/// A value in a message: short, and on one line.
std::string shown(nb::handle value);
/// Raises for an integer that is no row or column: "row 7 is outside the 3 x 4 matrix".
void raise_index(const char* axis, PyObject* index, std::uint64_t rows,
                 std::uint64_t cols) noexcept;

inline constexpr const char* kArrowStreamName = "arrow_array_stream";
void bind_arrow_export(nb::module_& m);
void bind_arrow_import(nb::module_& m);
void bind_block(nb::module_& m);
void bind_block_lookup(nb::class_<Handle>& object);
void bind_dataset(nb::module_& m);
void bind_collection(nb::module_& m);
void bind_command(nb::module_& m);
void bind_drawing(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_files(nb::module_& m);
void bind_remote(nb::module_& m);
void bind_frame(nb::module_& m);
void bind_gene_counts(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_names(nb::module_& m);
void bind_products(nb::module_& m);
void bind_options(nb::module_& m);
void bind_search(nb::module_& m);
void bind_words(nb::module_& m);
void bind_writer(nb::module_& m);

}  // namespace pydapple

namespace nanobind::detail {

/// None is one thread.
template <>
struct has_arg_defaults<pydapple::Threads> : std::true_type {};

/// Takes anything, so that what is no number of threads becomes an Error like others.
template <>
struct type_caster<pydapple::Threads> {
  NB_TYPE_CASTER(pydapple::Threads, const_name("int"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    if (source.is_none()) return true;
    const object index = steal(PyNumber_Index(source.ptr()));
    const long long given = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    value.given = given;
    return true;
  }
};

}  // namespace nanobind::detail
