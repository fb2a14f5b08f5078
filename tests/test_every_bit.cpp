#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/reference.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Demand;
using test::kLine;
using test::Sample;
using test::TempDir;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMostCells = 1 << 16;

bool is_indexed(const fs::path& path) {
  return std::visit([](const auto& o) { return o.index_origin(); }, open(path)) ==
         IndexOrigin::embedded;
}

// Runs f for every bit of `bytes`, with that bit flipped.
void flip_each_bit(const Bytes& bytes, const std::function<void(const Bytes&, std::size_t)>& f) {
  Bytes damaged = bytes;
  for (std::size_t at = 0; at < damaged.size(); at += test::one_of(3)) {
    for (int bit = 0; bit < 8; ++bit) {
      damaged[at] ^= std::byte(1 << bit);
      f(damaged, at);
      damaged[at] ^= std::byte(1 << bit);
    }
  }
}

// Asks a file for everything: whatever its bytes are, answers and Errors are all that comes back.
void ask_everything(const fs::path& path, const OpenOptions& options) {
  test::error_of([&] { verify(path, Level::payload, options); });
  const auto ask = [](const auto& object) {
    test::error_of([&] { object.counts(); });
    test::error_of([&] { object.details(); });
    test::error_of([&] {
      for (const BlockInfo& info : object.blocks()) {
        if (std::uint64_t{info.rows} * info.cols > kMostCells) continue;
        std::vector<double> cells(std::size_t{info.rows} * info.cols);
        test::error_of([&] { object.block(info.pos).decode(std::span(cells)); });
      }
    });
    const std::uint64_t rows = std::min<std::uint64_t>(object.rows(), 64);
    const std::uint64_t cols = std::min<std::uint64_t>(object.cols(), 64);
    if constexpr (std::is_same_v<std::decay_t<decltype(object)>, Matrix>) {
      test::error_of([&] { object.template read<double>({{0, rows}, {0, cols}}); });
    } else {
      for (std::uint64_t c = 0; c < cols; ++c) {
        test::error_of([&] { object.template read_column<double>(c, {0, rows}); });
      }
    }
    for (std::size_t k = 0; k < std::min<std::size_t>(object.text_columns().size(), 64); ++k) {
      test::error_of([&] {
        object.read_text(k, {0, rows}, [](std::uint64_t, std::string_view) {});
      });
    }
  };
  test::error_of([&] { std::visit(ask, open(path, options)); });
}

struct Foreign {
  std::string name, format;
  Bytes bytes;
};

std::vector<Foreign> foreign_files() {
  const TempDir dir;
  test::Image matrix = test::Image::matrix(3, 4, ValueType::f64);
  matrix.csr<double>({0, 0}, 4, {{{1, 1.5}}, {}, {{0, -2.0}, {3, 300.0}}});
  test::Image frame = test::Image::frame(2, {{"a", ValueType::i32}, {"b", ValueType::f32}});
  frame.dense<std::int32_t>({0, 0}, 2, 1, {7, -8});
  frame.dense<float>({0, 1}, 2, 1, {0.5F, 2.0F});
  std::vector<Foreign> files;
  for (const bool is_frame : {false, true}) {
    const auto path = dir.write(is_frame ? "frame.dbdf" : "matrix.dbdf",
                                is_frame ? frame.bytes() : matrix.bytes());
    for (const FormatInfo& format : formats()) {
      if (!format.writes || !format.reads) continue;
      ConvertOptions options;
      options.to = format.name;
      options.write.overwrite = true;
      options.write.sync = false;
      const fs::path out = dir / "out";
      if (test::error_of([&] { convert(open(path), {}, out, options); })) continue;
      files.push_back({std::string(format.name) + (is_frame ? ", frame" : ", matrix"),
                       std::string(format.name), test::read_bytes(out)});
    }
  }
  return files;
}

}  // namespace

TEST_CASE(
    "every bit: verify finds each flip of a file that we wrote, header and padding included") {
  fuzz::MemoryFile file;
  std::size_t samples = 0;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    file.set(sample.bytes);
    if (!is_indexed(file.path())) continue;
    const auto sound = verify(file.path(), Level::payload);
    const bool quiet = sound.findings.empty();
    if (!quiet) continue;
    ++samples;
    flip_each_bit(sample.bytes, [&](const Bytes& damaged, std::size_t at) {
      CAPTURE(at);
      file.set(damaged);
      OpenOptions options;
      options.format = "dbdf";
      CHECK(!verify(file.path(), Level::payload, options).findings.empty());
    });
  }
  CHECK(samples > 2);
}

TEST_CASE("every bit: words, times and truth values are never others than were written") {
  const TempDir dir;
  test::write_text(dir / "in.csv",
                   "who,when,ok\nAnn,2026-01-01,true\nBob,,false\nAnn,1999-12-31,NA\n");
  ConvertOptions options;
  options.write.sync = false;
  convert(open(dir / "in.csv"), {}, dir / "sound.dbdf", options);
  fuzz::MemoryFile file;
  OpenOptions checked;
  checked.format = "dbdf";
  checked.check = Check::always;
  const auto as_text = [&](const fs::path& path) {
    const Frame frame = Frame::open(path, checked);
    std::string text;
    for (std::uint64_t c = 0; c < frame.cols(); ++c) {
      for (const std::int64_t bits : frame.read_column<std::int64_t>(c, {0, frame.rows()})) {
        append_text(frame.column_info(c), static_cast<std::uint64_t>(bits), text);
        text += ';';
      }
    }
    return text;
  };
  const Bytes sound = test::read_bytes(dir / "sound.dbdf");
  file.set(sound);
  REQUIRE(verify(file.path(), Level::payload).findings.empty());
  const std::string expected = as_text(file.path());
  CHECK(expected == "Ann;Bob;Ann;2026-01-01;;1999-12-31;true;false;;");
  std::size_t refused = 0;
  flip_each_bit(sound, [&](const Bytes& damaged, std::size_t at) {
    CAPTURE(at);
    file.set(damaged);
    CHECK(!verify(file.path(), Level::payload, checked).findings.empty());
    // The header has no hash of its own: a label or a shape may change, which `verify` says.
    if (at < 64) return;
    std::string text;
    if (test::error_of([&] { text = as_text(file.path()); })) {
      ++refused;
    } else {
      CHECK(text == expected);
    }
  });
  CHECK(refused > sound.size());
}

TEST_CASE("every bit: no field of an index can lie its way to a wrong cell") {
  fuzz::MemoryFile file;
  std::size_t lies = 0;
  for (const Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    file.set(sample.bytes);
    if (!is_indexed(file.path())) continue;
    const reference::Object truth = reference::read(sample.bytes);
    const std::size_t size = sample.bytes.size();
    std::uint64_t payload = 0;
    std::memcpy(&payload, sample.bytes.data() + size - kLine + 8, 8);
    for (std::size_t at = size - payload; at + 4 <= size; at += 4) {
      std::uint32_t old = 0;
      std::memcpy(&old, sample.bytes.data() + at, 4);
      for (const std::uint32_t lie : {0U, 1U, old - 1, old + 1, old ^ 0x80U, old << 1, 0x7FFFFFFFU,
                                      0x80000000U, 0xFFFFFFFFU, static_cast<std::uint32_t>(size)}) {
        if (lie == old) continue;
        Bytes lying = sample.bytes;
        std::memcpy(lying.data() + at, &lie, 4);
        fuzz::sign_index(lying);
        file.set(lying);
        CAPTURE(at);
        CAPTURE(lie);
        CHECK(test::difference(file.path(), truth, Demand::cells_or_error) == "");
        ++lies;
      }
    }
  }
  CHECK(lies > 4000);
}

TEST_CASE("every bit: a foreign file that is cut or changed gives answers or errors") {
  fuzz::MemoryFile file;
  const auto files = foreign_files();
  CHECK(files.size() > 10);
  for (const Foreign& foreign : files) {
    CAPTURE(foreign.name);
    OpenOptions named;
    named.format = foreign.format;
    for (std::size_t size = 0; size <= foreign.bytes.size(); size += test::one_of(3)) {
      file.set(std::span(foreign.bytes).first(size));
      ask_everything(file.path(), named);
      ask_everything(file.path(), {});
    }
    flip_each_bit(foreign.bytes, [&](const Bytes& damaged, std::size_t) {
      file.set(damaged);
      ask_everything(file.path(), named);
    });
  }
}
