// The names in a folder.
#pragma once

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Calls take(name) for each name in a folder but "." and "..", in any order. Throws io. A path of
/// the standard library for each would take three times as long as reading them.
template <class F>
void each_name(const std::string& folder, const F& take) {
  struct Close {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  if (open == nullptr) throw_io(folder, "list", errno);
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") take(name);
  }
  if (errno != 0) throw_io(folder, "list", errno);
}

}  // namespace dapple::detail
