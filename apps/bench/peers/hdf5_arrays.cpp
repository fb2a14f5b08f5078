#include "peers/hdf5_arrays.h"

#include "peers/hdf5_handle.h"

namespace dapple::bench {

namespace {

void write_array(hid_t file, const char* name, hid_t type, std::size_t size, const void* data) {
  const hsize_t n = size;
  const Hdf5Handle space(H5Screate_simple(1, &n, nullptr), H5Sclose, "H5Screate_simple");
  const Hdf5Handle set(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose, "H5Dcreate2");
  require_hdf5(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dwrite");
}

template <class T>
void read_array(hid_t file, const char* name, hid_t type, std::vector<T>& out) {
  const Hdf5Handle set(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, "H5Dopen2");
  const Hdf5Handle space(H5Dget_space(set), H5Sclose, "H5Dget_space");
  out.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  require_hdf5(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), "H5Dread");
}

}  // namespace

void write_hdf5_arrays(const std::filesystem::path& path, std::span<const std::uint64_t> row_ptr,
                       std::span<const std::uint32_t> col_idx, std::span<const double> values) {
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                        "H5Fcreate");
  write_array(file, "row_ptr", H5T_NATIVE_UINT64, row_ptr.size(), row_ptr.data());
  write_array(file, "col_idx", H5T_NATIVE_UINT32, col_idx.size(), col_idx.data());
  write_array(file, "values", H5T_NATIVE_DOUBLE, values.size(), values.data());
}

PeerArrays read_hdf5_arrays(const std::filesystem::path& path) {
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen");
  PeerArrays arrays;
  read_array(file, "row_ptr", H5T_NATIVE_UINT64, arrays.row_ptr);
  read_array(file, "col_idx", H5T_NATIVE_UINT32, arrays.col_idx);
  read_array(file, "values", H5T_NATIVE_DOUBLE, arrays.values);
  return arrays;
}

}  // namespace dapple::bench
