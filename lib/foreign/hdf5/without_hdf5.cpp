#include "lib/foreign/hdf5/hdf5.h"

namespace dapple::detail::hdf5 {
namespace {

[[noreturn]] void refuse(const ByteSource& file) {
  throw Error(Errc::unsupported, file.name(), std::nullopt,
              "an HDF5 file, and dapple was built without HDF5; install its headers (libhdf5-dev) "
              "and build with -Dhdf5=enabled");
}

}  // namespace

std::shared_ptr<const Store> open_hdf5(std::shared_ptr<ByteSource> file, const OpenOptions&) {
  refuse(*file);
}

std::vector<arrays::Listed> list_hdf5(const std::shared_ptr<ByteSource>& file) { refuse(*file); }

}  // namespace dapple::detail::hdf5
