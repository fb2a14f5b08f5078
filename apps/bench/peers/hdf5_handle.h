// HDF5's handles, closed by themselves, and its status codes as exceptions. For the HDF5 peers
// only.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <stdexcept>
#include <utility>

namespace dapple::bench {

class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const char* call) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error(fmt::format("HDF5: {} failed", call));
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

inline void require_hdf5(herr_t status, const char* call) {
  if (status < 0) throw std::runtime_error(fmt::format("HDF5: {} failed", call));
}

}  // namespace dapple::bench
