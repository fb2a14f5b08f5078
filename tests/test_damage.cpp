#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Demand;
using test::Sample;

namespace {

using Bytes = std::vector<std::byte>;

// Where the answers of the library about damaged bytes are wrong, in words; "" if nowhere. What
// the reference reads is the truth. An index may still list, and lead to, the blocks that the file
// had before; where the reference refuses to read at all, their cells must be those of before.
std::string wrong_answer(const std::filesystem::path& path, const Bytes& damaged,
                         const reference::Object& before) {
  Demand demand = Demand::equal_or_error;
  std::string wrong = "refused";
  try {
    wrong = test::difference(path, reference::read(damaged, 1 << 16), demand);
  } catch (const reference::Refused&) {
    demand = Demand::cells_or_error;
  } catch (const reference::TooLarge&) {
    demand = Demand::cells_or_error;
  }
  return wrong.empty() || test::difference(path, before, demand).empty() ? "" : wrong;
}

// Bytes of the file that are headers, index or padding: all but the values of blocks.
std::vector<bool> structure_of(const Bytes& bytes, const reference::Object& object) {
  std::vector<bool> structure(bytes.size(), true);
  for (const reference::Block& b : object.blocks) {
    const std::uint64_t header = b.kind == 0 ? 9 : b.kind == 1 ? 10 : b.kind == 2 ? 18 : 14;
    std::fill_n(structure.begin() + static_cast<std::ptrdiff_t>(b.offset + header),
                b.bytes - header, false);
  }
  return structure;
}

// Other values for a byte: every bit flipped alone, the neighbours, the limits.
std::vector<std::byte> changes_of(std::byte old) {
  std::vector<std::byte> values;
  for (int bit = 0; bit < 8; ++bit) values.push_back(old ^ std::byte(1 << bit));
  const int n = std::to_integer<int>(old);
  for (const int v : {0, 255, n - 1, n + 1}) values.push_back(static_cast<std::byte>(v));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::erase(values, old);
  return values;
}

}  // namespace

TEST_CASE("damage: every small file is read as the reference reads it while it is sound") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    CHECK(sample.bytes.size() < 2100);
    file.set(sample.bytes);
    CHECK(test::difference(file.path()) == "");
  }
}

TEST_CASE("damage: a file cut at any byte gives what is left of it, or an error") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    const reference::Object before = reference::read(sample.bytes);
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(size);
      const Bytes cut(sample.bytes.begin(), sample.bytes.begin() + static_cast<long>(size));
      file.set(cut);
      REQUIRE(wrong_answer(file.path(), cut, before) == "");
    }
  }
}

TEST_CASE("damage: any changed byte of headers or index gives the truth, or an error") {
  fuzz::MemoryFile file;
  std::size_t changed = 0;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    const reference::Object before = reference::read(sample.bytes);
    const std::vector<bool> structure = structure_of(sample.bytes, before);
    Bytes damaged = sample.bytes;
    for (std::size_t at = 0; at < damaged.size(); ++at) {
      if (!structure[at]) continue;
      for (const std::byte value : changes_of(sample.bytes[at])) {
        damaged[at] = value;
        file.set(damaged);
        const std::string wrong = wrong_answer(file.path(), damaged, before);
        CAPTURE(at);
        CAPTURE(std::to_integer<int>(sample.bytes[at]));
        CAPTURE(std::to_integer<int>(value));
        CHECK(wrong == "");
        ++changed;
      }
      damaged[at] = sample.bytes[at];
    }
  }
  CHECK(changed > 10000);
}

TEST_CASE("damage: with hashes checked, no changed bit of a file changes any answer") {
  fuzz::MemoryFile file;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    file.set(sample.bytes);
    if (std::visit([](const auto& o) { return o.index_origin(); }, open(file.path())) !=
        IndexOrigin::embedded) {
      continue;
    }
    const reference::Object before = reference::read(sample.bytes);
    Bytes damaged = sample.bytes;
    for (std::size_t at = 0; at < damaged.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        CAPTURE(at);
        CAPTURE(bit);
        damaged[at] ^= std::byte(1 << bit);
        file.set(damaged);
        for (const Check check : {Check::first_touch, Check::always}) {
          OpenOptions options;
          options.check = check;
          CHECK(test::difference(file.path(), before, Demand::equal_or_error, options) == "");
        }
        damaged[at] ^= std::byte(1 << bit);
      }
    }
  }
}
