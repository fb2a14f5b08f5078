// Files that are not published: without a name where the file system can do that, otherwise with
// a hidden one that the next writer clears away when its owner died.
//
// The hidden names of FILE are .FILE.dapple-0, -1, ... in its folder. The owner of one holds a lock
// on the file (flock), which ends with its process: what is not locked is abandoned.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "lib/io/descriptor.h"

namespace dapple::detail {

/// A new file without a name in `folder`, for reading and writing. Not open, and errno says why,
/// when there is none to be had.
Descriptor open_nameless(const std::string& folder, mode_t mode) noexcept;

/// True when the last `open_nameless` failed because the file system has no such files.
bool lacks_nameless(int errno_value) noexcept;

/// A new file with a hidden name beside `path`, for reading and writing; its name in `hidden`. Not
/// open, and errno says why, when there is none to be had.
Descriptor open_hidden(const std::filesystem::path& path, mode_t mode,
                       std::filesystem::path& hidden);

/// Gives a nameless file a hidden name beside `path`. Empty, and errno says why, when it cannot.
std::filesystem::path name_hidden(const Descriptor& fd, const std::filesystem::path& path);

/// Where the system shows an open file by a name that can be linked.
std::string name_in_proc(const Descriptor& fd);

/// Removes the hidden files beside `path` whose writers died. Failures are left to the next one.
void remove_abandoned(const std::filesystem::path& path);

/// $TMPDIR, or /tmp.
std::string temporary_folder();

/// An empty file in the temporary folder that nobody else can open and that goes away with its
/// descriptor. Throws io; `file` is what messages blame.
Descriptor open_scratch(const std::string& file);

}  // namespace dapple::detail
