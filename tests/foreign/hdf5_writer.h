// Writes HDF5 files through the HDF5 library itself.
#pragma once

#define H5_USE_110_API
#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/value_type.h"

namespace dapple::test {

/// The library's type of values in this machine's memory.
template <Value T>
hid_t hdf5_type() {
  constexpr ValueType type = value_type_of<T>();
  switch (type) {
    case ValueType::u8:
      return H5T_NATIVE_UINT8;
    case ValueType::u16:
      return H5T_NATIVE_UINT16;
    case ValueType::u32:
      return H5T_NATIVE_UINT32;
    case ValueType::u64:
      return H5T_NATIVE_UINT64;
    case ValueType::i8:
      return H5T_NATIVE_INT8;
    case ValueType::i16:
      return H5T_NATIVE_INT16;
    case ValueType::i32:
      return H5T_NATIVE_INT32;
    case ValueType::i64:
      return H5T_NATIVE_INT64;
    case ValueType::f32:
      return H5T_NATIVE_FLOAT;
    case ValueType::f64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

/// How a data set is stored.
struct Hdf5Layout {
  std::vector<hsize_t> chunk{};  // none: contiguous
  int gzip = -1;                 // level; -1: not compressed
  bool shuffle = false, checksum = false, big_endian = false;
};

/// Closes what it holds. A negative identifier is an error of the test.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error("HDF5 refused a call of the test");
  }
  ~Hdf5Id() { close_(id_); }
  Hdf5Id(const Hdf5Id&) = delete;
  Hdf5Id& operator=(const Hdf5Id&) = delete;
  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// A new file, complete when this is gone. Names are paths: "layers/counts".
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose),
        parents_(H5Pcreate(H5P_LINK_CREATE), H5Pclose) {
    H5Pset_create_intermediate_group(parents_, 1);
  }
  hid_t id() const noexcept { return file_; }

  /// Values of `T`, in C order.
  template <Value T>
  void data_set(const std::string& name, const std::vector<hsize_t>& extents,
                const std::vector<T>& values, const Hdf5Layout& layout = {}) {
    const Hdf5Id stored(H5Tcopy(hdf5_type<T>()), H5Tclose);
    if (layout.big_endian) H5Tset_order(stored, H5T_ORDER_BE);
    data_set_of(name, stored, extents, layout, hdf5_type<T>(), values.data());
  }
  /// Values of one dimension, in chunks no longer than they are.
  template <Value T>
  void vector(const std::string& name, const std::vector<T>& values, Hdf5Layout layout = {}) {
    if (values.empty()) layout = {};
    for (hsize_t& extent : layout.chunk) extent = std::min<hsize_t>(extent, values.size());
    data_set(name, {values.size()}, values, layout);
  }
  /// Stores values of any type; null: they are never written.
  void data_set_of(const std::string& name, hid_t stored, const std::vector<hsize_t>& extents,
                   const Hdf5Layout& layout, hid_t type, const void* values) {
    const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                       H5Sclose);
    const Hdf5Id created(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!layout.chunk.empty()) {
      H5Pset_chunk(created, static_cast<int>(layout.chunk.size()), layout.chunk.data());
    }
    if (layout.shuffle) H5Pset_shuffle(created);
    if (layout.gzip >= 0) H5Pset_deflate(created, static_cast<unsigned>(layout.gzip));
    if (layout.checksum) H5Pset_fletcher32(created);
    create(name, stored, space, created, type, values);
  }
  /// The same as the caller describes it.
  void create(const std::string& name, hid_t stored, hid_t space, hid_t created, hid_t type,
              const void* values) {
    const Hdf5Id data(
        H5Dcreate2(file_, name.c_str(), stored, space, parents_, created, H5P_DEFAULT), H5Dclose);
    if (values != nullptr && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
      throw std::runtime_error("HDF5 cannot write " + name);
    }
  }

  void group(const std::string& name) {
    const Hdf5Id made(H5Gcreate2(file_, name.c_str(), parents_, H5P_DEFAULT, H5P_DEFAULT),
                      H5Gclose);
  }
  void remove(const std::string& name) { H5Ldelete(file_, name.c_str(), H5P_DEFAULT); }

  /// A string of variable length, as h5py writes it, or of a fixed one.
  void text_attribute(const std::string& object, const std::string& name, const std::string& text,
                      bool fixed = false) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, fixed ? text.size() + 1 : H5T_VARIABLE);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const char* const characters = text.c_str();
    attribute(object, name, type, space,
              fixed ? static_cast<const void*>(characters) : static_cast<const void*>(&characters));
  }
  void integers_attribute(const std::string& object, const std::string& name,
                          const std::vector<std::int64_t>& values) {
    const hsize_t size = values.size();
    const Hdf5Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    attribute(object, name, H5T_NATIVE_INT64, space, values.data());
  }

 private:
  void attribute(const std::string& object, const std::string& name, hid_t type, hid_t space,
                 const void* value) {
    const Hdf5Id made(H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space,
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    H5Awrite(made, type, value);
  }

  Hdf5Id file_, parents_;
};

}  // namespace dapple::test
