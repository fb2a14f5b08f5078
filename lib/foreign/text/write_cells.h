// Many cells as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/parallel.h"
#include "lib/io/byte_sink.h"

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

/// Texts that several threads make at once, written in order.
class ParallelText {
 public:
  ParallelText(unsigned threads, ByteSink& sink)
      : threads_(threads), sink_(sink), texts_(worker_limit(threads)) {}

  /// How many are made at once.
  std::uint64_t at_once() const noexcept { return texts_.size(); }

  /// `make(i, text)` appends part `i` of `n` to `text`, which is empty.
  template <class F>
  void write(std::uint64_t n, const F& make) {
    for (std::uint64_t first = 0; first < n; first += texts_.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(n - first, texts_.size());
      parallel_for(count, threads_, [&](std::uint64_t i) {
        texts_[i].clear();
        make(first + i, texts_[i]);
      });
      for (std::uint64_t i = 0; i < count; ++i) sink_.write(std::string_view(texts_[i]));
    }
  }

 private:
  unsigned threads_;
  ByteSink& sink_;
  std::vector<std::string> texts_;
};

}  // namespace dapple::detail
