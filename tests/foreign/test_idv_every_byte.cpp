// A small ML.NET file with a bit of everything: no cut and no change of any byte gives anything but
// an answer or an Error, and verify finds what opening does not see.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/idv_errors.h"
#include "tests/foreign/idv_image.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using namespace test::idv;

namespace {

/// A small file with a bit of everything.
File everything(int version, int compression) {
  const Bytes vector_codec_2 = vector_codec(codec("Single"), {2});
  FileColumn vector{"v",
                    vector_codec_2,
                    {vectors({{2}, {2, {{1}}}}, 2, packed<float>({1, 2, 3})),
                     vectors({{2}}, 2, packed<float>({1, 2}))},
                    2,
                    compression};
  vector.metadata = {{"SlotNames", vector_codec(codec("TextSpan"), {2}),
                      vectors({{2}}, 2, texts({1, 2}, "ab")), 1}};
  vector.slots = {{1, "b"}};
  FileColumn flags{"flags", codec("DvBool"), {bits2({1, 2}), bits2({0})}, 2, compression};
  FileColumn dates{
      "when", codec("DateTimeOffset"), {zoned({{1, 2}, {3, 4}}), zoned({{5, 6}})}, 2, compression};
  FileColumn words{
      "words", codec("TextSpan"), {texts({1, 3}, "abc"), texts({2}, "de")}, 2, compression};
  FileColumn key{"key",
                 key2_codec("UInt16", 700),
                 {packed<std::uint16_t>({1, 700}), packed<std::uint16_t>({0})},
                 2,
                 compression};
  return build(version, 3, {vector, flags, dates, words, key});
}

}  // namespace

TEST_CASE("idv: a file cut at any byte gives an answer or an Error") {
  for (int version : {2, 3, 6}) {
    const File file = everything(version, version % 3);
    CHECK(error_in(file.bytes) == "none");
    for (std::size_t n = 0; n < file.bytes.size(); ++n) {
      const Bytes cut(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(n));
      CHECK(error_in(cut) != "none");
    }
  }
}

TEST_CASE("idv: a file with any one byte changed gives an answer or an Error") {
  fuzz::MemoryFile memory;
  for (int compression = 0; compression <= 2; ++compression) {
    const File file = everything(6, compression);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < file.bytes.size(); ++at) {
      for (const int change : {0x01, 0x80, 0xff}) {
        Bytes changed = file.bytes;
        changed[at] ^= static_cast<std::byte>(change);
        memory.set(changed);
        refused += error_of([&] { read_all(memory.path()); }).has_value() ? 1 : 0;
        error_of([&] { verify(memory.path(), Level::payload, {.format = "idv"}); });
      }
    }
    CHECK(refused > file.bytes.size());  // most bytes matter
  }
}

TEST_CASE("idv: verify finds damage that opening does not see") {
  static const test::TempDir dir;
  const File good = everything(6, 1);
  const auto findings = [&](const Bytes& bytes, Level level) {
    return verify(dir.write("t.idv", bytes), level, {}).findings.size();
  };
  CHECK(findings(good.bytes, Level::payload) == 0);
  File lookup = good;
  lookup.patch(good.lookup[1] + 12, std::int32_t{3}).patch(good.lookup[4] + 28, std::int32_t{3});
  CHECK(findings(lookup.bytes, Level::structure) == 2);
  File block = good;
  block.patch(good.blocks[0][0], '\7').patch(good.blocks[3][1], '\7');  // a vector and a text block
  CHECK(findings(block.bytes, Level::structure) == 0);
  CHECK(findings(block.bytes, Level::payload) == 2);
}
