// What may lie beside a file. The sidecar index FILE.dpx: the block index of a dbdf file that must
// not be touched, or the types and row positions of a CSV file. The copy by column FILE.dpc: a
// matrix once more, for reading its columns as fast as its rows.
#pragma once

#include <cstdint>
#include <filesystem>

#include "dapple/matrix.h"
#include "dapple/open.h"
#include "dapple/writer.h"

namespace dapple {

/// The path of the sidecar, FILE.dpx for FILE.
std::filesystem::path sidecar_path(const std::filesystem::path& file);

struct SidecarOptions {
  TakeProgress progress = {};    // in bytes of the file
  bool even_if_indexed = false;  // write it even if the file has an index of its own
  bool statistics = false;       // also write statistics of each block, which reads all values
  unsigned threads = 1;          // for the statistics; 0: one per processor
};

/// Scans `file` once and publishes its index beside it, atomically, replacing an older one, which
/// stays if it throws. Returns false, and writes nothing, when the file itself has everything that
/// is wanted, which readers prefer. The sidecar of a CSV file is used when it is opened with the
/// same `options.format_options`. Throws what `open` throws, unsupported for formats that need no
/// index, stale_index when the file changes meanwhile. O(n log n) in blocks, reading only headers
/// unless statistics are wanted; all of a CSV file.
bool write_sidecar(const std::filesystem::path& file, const OpenOptions& options = {},
                   const SidecarOptions& sidecar = {});

/// The file that an index or a copy of `name` is beside: of a member of a collection its own, of a
/// data set its latest state, otherwise `name`. Throws unsupported for a member of a packed
/// collection; what `open` throws when there is no such member.
std::filesystem::path file_to_index(const std::filesystem::path& name,
                                    const OpenOptions& options = {});

/// The path of the copy by column, FILE.dpc for FILE.
std::filesystem::path column_copy_path(const std::filesystem::path& file);

struct ColumnCopyOptions {
  TakeProgress progress = {};  // in rows; they are read several times
  bool sync = true;            // fsync before publishing
  unsigned threads = 1;        // 0: one per processor
};

/// Publishes a copy of the matrix in `file` beside it, atomically, replacing an older one: its
/// transpose, in blocks of a few of its columns. `gather_columns`, and reads of a few columns,
/// use it as long as the file stays as it is and is opened with the same `options.array` and
/// `options.format_options`; an open matrix looks for a copy once, when it can first use one.
/// Throws what `open` and `read` throw (absent cells are an error); unsupported for frames, CSV and
/// compressed files; stale_index when the file changes meanwhile.
///
/// Reads the file once to count, then all columns from left to right, as many at a time as have 128
/// MiB of cells, or a quarter of the memory that the process may have (ulimit -d, -v), if less:
/// four times or less, since the rows of a larger file are taken in up to 64 bands, which is how
/// many places a column is in. Memory: at most 256 MiB, whatever the size of the file, and what the
/// decoding of its blocks takes: whole COO blocks, for example. 128 bytes for each block of the
/// copy.
WriteSummary write_column_copy(const std::filesystem::path& file, const OpenOptions& options = {},
                               const ColumnCopyOptions& copy = {});

/// Of what is beside a file: `stale` is one of another state of the file, or of another object in
/// it. Only a fresh one is used.
enum class SidecarState : std::uint8_t { none, fresh, stale, damaged };
/// Whether a copy by column is beside a matrix. A few small reads.
SidecarState column_copy_state(const Matrix& matrix);

}  // namespace dapple
