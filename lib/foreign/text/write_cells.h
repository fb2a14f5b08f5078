// Many cells as text, for the formats whose text has no value types of its own (csv, mtx).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "lib/base/text.h"

namespace dapple::detail {

/// Appends the text of `n` items of at most `room` characters each; `write(to, i)` writes item i
/// and returns its end. Makes room for a few at a time, which stay in the nearest cache, since
/// std::string clears what it grows by.
template <class F>
void append_items(std::uint64_t n, std::size_t room, std::string& out, const F& write) {
  constexpr std::uint64_t kFew = 256;
  for (std::uint64_t i = 0; i < n;) {
    const std::uint64_t end = std::min(n, i + kFew);
    const std::size_t size = out.size();
    out.resize(size + (end - i) * room);
    char* to = out.data() + size;
    for (; i < end; ++i) to = write(to, i);
    out.resize(static_cast<std::size_t>(to - out.data()));
  }
}

}  // namespace dapple::detail
