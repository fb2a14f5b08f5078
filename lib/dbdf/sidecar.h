// FILE.dpx: the index of a file that must not be touched, bound to one state of the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dapple/sidecar.h"
#include "lib/dbdf/index_block.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// A line that binds a file beside another to one state of that.
struct Binding {
  const char* magic = nullptr;  // eight characters
  std::uint64_t version = 0;
  std::uint64_t head = 0;  // the number of first bytes of the file that are hashed,
  std::uint64_t seed = 0;  //   with this seed

  std::array<std::byte, kLine> line(const ByteSource& data) const;

  /// Where times do not tell that a file was changed, all of it is hashed.
  void cover(const ByteSource& data) noexcept {
    if (!data.times_tell()) head = data.size();
  }

  struct Match {
    SidecarState state;       // fresh, stale or damaged
    std::uint64_t fault = 0;  // unless fresh: the first byte that tells
    bool only_head = false;   // if stale: size and times agree, the hash of first bytes does not
  };
  /// Compares a line with that of `data`.
  Match match(const ByteSource& data, std::span<const std::byte> line) const;
};

struct Sidecar {
  SidecarState state = SidecarState::none;
  std::shared_ptr<const ByteSource> file;  // if fresh, with the
  Trailer trailer;                         // end of its index
  std::uint64_t fault = 0;                 // if stale or damaged: the first byte that tells
};

/// The sidecar of `data`, whose header has `body` bytes. One that cannot be opened counts as none.
/// A few small reads.
Sidecar find_sidecar(const ByteSource& data, std::uint64_t body);

/// Says that a sidecar of `data` is damaged or stale, and what to do.
std::string unused_sidecar(const ByteSource& data);

/// The first byte of a sidecar that no hash covers and that is not what `write_sidecar_of` puts
/// there: before hints, and in the headers of their blocks. REQUIRES a fresh one. Throws corrupt
/// when the chain of hints is damaged.
std::optional<std::uint64_t> find_stray_byte(const Sidecar& sidecar);

/// Throws stale_index unless the file at `path` is still in the state in which `data` was opened.
/// If the last change is too recent for a further one to change the time stamp, waits for some
/// milliseconds first.
void require_unchanged(const ByteSource& data, const std::filesystem::path& path);

/// Walks `data`, the file at `path`, and publishes its sidecar, with the statistics of its blocks
/// if they are wanted. Throws stale_index when the file changes meanwhile.
void write_sidecar_of(const std::shared_ptr<ByteSource>& data, const std::filesystem::path& path,
                      const SidecarOptions& options);

}  // namespace dapple::detail::dbdf
