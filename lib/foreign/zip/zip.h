// ZIP archives, as far as .npz files and collections use them: members that are stored or deflated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dapple/region.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::zip {

struct Member {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;     // CRC-32 of the content
  std::uint64_t packed = 0;  // bytes in the archive
  std::uint64_t size = 0;    // bytes of content
  std::uint64_t header = 0;  // byte of the archive where its own header starts
  std::uint64_t listed = 0;  // byte of its entry in the directory
};

/// The members of an archive, in the order of its directory. Of several of one name it is the last,
/// as for Python's zipfile: Zarr's ZipStore replaces what it wrote by adding it again. Throws
/// corrupt when the directory is damaged, or is not at the end of the file; unsupported for an
/// archive of several files. O(members).
std::vector<Member> read_directory(const ByteSource& archive);

/// Throws corrupt when a stored member does not match its CRC, which those that were deflated are
/// compared with anyway. O(bytes).
void require_sum(const ByteSource& archive, const Member& member);

/// Members in place: bytes of `file` for each.
struct Contents {
  std::shared_ptr<ByteSource> file;
  std::vector<Range> members;
};

/// The content of members: in the archive itself when all of them are stored, otherwise in an
/// unnamed temporary file. Throws corrupt, also when the CRC of a member that was inflated is
/// wrong; unsupported for encryption and other methods; io. O(1), or O(bytes).
Contents contents_of(const std::shared_ptr<ByteSource>& archive,
                     std::span<const Member* const> members);

}  // namespace dapple::detail::zip
