// Many cells as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/region.h"
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

  /// Values that one thread turns into text before it is written: one can take 40 bytes.
  static constexpr std::uint64_t kValues = std::uint64_t{64} << 10;
  /// The same of all threads.
  std::uint64_t values_at_once() const noexcept { return kValues * texts_.size(); }

  /// `make(range, text)` appends some of `n` items, each of `values`, to `text`, which is empty.
  template <class F>
  void write(std::uint64_t n, std::uint64_t values, const F& make) {
    const std::uint64_t each =
        std::max<std::uint64_t>(1, kValues / std::max(values, std::uint64_t{1}));
    const std::uint64_t parts = (n + each - 1) / each;
    for (std::uint64_t first = 0; first < parts; first += texts_.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(parts - first, texts_.size());
      parallel_for(count, threads_, [&](std::uint64_t i) {
        const std::uint64_t begin = (first + i) * each;
        texts_[i].clear();
        make(Range{begin, std::min(begin + each, n)}, texts_[i]);
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
