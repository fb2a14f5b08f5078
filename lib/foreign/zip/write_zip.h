// Writing ZIP archives whose members are stored as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/foreign/zip/zip.h"
#include "lib/io/byte_source.h"
#include "lib/io/output_file.h"

namespace dapple::detail::zip {

/// Gives `take(offset, bytes)` all bytes of `content` in order, a mebibyte at a time, and returns
/// their CRC-32. Throws io, and what `take` throws.
std::uint32_t copy_content(
    const ByteSource& content,
    const std::function<void(std::uint64_t, std::span<const std::byte>)>& take);

/// Members one after the other, then the directory. Equal input gives an equal file.
class Writer {
 public:
  /// A size or place from here on is in a ZIP64 field; tests lower it.
  explicit Writer(OutputFile& out, std::uint64_t wide_from = 0xFFFFFFFF)
      : out_(out), wide_from_(wide_from) {}

  /// Adds a member whose content starts at a multiple of `kUnpackedAlign`. REQUIRES that no other
  /// has its name, of fewer than 2^16 bytes. `copied` gets the bytes of each step. Throws io.
  /// O(bytes), in bounded memory.
  void add(const std::string& name, const ByteSource& content,
           const std::function<void(std::uint64_t)>& copied = {});
  /// Writes the directory; the last call. Throws io.
  void finish();

 private:
  std::vector<std::byte> header_of(const Member& member) const;
  std::vector<std::byte> entry_of(const Member& member) const;
  bool wide(std::uint64_t value) const noexcept { return value >= wide_from_; }

  OutputFile& out_;
  std::uint64_t wide_from_, at_ = 0;
  std::vector<Member> members_;
};

}  // namespace dapple::detail::zip
