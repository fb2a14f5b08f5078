// Objects whose bytes Python reads in ranges: remote.py has the stores and their readers.
#include <cstring>
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
#include "dapple/collection.h"
#include "dapple/range_reader.h"

namespace pydapple {

namespace {

/// The bytes of a Python object, for as long as this lives. Called with the GIL held.
class Bytes {
 public:
  explicit Bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  const void* data() const noexcept { return buffer_.buf; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};
};

/// Calls read([(first, size), ...]), which gives bytes for each. What it raises is thrown.
class PythonReader final : public dapple::RangeReader {
 public:
  PythonReader(std::uint64_t size, std::string name, nb::callable read)
      : size_(size), name_(std::move(name)), read_(std::move(read)) {}
  ~PythonReader() override {
    const WithGil acquire;  // threads of the library may be the last to let go
    read_.reset();
  }

  std::uint64_t size() const override { return size_; }
  std::string lasting_name() const override { return name_; }

  std::uint64_t read(std::span<const dapple::RangeRequest> requests) const override {
    const WithGil acquire;
    std::vector<std::pair<std::uint64_t, std::size_t>> ranges;
    for (const auto& request : requests) ranges.emplace_back(request.offset, request.to.size());
    const nb::object answers = read_(ranges);
    std::uint64_t total = 0;
    std::size_t i = 0;
    for (const nb::handle answer : answers) {
      const Bytes bytes(answer);
      total += bytes.size();
      if (i == requests.size() || bytes.size() != requests[i].to.size()) break;  // a wrong total
      std::memcpy(requests[i++].to.data(), bytes.data(), bytes.size());
    }
    return total;
  }

 private:
  std::uint64_t size_;
  std::string name_;
  nb::callable read_;
};

/// Calls find(name), which gives None or a reader, and list(folder).
class PythonStore final : public dapple::ObjectStore {
 public:
  explicit PythonStore(nb::object store) : store_(std::move(store)) {}
  ~PythonStore() override {
    const WithGil acquire;
    store_.reset();
  }

  std::shared_ptr<const dapple::RangeReader> find(const std::string& name) const override {
    const WithGil acquire;
    const nb::object reader = store_.attr("find")(name);
    if (reader.is_none()) return nullptr;
    return std::make_shared<const PythonReader>(nb::cast<std::uint64_t>(reader.attr("size")),
                                                nb::cast<std::string>(reader.attr("lasting_name")),
                                                nb::cast<nb::callable>(reader.attr("read")));
  }
  std::vector<std::string> list(const std::string& folder) const override {
    const WithGil acquire;
    return nb::cast<std::vector<std::string>>(store_.attr("list")(folder));
  }

 private:
  nb::object store_;
};

nb::object open_far(nb::object store, const std::string& name, const dapple::OpenOptions& options) {
  auto objects = std::make_shared<const PythonStore>(std::move(store));
  auto opened = [&] {
    const WithoutGil release;
    return dapple::open(std::move(objects), name, options);
  }();
  return to_handle(std::move(opened), true);
}

std::optional<dapple::Collection> find_far_collection(nb::object store, const std::string& name,
                                                      const dapple::OpenOptions& options) {
  auto objects = std::make_shared<const PythonStore>(std::move(store));
  const WithoutGil release;
  return dapple::Collection::find(std::move(objects), name, options);
}

}  // namespace

void bind_remote(nb::module_& m) {
  m.def("open_far", &open_far);
  m.def("find_far_collection", &find_far_collection);
}

}  // namespace pydapple
