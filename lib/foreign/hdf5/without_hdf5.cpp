#include "lib/foreign/hdf5/hdf5.h"

namespace dapple::detail::hdf5 {

std::shared_ptr<const Store> open_hdf5(std::shared_ptr<ByteSource> file, const OpenOptions&) {
  throw Error(Errc::unsupported, file->name(), std::nullopt,
              "an HDF5 file, and dapple was built without HDF5");
}

}  // namespace dapple::detail::hdf5
