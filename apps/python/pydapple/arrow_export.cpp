// A Frame as an Arrow stream in a capsule.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "at_work.h"
#include "core.h"
#include "dapple/arrow.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

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

/// `rows` is None for all of them, a pair (begin, end), or an array of positions.
void set_rows(dapple::ArrowOptions& options, nb::handle rows) {
  if (PyTuple_Check(rows.ptr())) {
    const auto [begin, end] = nb::cast<std::pair<std::uint64_t, std::uint64_t>>(rows);
    options.rows = dapple::Range{begin, end};
  } else if (!rows.is_none()) {
    const nb::object positions = contiguous(rows, dapple::ValueType::i64, 1);
    const auto* const first = static_cast<const std::int64_t*>(data_of(positions));
    options.positions.emplace(first, first + PyArray_DIM(as_array(positions), 0));
  }
}

nb::object stream_of(const FrameHandle& handle, std::optional<std::vector<std::string>> names,
                     const StreamFault* fault, std::optional<std::vector<std::size_t>> columns,
                     nb::handle rows, bool named_zones, const nb::bytes& metadata,
                     const nb::list& of_fields, int absent) {
  dapple::ArrowOptions options{.columns = std::move(columns),
                               .names = std::move(names).value_or(std::vector<std::string>()),
                               .absent = static_cast<dapple::Absent>(absent),
                               .named_zones = named_zones};
  set_rows(options, rows);
  options.metadata.assign(metadata.c_str(), metadata.size());
  for (nb::handle field : of_fields) {
    const auto packed = nb::cast<nb::bytes>(field);
    options.metadata_of_columns.emplace_back(packed.c_str(), packed.size());
  }
  if (fault != nullptr) {
    options.fault = [told = *fault](const dapple::Error& error) { told.set(error); };
  }
  auto stream = std::make_unique<ArrowArrayStream>();
  const auto frame = handle.share_frame();
  {
    const WithoutGil release;  // words are read now
    dapple::arrow_stream(*frame, std::move(options), *stream);
  }
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
        nb::arg("metadata") = nb::bytes("", 0), nb::arg("of_fields") = nb::list(),
        nb::arg("absent") = 0);
  m.def("schema_names", &schema_names);
}

}  // namespace pydapple
