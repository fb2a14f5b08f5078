// A fuzz target: what is done with one input, given as `data` and `size`. What is wrong aborts.
//
//   FUZZ_TARGET(csv) {
//     ...
//     return 0;
//   }
//
// Each is a program of its own where libFuzzer drives it. Otherwise one program holds them all,
// which replay.cpp calls by name; each is in a namespace of its own, so that many are compiled at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dapple::fuzz {

using Target = int (*)(const std::uint8_t* data, std::size_t size);

/// Aborts, and says where, unless what holds for every input does.
inline void require(bool holds, std::string_view what = {}, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: wrong %.*s\n", file, line, static_cast<int>(what.size()),
               what.data());
  std::abort();
}

/// Makes a target known by its name, before main runs.
struct Registered {
  Registered(const char* name, Target target);
};

}  // namespace dapple::fuzz

#ifdef DAPPLE_LIBFUZZER
#define FUZZ_TARGET(name) \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#else
#define FUZZ_TARGET(name)                                                      \
  static int try_##name(const std::uint8_t* data, std::size_t size);           \
  static const dapple::fuzz::Registered registered_##name(#name, &try_##name); \
  static int try_##name(const std::uint8_t* data, std::size_t size)
#endif
