// When memory runs out while objects are asked, and when names and words are listed: the same can
// be asked again.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/no_memory/allocations.h"
#include "tests/support.h"

namespace dapple::test {

namespace {

using Object = std::variant<Matrix, Frame>;

/// What all that can be asked of a frame says.
std::vector<std::function<std::string(const Object&)>> questions() {
  const auto found = [](const Object& object, const char* text) {
    std::string rows;
    for (const auto row : rows_where(std::get<Frame>(object), Expression::parse(text))) {
      rows += row != 0 ? '1' : '0';
    }
    return rows;
  };
  return {
      [=](const Object& o) { return found(o, "w = 'a word that is rather long 7' or n missing"); },
      [=](const Object& o) { return found(o, "w prefix 'a word' and t > '2024-01-02'"); },
      [=](const Object& o) { return found(o, "not n in (1, 2, 3, 4, 5, 6, 7, 8, 9)"); },
      [](const Object& o) { return as_csv(o); },
      [](const Object& o) {
        std::string text;
        for (const Stats& stats : column_stats(test::base(o))) {
          text += std::to_string(stats.nnz) + " ";
        }
        return text;
      },
      [](const Object& o) {
        const std::vector<std::uint64_t> rows = {5, 3, 5, 0};
        std::vector<std::int64_t> ticks(rows.size());
        const ColumnBuffer column{2, ValueType::i64, reinterpret_cast<std::byte*>(ticks.data()), 8};
        gather_rows(std::get<Frame>(o), rows, {&column, 1});
        return std::to_string(ticks[0]) + " " + std::to_string(ticks[3]);
      },
  };
}

}  // namespace

TEST_CASE("no memory: what a frame was asked can be asked again") {
  const TempDir dir;
  std::string first = "w,n,t\n", second = first;
  for (int i = 0; i < 40; ++i) {
    const std::string k = std::to_string(i);
    first += "a word that is rather long " + k + "," + (i % 5 == 0 ? "" : k) + ",2024-01-02\n";
    second += "another word that is long " + k + ",300,2024-01-02T03:04:05.678\n";
  }
  test::write_text(dir / "a.csv", first);
  test::write_text(dir / "b.csv", second);
  ConvertOptions options;
  options.write.sync = false;
  options.write.tile = TileShape{16, 2};
  convert(open(dir / "a.csv"), {}, dir / "a.dbdf", options);
  convert(open(dir / "b.csv"), {}, dir / "b.dbdf", options);
  options.write.pack = Packing::small;
  convert(open(dir / "a.csv"), {}, dir / "packed.dbdf", options);
  for (const char* part : {"a.dbdf", "a.dbdf"}) {
    dataset::append(dir / "set", open(dir / part), {.write = {.sync = false}});
  }
  const std::vector<std::function<Object()>> objects = {
      [&] { return open(dir / "a.csv"); },
      [&] { return open(dir / "packed.dbdf"); },
      [&] {
        const Object parts[] = {open(dir / "a.dbdf"), open(dir / "b.dbdf")};
        return concat(parts, Axis::rows);
      },
      [&] { return open(dir / "set"); },
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (const auto& ask : questions()) {
      const std::string answer = ask(objects[i]());
      std::uint64_t n = 0;
      for (bool failed = true; failed; ++n) {
        CAPTURE(i);
        CAPTURE(n);
        std::optional<Object> object;
        std::string heard = answer;
        failed = fails_after(n, [&] {
          succeeds([&] {
            object.emplace(objects[i]());
            heard = ask(*object);
          });
        });
        CHECK(heard == answer);
        if (object) CHECK(ask(*object) == answer);
      }
      CHECK(n > 8);
    }
  }
}

TEST_CASE("no memory: rows that could not be appended can be appended again") {
  const TempDir dir;
  test::write_text(dir / "a.csv", "w,n\nx,1\ny,2\n");
  test::write_text(dir / "b.csv", "w,n\nz,300\n,\n");
  ConvertOptions options;
  options.write.sync = false;
  convert(open(dir / "a.csv"), {}, dir / "a.dbdf", options);
  const std::string before = read_text(dir / "a.dbdf");
  const auto files = dir.names();
  std::uint64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    bool done = false;
    failed = fails_after(
        n, [&] { done = succeeds([&] { append(dir / "a.dbdf", open(dir / "b.csv"), options); }); });
    REQUIRE(dir.names() == files);
    if (!done) REQUIRE(read_text(dir / "a.dbdf") == before);
    if (done) CHECK(as_csv(open(dir / "a.dbdf")) == "w,n\nx,1\ny,2\nz,300\n,\n");
    test::write_text(dir / "a.dbdf", before);
  }
  CHECK(n > 20);
}

TEST_CASE("no memory: names and words are listed as they were given") {
  for (std::uint64_t n = 0; n < 60; ++n) {
    CAPTURE(n);
    NamesBuilder names;
    DictionaryBuilder words;
    std::vector<std::string> list, want;
    for (int i = 0; i < 80; ++i) {
      list.push_back((i % 2 == 0 ? "w" : "a word that is rather long, ") + std::to_string(i));
    }
    std::vector<bool> named(list.size());
    std::vector<std::uint32_t> codes(list.size());
    fails_after(n, [&] {
      for (std::size_t i = 0; i < list.size(); ++i) {
        named[i] = succeeds([&] { names.add(list[i]); });
        succeeds([&] { codes[i] = words.add(list[i]); });
      }
    });
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (named[i]) want.push_back(list[i]);
    }
    const auto listed = names.finish();
    std::vector<std::string> got;
    for (std::uint64_t i = 0; i < listed->size(); ++i) got.emplace_back((*listed)[i]);
    CHECK(got == want);
    for (const std::string& word : list) words.add(word);
    const auto dictionary = words.finish();
    CHECK(dictionary->size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (codes[i] != 0) CHECK((*dictionary)[codes[i] - 1] == list[i]);
    }
  }
}

}  // namespace dapple::test
