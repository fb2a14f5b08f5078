// Standard output: buffered, with every failed write noticed. One thread.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace dapple::cli {

/// Thrown when the reader of a pipe is gone: the program ends quietly.
struct ClosedPipe {};

class Output {
 public:
  explicit Output(int fd) noexcept : fd_(fd) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Both throw io when the system refuses the bytes, ClosedPipe when nobody reads them.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes) {
    write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kFlushAt) flush();
  }

  /// Does not flush: a destructor could not report a failure.
  void flush();

  bool is_terminal() const noexcept;
  /// Columns of the terminal; 80 if unknown.
  std::size_t width() const noexcept;
  /// Its lines; 24 when it does not say.
  std::size_t height() const noexcept;

 private:
  static constexpr std::size_t kFlushAt = std::size_t{64} << 10;
  void send(std::string_view text) const;

  int fd_;
  fmt::memory_buffer buffer_;
};

/// Writes one line to standard error; ignores failures, which could be reported nowhere.
void say(std::string_view line) noexcept;

/// Opens the standard descriptors that the caller left closed, so that no file of ours gets one of
/// their numbers. Writing to them still fails.
void reserve_standard_descriptors() noexcept;

}  // namespace dapple::cli
