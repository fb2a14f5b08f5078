#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lib/cache/block_cache.h"
#include "tests/check.h"

using namespace dapple::detail;

namespace {

Cached kept_number(int value, std::size_t bytes) {
  return {std::make_shared<const int>(value), bytes};
}

int value_of(const Cached& cached) { return *static_cast<const int*>(cached.value.get()); }

}  // namespace

TEST_CASE("cache: a thing is made once, and is there until more than the budget is kept") {
  BlockCache cache(1000);
  int made = 0;
  const auto get = [&](std::uint64_t offset, std::size_t bytes) {
    return value_of(cache.get({1, offset}, [&] {
      ++made;
      return kept_number(static_cast<int>(offset), bytes);
    }));
  };
  for (int i = 0; i < 3; ++i) CHECK(get(7, 300) == 7);
  CHECK(made == 1);
  CHECK(cache.bytes() == 300);
  for (std::uint64_t offset = 100; offset < 140; ++offset) {
    get(offset, 300);
    CHECK(cache.bytes() <= 1000);
  }
  CHECK(cache.find({1, 7}).value == nullptr);
  CHECK(cache.find({1, 139}).value != nullptr);
  // Of what would push most of the others out, the last one is kept beside them.
  const std::uint64_t before = cache.bytes();
  made = 0;
  for (int i = 0; i < 3; ++i) CHECK(get(500, 900) == 500);
  CHECK(made == 1);
  CHECK(cache.bytes() == before);
  CHECK(cache.find({1, 139}).value != nullptr);
  CHECK(get(501, 5000) == 501);
  CHECK(cache.find({1, 500}).value == nullptr);
  CHECK(cache.find({1, 501}).value != nullptr);
  cache.forget(2);
  CHECK(cache.find({1, 501}).value != nullptr);
  cache.forget(1);
  CHECK(cache.find({1, 501}).value == nullptr);
}

TEST_CASE("cache: what a source had is gone with it, and nothing else") {
  BlockCache cache(1 << 20);
  for (std::uint64_t source : {1, 2}) {
    for (std::uint64_t offset = 0; offset < 50; ++offset) {
      cache.get({source, offset}, [] { return kept_number(1, 10); });
    }
  }
  cache.forget(1);
  CHECK(cache.bytes() == 500);
  CHECK(cache.find({1, 3}).value == nullptr);
  CHECK(cache.find({2, 3}).value != nullptr);
}

TEST_CASE("cache: an error goes to everybody who waits, and the next one tries again") {
  BlockCache cache(1 << 20);
  const BlockCache::Key key{1, 1};
  CHECK_THROWS_AS(cache.get(key, []() -> Cached { throw std::runtime_error("no"); }),
                  std::runtime_error);
  CHECK(value_of(cache.get(key, [] { return kept_number(5, 8); })) == 5);
}

TEST_CASE(
    "cache: many threads that ask for the same few things each get them, made once at a time") {
  BlockCache cache(200);
  std::atomic<int> wrong{0}, making[16] = {};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 4000; ++i) {
        const std::uint64_t offset = (i * (t + 3)) % 16;
        const Cached got = cache.get({1, offset}, [&] {
          if (++making[offset] > 1) ++wrong;
          const Cached made = kept_number(static_cast<int>(offset), 30);
          --making[offset];
          return made;
        });
        if (value_of(got) != static_cast<int>(offset)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(cache.bytes() <= 200);
  for (std::uint64_t offset = 0; offset < 16; ++offset) {
    const Cached got = cache.find({1, offset});
    if (got.value != nullptr) CHECK(value_of(got) == static_cast<int>(offset));
  }
}
