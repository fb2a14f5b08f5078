// Handles of the C functions, and the way from exceptions to codes. The only room where the names
// of dapple_c.h are defined.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "dapple/dapple_c.h"
#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/writer.h"

/// A handle starts with a tag, so that one of another kind, and mostly one that is gone, is found.
struct dapple_object {
  static constexpr std::uint32_t kTag = 0x4f7ab1e1;
  std::uint32_t tag = kTag;
  std::variant<dapple::Matrix, dapple::Frame> held;
  const dapple::BlockedObject* any;  // `held`

  explicit dapple_object(std::variant<dapple::Matrix, dapple::Frame> object)
      : held(std::move(object)),
        any(std::visit([](const dapple::BlockedObject& o) { return &o; }, held)) {}
  dapple_object(const dapple_object&) = delete;
  dapple_object& operator=(const dapple_object&) = delete;
};

struct dapple_sparse {
  static constexpr std::uint32_t kTag = 0x4f7ab1e2;
  std::uint32_t tag = kTag;
  std::variant<dapple::Csr<double>, dapple::Csr<float>, dapple::Csr<std::uint8_t>,
               dapple::Csr<std::uint16_t>, dapple::Csr<std::uint32_t>, dapple::Csr<std::uint64_t>,
               dapple::Csr<std::int8_t>, dapple::Csr<std::int16_t>, dapple::Csr<std::int32_t>,
               dapple::Csr<std::int64_t>>
      arrays;
};

struct dapple_writer {
  static constexpr std::uint32_t kTag = 0x4f7ab1e3;
  std::uint32_t tag = kTag;
  std::uint64_t rows, cols;
  dapple::TileWriter writer;
};

namespace dapple::detail::c {

/// A callback asked to stop.
struct Stopped : std::exception {};

[[noreturn]] void fail_argument(std::string detail);

/// What is being handled as a code, which also goes to `error`, as all that is known of it.
std::int32_t report(dapple_error* error) noexcept;

/// Calls `f`, and lets no exception out.
template <class F>
std::int32_t guarded(dapple_error* error, const F& f) noexcept {
  try {
    f();
    return DAPPLE_OK;
  } catch (...) {
    return report(error);
  }
}

[[noreturn]] void fail_handle(bool is_null);
template <class Handle>
Handle& checked(Handle* handle) {
  if (handle == nullptr || handle->tag != Handle::kTag) fail_handle(handle == nullptr);
  return *handle;
}

/// Ends what a handle is of, and makes it NULL; nothing else than a handle that is not closed.
template <class Handle>
void end_handle(Handle** handle) {
  if (handle == nullptr || *handle == nullptr || (*handle)->tag != Handle::kTag) return;
  (*handle)->tag = 0;
  delete std::exchange(*handle, nullptr);
}

/// `pointer`, or invalid_argument: `what` is needed.
template <class T>
T& needed(T* pointer, const char* what) {
  if (pointer == nullptr) fail_argument(std::string(what) + " is NULL");
  return *pointer;
}
/// An array of `n`, which may be NULL when there are none.
template <class T>
T* array(T* first, std::uint64_t n, const char* what) {
  if (first == nullptr && n > 0) fail_argument(std::string(what) + " is NULL");
  return first;
}

ValueType value_type(std::int32_t type);
Range range(std::uint64_t begin, std::uint64_t end, const char* what);
inline Region region(const dapple_region* given) {
  const dapple_region& r = needed(given, "region");
  return {range(r.row_begin, r.row_end, "rows"), range(r.col_begin, r.col_end, "columns")};
}

/// The frame, or type_mismatch.
const Frame& frame_of(const dapple_object& object);

}  // namespace dapple::detail::c
