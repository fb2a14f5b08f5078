// Files that somebody writes to, in place, while they are open: the library does not promise the
// cells then, but it stays inside the file and inside the caller's memory, and what it does give is
// what the file held.

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "lib/io/descriptor.h"
#include "tests/check.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// A file that is open for reading, mapped, and has been read once.
class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, bool guard, const std::string& format = "")
      : writer_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)),
        object_(dapple::open(path, OpenOptions{.format = format, .guard = guard})) {
    test::base(object_).prefetch(everything());
    for (const BlockInfo info : test::base(object_).blocks()) positions_.push_back(info.pos);
    look();
    cells_ = cells();
  }

  void write(std::size_t at, std::span<const std::byte> bytes) const {
    REQUIRE(::pwrite(writer_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
  }

  /// Uses every block in every way that reads its entry; errors are answers.
  void look() const {
    const BlockedObject& o = test::base(object_);
    for (const BlockPos pos : positions_) {
      test::error_of([&] {
        const BlockInfo info = o.block(pos).info();
        if (info.pos != pos) FAIL_CHECK("block of ", info.pos.rx, ", ", info.pos.cx);
        static_cast<void>(name(info.kind).size() + name(info.value_type).size());
      });
      test::error_of([&] { o.block(pos).payload(); });
      test::error_of([&] { o.block(pos).to_csr<double>(); });
      test::error_of([&] { o.block(pos).csr_view<double>(); });
      test::error_of([&] { o.block(pos).dense_view<double>(); });
    }
    test::error_of([&] {
      for (const BlockInfo info : o.blocks()) o.block(info.pos);
    });
  }

  /// True when all cells are as they were at first, or cannot be read.
  bool gives_the_same_or_fails() const {
    const auto now = cells();
    return !now || !cells_ || *now == *cells_;
  }

 private:
  Region everything() const {
    return {{0, test::base(object_).rows()}, {0, test::base(object_).cols()}};
  }

  std::optional<std::vector<double>> cells() const {
    std::vector<double> all;
    const auto error = test::error_of([&] {
      if (const auto* m = std::get_if<Matrix>(&object_)) {
        all = m->read<double>(everything());
      } else {
        const Frame& f = std::get<Frame>(object_);
        for (std::uint64_t c = 0; c < f.cols(); ++c) {
          const auto column = f.read_column<double>(c, {0, f.rows()});
          all.insert(all.end(), column.begin(), column.end());
        }
      }
    });
    return error ? std::nullopt : std::optional(all);
  }

  detail::Descriptor writer_;
  std::variant<Matrix, Frame> object_;
  std::vector<BlockPos> positions_;
  std::optional<std::vector<double>> cells_;
};

/// Where a sample's bytes are index: from its tag on.
std::size_t index_of(const std::vector<std::byte>& bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find("DPL-INDX");
}

}  // namespace

TEST_CASE("changing: an index that is overwritten in use leads to the same cells or to an error") {
  const test::TempDir dir;
  test::Rng rng(31);
  std::size_t indexed = 0;
  for (const test::Sample& sample : test::small_samples()) {
    const std::size_t index = index_of(sample.bytes);
    if (index == std::string::npos) continue;
    CAPTURE(sample.name);
    const auto path = dir / ("m" + std::to_string(indexed++));
    test::write_bytes(path, sample.bytes);
    std::optional<OpenFile> open;
    if (test::error_of([&] { open.emplace(path, false); })) continue;  // a damaged sample
    const std::span<const std::byte> before = sample.bytes;
    for (std::size_t at = index; at + 8 <= before.size(); at += 8) {
      std::vector<std::vector<std::byte>> changes = {std::vector<std::byte>(8),
                                                     std::vector<std::byte>(8, std::byte{0xff}),
                                                     std::vector<std::byte>(8, std::byte{1}),
                                                     {}};
      for (int i = 0; i < 8; ++i) changes[3].push_back(static_cast<std::byte>(rng.below(256)));
      for (const auto& change : changes) {
        CAPTURE(at);
        open->write(at, change);
        open->look();
        CHECK(open->gives_the_same_or_fails());
        open->write(at, before.subspan(at, 8));
      }
    }
    // All of it at once, as when the file is cut and grows again.
    open->write(index, std::vector<std::byte>(before.size() - index));
    open->look();
    CHECK(open->gives_the_same_or_fails());
  }
  CHECK(indexed > 3);
}

TEST_CASE("changing: anything that is overwritten under a guard is an error") {
  const test::TempDir dir;
  for (const test::Sample& sample : test::small_samples()) {
    CAPTURE(sample.name);
    test::write_bytes(dir / sample.name, sample.bytes);
    std::optional<OpenFile> open;
    if (test::error_of([&] { open.emplace(dir / sample.name, true); })) continue;
    open->write(0, std::vector<std::byte>(sample.bytes.size()));
    open->look();
    CHECK(open->gives_the_same_or_fails());
  }
}

TEST_CASE("changing: files of other formats that are overwritten in use give cells or an error") {
  const test::TempDir dir;
  test::Rng rng(32);
  std::vector<double> cells(12 * 5);
  for (double& cell : cells) cell = static_cast<double>(rng.between(0, 3)) / 2;
  {
    auto w = test::writer<double>(dir / "source", 12, 5, {.tile = TileShape{4, 5}});
    for (std::uint64_t r = 0; r < 12; r += 4) w.put<double>({r, 0}, {&cells[r * 5], 4, 5});
    w.finish();
  }
  for (const FormatInfo& format : formats()) {
    if (!format.writes) continue;
    CAPTURE(format.name);
    const auto path = dir / ("m." + std::string(format.name));
    ConvertOptions to;
    to.to = format.name;
    convert(open(dir / "source"), {}, path, to);
    const auto before = test::read_bytes(path);
    // The text of futhark is read as futhark, that with tabs as csv.
    const std::string from = to.to == "tsv" ? "csv" : to.to.substr(0, to.to.find('-'));
    const OpenFile open(path, false, from);
    for (std::size_t at = 0; at + 8 <= before.size(); at += 4) {
      for (const auto c : {std::byte{0}, std::byte{1}, std::byte{'9'}, std::byte{0xff}}) {
        open.write(at, std::vector<std::byte>(8, c));
        open.look();
        open.gives_the_same_or_fails();
        open.write(at, std::span(before).subspan(at, 8));
      }
    }
    CHECK(open.gives_the_same_or_fails());
  }
}
