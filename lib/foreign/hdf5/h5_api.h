// The HDF5 library, loaded when the first HDF5 file is opened: linked, it would bring some thirty
// libraries into every process that uses dapple. The only user of its headers.
//
// The library has global state and is not thread-safe: every call is made within a Session.
#pragma once

#define H5_USE_110_API
#include <hdf5.h>
// Its constants call these functions, which nothing is linked with.
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN

#include <array>
#include <mutex>
#include <string>
#include <utility>

#include "dapple/value_type.h"

namespace dapple::detail::hdf5 {

// Functions by the names that they have in the library, whatever version of each a macro chooses.
#define DAPPLE_HDF5_FUNCTIONS(F) \
  F(H5open)                      \
  F(H5get_libversion)            \
  F(H5Eget_auto2)                \
  F(H5Eset_auto2)                \
  F(H5Ewalk2)                    \
  F(H5Fopen)                     \
  F(H5Fclose)                    \
  F(H5Pcreate)                   \
  F(H5Pclose)                    \
  F(H5Pset_chunk_cache)          \
  F(H5Pset_fapl_core)            \
  F(H5Pset_file_image)           \
  F(H5Pset_file_locking)         \
  F(H5Pset_fclose_degree)        \
  F(H5Pset_elink_cb)             \
  F(H5Pget_layout)               \
  F(H5Pget_chunk)                \
  F(H5Pget_external_count)       \
  F(H5Pget_nfilters)             \
  F(H5Pget_filter2)              \
  F(H5Zfilter_avail)             \
  F(H5Oopen)                     \
  F(H5Oclose)                    \
  F(H5Ovisit1)                   \
  F(H5Iget_type)                 \
  F(H5Aexists)                   \
  F(H5Aiterate2)                 \
  F(H5Aopen)                     \
  F(H5Aread)                     \
  F(H5Aclose)                    \
  F(H5Aget_type)                 \
  F(H5Aget_space)                \
  F(H5free_memory)               \
  F(H5Tget_class)                \
  F(H5Tget_size)                 \
  F(H5Tget_sign)                 \
  F(H5Tget_super)                \
  F(H5Tget_nmembers)             \
  F(H5Tget_member_value)         \
  F(H5Tget_member_index)         \
  F(H5Tget_strpad)               \
  F(H5Tcopy)                     \
  F(H5Tget_order)                \
  F(H5Tset_order)                \
  F(H5Tget_fields)               \
  F(H5Tconvert)                  \
  F(H5Tis_variable_str)          \
  F(H5Tequal)                    \
  F(H5Tclose)                    \
  F(H5Sget_simple_extent_type)   \
  F(H5Sget_simple_extent_ndims)  \
  F(H5Sget_simple_extent_dims)   \
  F(H5Screate_simple)            \
  F(H5Sselect_hyperslab)         \
  F(H5Sclose)                    \
  F(H5Dopen2)                    \
  F(H5Dclose)                    \
  F(H5Dread_chunk)               \
  F(H5Dget_chunk_storage_size)   \
  F(H5Dread)                     \
  F(H5Dget_type)                 \
  F(H5Dget_space)                \
  F(H5Dget_create_plist)         \
  F(H5Dget_offset)               \
  F(H5Dget_storage_size)

struct Api {
#define DAPPLE_HDF5_FIELD(name) decltype(&::name) name = nullptr;
  DAPPLE_HDF5_FUNCTIONS(DAPPLE_HDF5_FIELD)
#undef DAPPLE_HDF5_FIELD
  std::array<hid_t, std::size(kValueTypes)> native{};             // in the order of kValueTypes
  hid_t file_access = -1, dataset_access = -1, link_access = -1;  // classes of property lists

  hid_t native_of(ValueType type) const noexcept;
};

/// Holds the lock that all of the process's calls are made under, and keeps the library from
/// printing its errors. One thread may hold several.
class Session {
 public:
  /// Loads the library first. Throws unsupported, naming `file`, when that fails.
  explicit Session(const std::string& file);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Api& api() const noexcept { return *api_; }
  /// What the library says of the call that just failed.
  std::string reason() const;
  /// "1.10.8".
  std::string version() const;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const Api* api_;
  H5E_auto2_t report_ = nullptr;
  void* report_data_ = nullptr;
};

/// Owns an identifier of the library, or none (negative). Destroyed within a Session.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*how)(hid_t)) noexcept : id_(id), close_(how) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  hid_t get() const noexcept { return id_; }
  bool is_open() const noexcept { return id_ >= 0; }
  void close() noexcept {
    if (is_open()) close_(std::exchange(id_, -1));
  }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace dapple::detail::hdf5
