// Columns of numbers from an Arrow stream, put together from its batches.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arrow_abi.h"
#include "core.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::ValueType;

[[noreturn]] void fail_column(const std::string& name, const std::string& why) {
  throw nb::type_error(("column '" + name + "' " + why).c_str());
}

bool bit(const void* bits, std::int64_t k) noexcept {
  return (static_cast<const std::uint8_t*>(bits)[k / 8] >> (k % 8) & 1) != 0;
}

struct Column {
  std::string name;
  bool boolean = false;
  ValueType type = ValueType::u8;
  std::vector<std::byte> values;

  Column(const ArrowSchema& schema) : name(schema.name != nullptr ? schema.name : "") {
    const std::string format = schema.format;
    constexpr std::pair<const char*, ValueType> known[] = {
        {"b", ValueType::u8},  {"C", ValueType::u8},  {"S", ValueType::u16}, {"I", ValueType::u32},
        {"L", ValueType::u64}, {"c", ValueType::i8},  {"s", ValueType::i16}, {"i", ValueType::i32},
        {"l", ValueType::i64}, {"f", ValueType::f32}, {"g", ValueType::f64}};
    for (const auto& [name_of, value_type] : known) {
      if (format != name_of || schema.dictionary != nullptr) continue;
      type = value_type;
      boolean = format == "b";
      return;
    }
    fail_column(name, "holds no numbers (Arrow format '" + format +
                          "'); drop it, or make it a number or a Boolean first");
  }

  /// Rows [skip, skip + length) of a child, as its parent counts them.
  void append(ArrowArray array, std::int64_t skip, std::int64_t length) {
    array.offset += skip;
    array.length = length;
    const std::size_t item = dapple::size_of(type);
    const auto rows = static_cast<std::size_t>(length);
    const std::size_t before = values.size();
    values.resize(before + rows * item);
    std::byte* const out = values.data() + before;
    if (boolean) {
      for (std::int64_t k = 0; k < array.length; ++k) {
        out[k] = std::byte{bit(array.buffers[1], array.offset + k)};
      }
    } else if (rows != 0) {
      const auto from = static_cast<std::size_t>(array.offset) * item;
      std::memcpy(out, static_cast<const std::byte*>(array.buffers[1]) + from, rows * item);
    }
    if (array.null_count != 0 && array.buffers[0] != nullptr) put_missing(array, out);
  }

 private:
  void put_missing(const ArrowArray& array, std::byte* out) const {
    for (std::int64_t k = 0; k < array.length; ++k) {
      if (bit(array.buffers[0], array.offset + k)) continue;
      if (!dapple::is_float(type)) {
        fail_column(name, "has missing values, which integers cannot hold; make it a float first");
      }
      dapple::visit_type(type, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (std::is_floating_point_v<T>) {
          const T missing = std::numeric_limits<T>::quiet_NaN();
          std::memcpy(out + static_cast<std::size_t>(k) * sizeof(T), &missing, sizeof(T));
        }
      });
    }
  }
};

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
  throw nb::value_error(words != nullptr ? words : "the Arrow stream failed");
}

/// [(name, array)] of all columns.
nb::list read_stream(nb::handle capsule) {
  auto* const held =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kArrowStreamName));
  if (held == nullptr) throw nb::python_error();
  ArrowArrayStream& stream = *held;
  if (stream.release == nullptr) throw nb::value_error("the Arrow stream was read before");
  Owned<ArrowSchema> schema;
  check(stream, stream.get_schema(&stream, &schema));
  if (std::string(schema.format) != "+s") {
    throw nb::type_error("the Arrow stream holds one array, and a frame is made of columns");
  }
  std::vector<Column> columns;
  for (std::int64_t k = 0; k < schema.n_children; ++k) columns.emplace_back(*schema.children[k]);
  for (;;) {
    Owned<ArrowArray> batch;
    check(stream, stream.get_next(&stream, &batch));
    if (batch.release == nullptr) break;
    if (batch.n_children != schema.n_children) {
      throw nb::value_error("a batch of the Arrow stream does not fit its schema");
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
      columns[k].append(*batch.children[k], batch.offset, batch.length);
    }
    check_signals();
  }
  nb::list out;
  for (const Column& column : columns) {
    nb::object array = new_array(column.values.size() / dapple::size_of(column.type), column.type);
    if (!column.values.empty()) {
      std::memcpy(data_of(array), column.values.data(), column.values.size());
    }
    out.append(nb::make_tuple(nb::str(column.name.c_str(), column.name.size()), array));
  }
  return out;
}

}  // namespace

void bind_arrow_import(nb::module_& m) { m.def("read_arrow", &read_stream); }

}  // namespace pydapple
