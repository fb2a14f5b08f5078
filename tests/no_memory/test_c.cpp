// When memory runs out in what other languages call: C functions and streams of Arrow.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dapple/dapple.h"
#include "dapple/dapple_c.h"
#include "tests/check.h"
#include "tests/no_memory/allocations.h"
#include "tests/support.h"

namespace dapple::test {

TEST_CASE("no memory: what a program in C gave away is released once") {
  static const auto bytes = test::Image::matrix(1, 1, ValueType::u8).empty({0, 0}, 1, 1).bytes();
  dapple_reader reader{};
  reader.size = [](void*) { return static_cast<std::int64_t>(bytes.size()); };
  reader.read = [](void*, const dapple_range* ranges, std::size_t n) {
    std::uint64_t all = 0;
    for (const dapple_range& range : std::span(ranges, n)) {
      std::copy_n(&bytes[range.offset], range.size, static_cast<std::byte*>(range.to));
      all += range.size;
    }
    return static_cast<std::int64_t>(all);
  };
  reader.release = [](void* released) { ++*static_cast<int*>(released); };
  constexpr const char* name = "a name that takes memory of its own";
  const auto try_out = [&](const auto& open) {
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      int released = 0;
      reader.context = &released;
      dapple_object* object = nullptr;
      std::int32_t code = DAPPLE_OK;
      failed = fails_after(n, [&] { code = open(&object); });
      CHECK((object != nullptr) == (code == DAPPLE_OK));
      dapple_close(&object);
      CHECK(released == 1);
    }
    CHECK(n > 8);
  };
  try_out([&](dapple_object** object) {
    return dapple_open_reader(&reader, name, nullptr, object, nullptr);
  });
  try_out([&](dapple_object** object) {
    return dapple_open_memory(bytes.data(), bytes.size(), reader.release, reader.context, name,
                              nullptr, object, nullptr);
  });
}

TEST_CASE("no memory: a stream of Arrow says so, keeps nothing, and goes on") {
  const TempDir dir;
  test::write_text(dir / "p.csv",
                   "name,born,height,a label that is rather long\n"
                   "\"Ann\",2001-02-03,1.5,1\n\"Bob\",,1.75,2\n\"Ann\",1999-12-31,,3\n");
  const Frame frame = Frame::open(dir / "p.csv");
  // Calls one function of a stream until it needs no more memory than there is.
  const auto try_out = [&]<class Made>(int (*ArrowArrayStream::*call)(ArrowArrayStream*, Made*)) {
    {
      ArrowArrayStream stream;  // after it, what the frame keeps is there
      arrow_stream(frame, {}, stream);
      Made made;
      REQUIRE((stream.*call)(&stream, &made) == 0);
      made.release(&made);
      stream.release(&stream);
    }
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      ArrowArrayStream stream;
      arrow_stream(frame, {}, stream);
      Made made{};
      const std::int64_t before = live_objects();
      int code = 0;
      failed = fails_after(n, [&] { code = (stream.*call)(&stream, &made); });
      REQUIRE(code == (failed ? ENOMEM : 0));
      if (failed) {
        CHECK(std::string(stream.get_last_error(&stream)) == "there is not enough memory");
        CHECK(live_objects() == before);
        REQUIRE((stream.*call)(&stream, &made) == 0);
      }
      REQUIRE(made.n_children == 4);
      made.release(&made);
      CHECK(live_objects() == before);
      stream.release(&stream);
    }
    CHECK(n > 8);
  };
  try_out(&ArrowArrayStream::get_schema);
  try_out(&ArrowArrayStream::get_next);
}

TEST_CASE("no memory: a stream of Arrow that fails for another reason fails") {
  const auto bytes = test::Image::frame(3, {{"a", ValueType::f64}}).bytes();  // without a block
  const Frame frame = Frame::open(bytes, "a file whose name takes memory of its own");
  std::uint64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    ArrowArrayStream stream;
    arrow_stream(frame, {.fault = [](const Error& fault) { const Error copy = fault; }}, stream);
    ArrowArray batch;
    int code = 0;
    failed = fails_after(n, [&] { code = stream.get_next(&stream, &batch); });
    CHECK((code == EIO || (failed && code == ENOMEM)));
    CHECK(std::string(stream.get_last_error(&stream)).size() > 10);
    stream.release(&stream);
  }
  CHECK(n > 4);
}

}  // namespace dapple::test
