// What stands in for the hdf5_*.cpp where there is no HDF5: workloads ask kHasHdf5 first.
#include <stdexcept>

#include "peers/hdf5_arrays.h"
#include "peers/hdf5_matrix.h"

namespace dapple::bench {

namespace {

[[noreturn]] void absent() { throw std::logic_error("dapple-bench was built without HDF5"); }

}  // namespace

struct Hdf5Maker::Impl {};
struct Hdf5Matrix::Impl {};

std::string hdf5_version() { absent(); }
Hdf5Maker::Hdf5Maker(const std::filesystem::path&, const Hdf5Shape&) { absent(); }
Hdf5Maker::~Hdf5Maker() = default;
void Hdf5Maker::put(std::uint64_t, std::uint64_t, const void*) { absent(); }
void Hdf5Maker::finish() { absent(); }
Hdf5Matrix::Hdf5Matrix(std::filesystem::path, ValueType, std::size_t) { absent(); }
Hdf5Matrix::~Hdf5Matrix() = default;
void Hdf5Matrix::read(const Region&, void*) { absent(); }
void write_hdf5_arrays(const std::filesystem::path&, std::span<const std::uint64_t>,
                       std::span<const std::uint32_t>, std::span<const double>) {
  absent();
}
PeerArrays read_hdf5_arrays(const std::filesystem::path&) { absent(); }

}  // namespace dapple::bench
