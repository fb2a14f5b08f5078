// Answers that may be larger than memory: one error says so, before memory is gone.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "lib/io/local/memory_limit.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Throws no_memory: `what`, such as "the statistics of 9 rows", do not fit in memory.
[[noreturn]] void fail_memory(const Store& store, const std::string& what);

/// Calls `f`, which makes `n` things of `each` bytes; `fail_memory(store, what())` where there is
/// no memory for them. More than all memory is not tried: the system may promise that, and end the
/// process once it is used.
template <class What, class F>
auto in_memory(const Store& store, std::uint64_t n, std::uint64_t each, const What& what,
               const F& f) {
  if (n <= memory_limit() / each) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
  }
  fail_memory(store, what());
}

}  // namespace dapple::detail
