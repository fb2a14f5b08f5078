// Tables from an Arrow stream, put together from some batches or all.
#include <memory>
#include <string>
#include <vector>

#include "arrow_column.h"
#include "core.h"
#include "dapple/arrow_abi.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

/// Releases what a producer made, however this ends.
template <class Made>
struct Owned : Made {
  Owned() : Made{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
};

void check(ArrowArrayStream& stream, int status) {
  if (status == 0) return;
  const char* const words = stream.get_last_error(&stream);
  throw dapple::Error(dapple::Errc::invalid_argument,
                      words != nullptr ? words : "the Arrow stream failed");
}

/// What call() gives: a producer may wait for threads of its own, which need the GIL to read a file
/// through Python.
template <class Call>
int without_gil(const Call& call) {
  const nb::gil_scoped_release release;
  return call();
}

/// The rows of a stream, some at a time.
class Reader {
 public:
  explicit Reader(nb::handle capsule) {
    auto* const held =
        static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kArrowStreamName));
    if (held == nullptr) throw nb::python_error();
    if (held->release == nullptr)
      throw dapple::Error(dapple::Errc::invalid_argument, "the Arrow stream was read before");
    static_cast<ArrowArrayStream&>(stream_) = *held;  // moved, as Arrow's interface has it
    held->release = nullptr;
    check(stream_, without_gil([&] { return stream_.get_schema(&stream_, &schema_); }));
    if (std::string(schema_.format) != "+s") {
      throw nb::type_error("the Arrow stream holds one array, but a frame is made of columns");
    }
    start_columns();
    for (const ArrowColumn& column : columns_) whole_ |= column.is_ordered();
  }

  nb::list metadata() const { return metadata_of(schema_); }

  /// [(name, values, missing, meaning, metadata)] of all columns, of the next rows, up to the batch
  /// that makes them `most` bytes; of all rows where only all words of a category together tell
  /// its order. None where no rows follow, other than at first.
  nb::object next(std::uint64_t most) {
    std::uint64_t bytes = 0, batches = 0;
    std::unique_ptr<Owned<ArrowArray>> before;
    while (whole_ || bytes < most) {
      auto made = std::make_unique<Owned<ArrowArray>>();
      ArrowArray& batch = *made;
      check(stream_, without_gil([&] { return stream_.get_next(&stream_, &batch); }));
      if (batch.release == nullptr) break;
      if (batch.n_children != schema_.n_children) {
        throw dapple::Error(dapple::Errc::invalid_argument,
                            "a batch of the Arrow stream does not fit its schema");
      }
      bytes = 0;
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        columns_[k].append(*batch.children[k], batch);
        bytes += columns_[k].bytes();
      }
      before = std::move(made);
      ++batches;
      check_signals();
    }
    if (batches == 0 && started_) return nb::none();
    started_ = true;
    nb::list out;
    for (ArrowColumn& column : columns_) out.append(column.finish());
    start_columns();
    return out;
  }

 private:
  void start_columns() {
    columns_.clear();
    for (std::int64_t k = 0; k < schema_.n_children; ++k)
      columns_.emplace_back(*schema_.children[k]);
  }

  Owned<ArrowArrayStream> stream_;
  Owned<ArrowSchema> schema_;
  std::vector<ArrowColumn> columns_;  // of the rows that are being read
  bool whole_ = false, started_ = false;
};

}  // namespace

void bind_arrow_import(nb::module_& m) {
  nb::class_<Reader>(m, "ArrowReader")
      .def(nb::init<nb::handle>())
      .def("metadata", &Reader::metadata)
      .def("next", &Reader::next);
}

}  // namespace pydapple
