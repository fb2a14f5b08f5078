// A limit to the memory that some processes may use, page cache included.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dapple::bench {

/// A control group of its own (version 1 or 2). What a process loads into the page cache counts for
/// its group.
class ShortMemory {
 public:
  explicit ShortMemory(std::uint64_t bytes);
  /// Removes the group, whose processes must have ended.
  ~ShortMemory();
  ShortMemory(const ShortMemory&) = delete;
  ShortMemory& operator=(const ShortMemory&) = delete;

  /// False where this system or user may not limit memory.
  bool works() const { return !folder_.empty(); }
  /// Moves the calling process into the group for good. Throws std::runtime_error.
  void enter() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace dapple::bench
