// Reading cells, dense and sparse.
#include <algorithm>
#include <cstring>
#include <limits>

#include "dapple/gather.h"
#include "lib/c/handles.h"
#include "lib/c/options.h"
#include "lib/rows/gather.h"

namespace dapple::detail::c {

namespace {

/// Calls `fill` with three arrays of values of `type`: those of `*sparse` where it has them.
template <class Fill>
void fill_sparse(dapple_sparse** sparse, ValueType type, const Fill& fill) {
  if (needed(sparse, "sparse") != nullptr) checked(*sparse);
  std::unique_ptr<dapple_sparse> made;
  if (*sparse == nullptr) made = std::make_unique<dapple_sparse>();
  dapple_sparse& to = made != nullptr ? *made : **sparse;
  visit_type(type, [&](auto tag) {
    using Arrays = Csr<decltype(tag)>;
    if (!std::holds_alternative<Arrays>(to.arrays)) to.arrays.template emplace<Arrays>();
    try {
      fill(std::get<Arrays>(to.arrays));
    } catch (...) {  // no half of a result
      to.arrays.template emplace<Arrays>();
      throw;
    }
  });
  if (made != nullptr) *sparse = made.release();
}

/// `list`; invalid_argument when it is in the arrays that are used once more.
std::span<const std::uint64_t> list_apart(const dapple_object& from,
                                          std::span<const std::uint64_t> list,
                                          dapple_sparse** sparse) {
  if (needed(sparse, "sparse") != nullptr) {
    std::visit([&](const auto& arrays) { require_apart(from.any->store(), list, arrays); },
               checked(*sparse).arrays);
  }
  return list;
}

GatherOptions gather_options(const dapple_read_options* options) {
  const ReadOptions read = read_options(options);
  return {.cols = {}, .absent = read.absent, .threads = read.threads};
}

/// Copies numbers as those of another type. Throws type_mismatch, before anything is copied.
template <class To>
void copy_numbers(std::span<const std::uint64_t> from, void* to) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<To>::max());
  std::uint64_t largest = 0;
  for (const std::uint64_t number : from) largest = std::max(largest, number);
  if (largest > kMost) {
    throw Error(Errc::type_mismatch, "the index " + std::to_string(largest) + " does not fit " +
                                         std::string(name(value_type_of<To>())));
  }
  if (to == nullptr) return;
  auto* const out = static_cast<To*>(to);
  std::transform(from.begin(), from.end(), out, [](std::uint64_t n) { return static_cast<To>(n); });
}

void copy_numbers(std::int32_t type, std::span<const std::uint64_t> from, void* to) {
  switch (type) {
    case DAPPLE_I32:
      return copy_numbers<std::int32_t>(from, to);
    case DAPPLE_U32:
      return copy_numbers<std::uint32_t>(from, to);
    case DAPPLE_I64:
      return copy_numbers<std::int64_t>(from, to);
    case DAPPLE_U64:
      return copy_numbers<std::uint64_t>(from, to);
    default:
      fail_argument("indices are i32, i64, u32 or u64");
  }
}

}  // namespace

extern "C" {

int32_t dapple_read(const dapple_object* object, const dapple_region* cells, int32_t type,
                    void* out, size_t size, size_t row_stride, size_t col_stride,
                    const dapple_read_options* options, dapple_error* error) {
  return guarded(error, [&] {
    const dapple_object& from = checked(object);
    const std::span<std::byte> to(static_cast<std::byte*>(array(out, size, "out")), size);
    from.any->read(region(cells), value_type(type), to, {row_stride, col_stride},
                   read_options(options));
  });
}

int32_t dapple_gather(const dapple_object* object, const uint64_t* rows, size_t n_rows,
                      uint64_t col_begin, uint64_t col_end, int32_t type, void* out, size_t size,
                      size_t row_stride, const dapple_read_options* options, dapple_error* error) {
  return guarded(error, [&] {
    const dapple_object& from = checked(object);
    const ValueType as = value_type(type);
    if (row_stride % size_of(as) != 0) fail_argument("row_stride is no multiple of a value's size");
    GatherOptions gather = gather_options(options);
    gather.cols = range(col_begin, col_end, "columns");
    detail::gather_rows_to(*from.any, {array(rows, n_rows, "rows"), n_rows},
                           array(out, size, "out"), size / size_of(as), row_stride / size_of(as),
                           as, gather);
  });
}

int32_t dapple_read_sparse(const dapple_object* object, const dapple_region* cells, int32_t type,
                           const dapple_read_options* options, dapple_sparse** sparse,
                           dapple_error* error) {
  return guarded(error, [&] {
    const dapple_object& from = checked(object);
    const Region wanted = region(cells);
    fill_sparse(sparse, value_type(type), [&](auto& arrays) {
      detail::read_csr(from.any->store(), wanted, read_options(options), arrays);
    });
  });
}

int32_t dapple_gather_rows(const dapple_object* object, const uint64_t* rows, size_t n_rows,
                           uint64_t col_begin, uint64_t col_end, int32_t type,
                           const dapple_read_options* options, dapple_sparse** sparse,
                           dapple_error* error) {
  return guarded(error, [&] {
    const dapple_object& from = checked(object);
    GatherOptions gather = gather_options(options);
    gather.cols = range(col_begin, col_end, "columns");
    const auto list = list_apart(from, {array(rows, n_rows, "rows"), n_rows}, sparse);
    fill_sparse(sparse, value_type(type),
                [&](auto& arrays) { gather_csr(*from.any, list, arrays, gather); });
  });
}

int32_t dapple_gather_columns(const dapple_object* object, const uint64_t* cols, size_t n_cols,
                              int32_t type, const dapple_read_options* options,
                              dapple_sparse** sparse, dapple_error* error) {
  return guarded(error, [&] {
    const dapple_object& from = checked(object);
    const auto list = list_apart(from, {array(cols, n_cols, "cols"), n_cols}, sparse);
    fill_sparse(sparse, value_type(type), [&](auto& arrays) {
      gather_columns(*from.any, list, arrays, gather_options(options));
    });
  });
}

int32_t dapple_get_arrays(const dapple_sparse* sparse, dapple_arrays* arrays, dapple_error* error) {
  return guarded(error, [&] {
    const auto& held = checked(sparse).arrays;
    dapple_arrays& out = needed(arrays, "arrays");
    std::visit(
        [&]<Value T>(const Csr<T>& csr) {
          out = {};
          out.rows = std::max<std::size_t>(1, csr.row_ptr.size()) - 1;
          out.entries = csr.col_idx.size();
          out.ptr = csr.row_ptr.data();
          out.idx = csr.col_idx.data();
          out.values = csr.values.data();
          out.type = static_cast<std::int32_t>(value_type_of<T>());
        },
        held);
  });
}

int32_t dapple_copy_arrays(const dapple_sparse* sparse, int32_t index_type, void* ptr, void* idx,
                           void* values, dapple_error* error) {
  return guarded(error, [&] {
    std::visit(
        [&]<Value T>(const Csr<T>& csr) {
          // Of what is left out, no number has to fit.
          const std::span rows(csr.row_ptr.data(), ptr != nullptr ? csr.row_ptr.size() : 0);
          const std::span cols(csr.col_idx.data(), idx != nullptr ? csr.col_idx.size() : 0);
          copy_numbers(index_type, rows, nullptr);  // before anything is copied
          copy_numbers(index_type, cols, idx);
          copy_numbers(index_type, rows, ptr);
          if (values != nullptr && !csr.values.empty()) {
            std::memcpy(values, csr.values.data(), csr.values.size() * sizeof(T));
          }
        },
        checked(sparse).arrays);
  });
}

void dapple_sparse_free(dapple_sparse** sparse) { end_handle(sparse); }

}  // extern "C"

}  // namespace dapple::detail::c
