// An uninitialised array for results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#if __cplusplus < 202002L
#error "dapple needs C++20: -std=c++20"
#endif

namespace dapple {

namespace detail {

/// Uninitialised memory, aligned to a cache line, in huge pages when it is large. Throws bad_alloc.
void* allocate_array(std::size_t bytes);
struct FreeArray {
  void operator()(void* p) const noexcept;
};

}  // namespace detail

/// Contiguous values like a std::vector, but uninitialised: the first touch of fresh memory costs
/// more than decoding into it, so pages should be touched only once. Large arrays ask for huge
/// pages.
template <class T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  /// `n` uninitialised values. Throws bad_alloc.
  explicit Array(std::size_t n) { reset(n); }
  Array(const Array& other) : Array(other.size_) { std::copy_n(other.data(), size_, data()); }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() = default;

  /// Resizes to `n` uninitialised values; reuses its memory if that is large enough. Throws
  /// bad_alloc.
  void reset(std::size_t n) {
    if (n > capacity_) {
      if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
      data_.reset();
      size_ = capacity_ = 0;
      data_.reset(static_cast<T*>(detail::allocate_array(n * sizeof(T))));
      capacity_ = n;
    }
    size_ = n;
  }
  /// Keeps the first `n` values. REQUIRES n <= size().
  void shorten(std::size_t n) noexcept { size_ = n; }
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::size_t size() const noexcept { return size_; }
  /// The largest size that `reset` can give without allocating.
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }

  friend bool operator==(const Array& a, std::span<const T> b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const Array& a, const Array& b) noexcept {
    return a == std::span<const T>(b.data(), b.size());
  }

 private:
  std::unique_ptr<T, detail::FreeArray> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace dapple
