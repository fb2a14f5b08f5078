// Files and folders that are not yet published: files unnamed where the file system supports that
// (O_TMPFILE), otherwise with a hidden name in the folder of the destination.
//
// A hidden name of FILE is .FILE.dapple-N-HASH, where HASH is that of the rest of the name, so that
// no other program has such files. The writer locks it (flock) until its process ends. A hidden
// file or folder of the same user that is not locked was therefore abandoned, and the next writer
// of FILE removes it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "lib/io/descriptor.h"

namespace dapple::detail {

/// A new unnamed file in `folder`, for reading and writing. Not open, with errno, on failure.
Descriptor open_nameless(const std::string& folder, mode_t mode) noexcept;

/// True for the errno with which `open_nameless` fails on file systems without unnamed files.
bool lacks_nameless(int errno_value) noexcept;

/// A new file with a hidden name beside `path`, which it stores in `hidden`, for reading and
/// writing. Not open, with errno, on failure.
Descriptor open_hidden(const std::filesystem::path& path, mode_t mode,
                       std::filesystem::path& hidden);

/// The same of a folder.
Descriptor open_hidden_folder(const std::filesystem::path& path, std::filesystem::path& hidden);

/// Gives an unnamed file a hidden name beside `path`. Empty, with errno, on failure.
std::filesystem::path name_hidden(int fd, const std::filesystem::path& path);

/// The path in /proc through which an open file can be linked.
std::string name_in_proc(int fd);

/// Removes the hidden files and folders beside `path` whose writers died, as far as that is
/// possible.
void remove_abandoned(const std::filesystem::path& path);

/// Writes all bytes at `offset`. False, with errno, on failure.
bool write_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes) noexcept;

/// The same file, open once more, with the place and locks of `fd`. Not open, with errno, on
/// failure.
Descriptor duplicate(int fd) noexcept;

/// $TMPDIR, or /tmp.
std::string temporary_folder();

/// An empty file in `folder` without a name, deleted when its descriptor is closed. Nobody else can
/// open it, though it has the permissions `mode`. Throws io, which is about the folder and says
/// that the temporary file was for `file`.
Descriptor open_scratch(const std::string& file, const std::string& folder = temporary_folder(),
                        mode_t mode = 0600);

}  // namespace dapple::detail
