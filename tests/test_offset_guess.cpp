#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "lib/object/offset_guess.h"

using namespace dapple;
using detail::Entry;
using detail::OffsetGuess;

namespace {

void tell(OffsetGuess& guess, std::uint64_t number, std::uint64_t offset, std::uint64_t bytes) {
  Entry entry;
  entry.offset = offset;
  entry.bytes = bytes;
  guess.tell(number, entry);
}

}  // namespace

TEST_CASE("offset guess: blocks that lie evenly are found in any direction, from the third on") {
  OffsetGuess guess;
  CHECK(!guess.ask(5));
  tell(guess, 5, 1000 + 5 * 64, 50);
  CHECK(!guess.ask(6));
  tell(guess, 9, 1000 + 9 * 64, 50);
  CHECK(!guess.ask(6));
  tell(guess, 2, 1000 + 2 * 64, 50);
  CHECK(guess.ask(6) == Range{1000 + 6 * 64, 1000 + 6 * 64 + 50});
  CHECK(guess.ask(0) == Range{1000, 1050});
}

TEST_CASE("offset guess: a block that lies elsewhere, or is of another size, ends it") {
  OffsetGuess guess;
  for (std::uint64_t k = 1; k < 5; ++k) tell(guess, k, k * 100, 90);
  REQUIRE(guess.ask(7));
  tell(guess, 7, 701, 90);
  CHECK(!guess.ask(8));
  for (std::uint64_t k = 1; k < 4; ++k) tell(guess, k, k * 100, 90);
  REQUIRE(guess.ask(7));
  tell(guess, 7, 700, 80);
  CHECK(!guess.ask(8));
}

TEST_CASE("offset guess: entries that lie, and one that comes again and again, do no harm") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  OffsetGuess guess;
  tell(guess, 0, kMost, kMost);
  tell(guess, kMost, 0, kMost);
  tell(guess, 0, kMost, 1);
  tell(guess, 1, 0, 0);
  for (int i = 0; i < 3; ++i) tell(guess, 1, 77, 7);
  tell(guess, 2, 107, 7);
  tell(guess, 3, 137, 7);
  tell(guess, 4, 167, 7);
  CHECK(guess.ask(5) == Range{197, 204});
}
