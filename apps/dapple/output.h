// Standard output: buffered, with every failed write reported. One thread.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace dapple::cli {

/// Thrown when the reader of a pipe is gone; the program then ends quietly.
struct ClosedPipe {};

class Output {
 public:
  explicit Output(int fd) noexcept : fd_(fd) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Throws io when the system refuses the bytes, ClosedPipe when nobody reads them.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes) {
    write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(fmt::appender(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kFlushAt) flush();
  }

  /// Must be called at the end: there is no flushing destructor, which could not report failures.
  void flush();

  bool is_terminal() const noexcept;
  /// Columns of the terminal; 80 if unknown.
  std::size_t width() const noexcept;
  /// Lines of the terminal; 24 if unknown.
  std::size_t height() const noexcept;

 private:
  static constexpr std::size_t kFlushAt = std::size_t{64} << 10;
  void send(std::string_view text) const;

  int fd_;
  fmt::memory_buffer buffer_;
};

/// Writes one line to standard error; ignores failures.
void say(std::string_view line) noexcept;

/// Opens standard descriptors that are closed, so that no other file gets their numbers. Writing to
/// them still fails.
void reserve_standard_descriptors() noexcept;

}  // namespace dapple::cli
