// doctest, with checks that cost the compiler no more than a call. doctest's own take every
// comparison apart to print both of its sides, which is a quarter of the work of compiling the
// tests; where a failure is looked into, -Dcpp_args=-DDAPPLE_BOTH_SIDES has them back.
#pragma once

#include <doctest/doctest.h>

#ifndef DAPPLE_BOTH_SIDES

namespace dapple::test {

/// Fails the running test case, and goes on, unless `holds`. From any thread.
void check(bool holds, const char* text, const char* file, int line);
/// Fails the running test case and ends it, unless `holds`.
void require(bool holds, const char* text, const char* file, int line);

}  // namespace dapple::test

#undef CHECK
#undef CHECK_FALSE
#undef REQUIRE
#undef REQUIRE_FALSE
#define CHECK(...) \
  ::dapple::test::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_FALSE(...) \
  ::dapple::test::check(!static_cast<bool>(__VA_ARGS__), "not " #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE(...) \
  ::dapple::test::require(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE_FALSE(...) \
  ::dapple::test::require(!static_cast<bool>(__VA_ARGS__), "not " #__VA_ARGS__, __FILE__, __LINE__)

#endif
