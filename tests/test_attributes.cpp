// Attributes: kept, changed, lost with a note, and damaged.

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dapple/concat.h"
#include "dapple/convert.h"
#include "dapple/open.h"
#include "dapple/sidecar.h"
#include "dapple/verify.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/write/block_writer.h"
#include "tests/check.h"
#include "tests/support.h"

namespace dapple {

namespace {

using test::error_of;
using test::required_error;
using test::TempDir;

const std::string kNoted = R"({"units": "mm", "run": 12, "at": [1, 2.5, null]})";

std::filesystem::path write_noted(const std::filesystem::path& path, const std::string& json,
                                  bool plain = false) {
  WriteOptions options;
  options.attributes = json;
  options.plain = plain;
  auto writer = MatrixWriter::create(path, 2, 3, ValueType::f64, options);
  const std::array<double, 6> cells{1, 2, 3, 4, 5, 6};
  writer.put<double>({0, 0}, {cells.data(), 2, 3, 3});
  writer.finish();
  return path;
}

std::string attributes_of(const std::filesystem::path& path) {
  return Matrix::open(path).attributes();
}

std::string nested(std::size_t depth) {
  return R"({"a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

std::vector<std::byte> tag_bytes() {
  const auto tag = std::as_bytes(std::span(detail::dbdf::kAttributesTag, 8));
  return {tag.begin(), tag.end()};
}

/// A file whose last block is a hint with this content, found by a walk.
std::filesystem::path write_hints(const TempDir& folder, const std::vector<std::string>& texts) {
  detail::dbdf::HintWriter hints;
  for (const std::string& text : texts) hints.add(detail::dbdf::emit_attributes(text));
  test::Image image = test::Image::matrix(1, 2, ValueType::u8);
  image.dense<std::uint8_t>({0, 0}, 1, 2, {1, 2});
  std::vector<std::byte> bytes = image.bytes();
  hints.emit(bytes.size(), [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  return folder.write("hints.dbdf", bytes);
}

}  // namespace

TEST_CASE("attributes: the bytes of the block are pinned") {
  detail::dbdf::HintWriter hints;
  hints.add(detail::dbdf::emit_attributes(R"({"a":1})"));
  std::string block;
  hints.emit(0, [&](std::span<const std::byte> part) {
    block.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  // As FORMAT.md has it. The hashes are of XXH3_64bits_withSeed in libxxhash, called by hand: of
  // the content with seed 0, and of the trailer with its offset, 114.
  std::string wanted(16, '\xff');                             // an auxiliary block
  wanted += std::string("\2\0\0\0\x40\0\0\0\1\1", 10);        // 2 x 64, dense, u8
  wanted += "DPL-ATTR" + std::string("\1\0\0\0\0\0\0\0", 8);  // version 1
  wanted += std::string(16, '\0') + R"({"a":1})" + std::string(49, '\0');
  wanted += std::string("\x27\0\0\0\0\0\0\0", 8);  // 39 bytes
  wanted +=
      "\x46\xb5\x16\x7b\xa6\x98\x8f\xfe"
      "DPL-ATTR" +
      std::string(8, '\0');
  wanted += "\xeb\xa8\x82\x8c\xd3\x2f\xb7\x34";
  CHECK(block == wanted);
}

TEST_CASE("attributes: come back as they were written, of matrices and frames") {
  const TempDir folder;
  CHECK(attributes_of(write_noted(folder / "m.dbdf", kNoted)) == kNoted);
  CHECK(verify(folder / "m.dbdf", Level::payload).findings.empty());
  WriteOptions options;
  options.attributes = R"({"a":"b"})";
  FrameWriter::create(folder / "f.dbdf", 0, {{"x", ValueType::u8}}, options).finish();
  CHECK(Frame::open(folder / "f.dbdf").attributes() == options.attributes);
}

TEST_CASE("attributes: files without any are the same bytes as ever") {
  const TempDir folder;
  const auto none = test::read_bytes(write_noted(folder / "a.dbdf", ""));
  CHECK(test::read_bytes(write_noted(folder / "b.dbdf", "{}")) == none);
  CHECK(test::read_bytes(write_noted(folder / "c.dbdf", " {\n} ")) == none);
  CHECK(attributes_of(folder / "a.dbdf") == "{}");
  write_noted(folder / "plain.dbdf", kNoted, true);
  CHECK(attributes_of(folder / "plain.dbdf") == "{}");
}

TEST_CASE("attributes: what is no JSON object within the bounds is refused") {
  const TempDir folder;
  const std::string long_text(1 << 20, ' ');
  const std::vector<std::string> bad = {"[1]",
                                        "12",
                                        "{",
                                        R"({"a":1}})",
                                        R"({"a":NaN})",
                                        "{'a':1}",
                                        "\xef\xbb\xbf{}",
                                        R"({"a":1,})",
                                        "{\"a\":\"\xe9\"}",
                                        "{\"a\":\"\xed\xa0\x80\"}",
                                        nested(65),
                                        "{" + long_text + "}",
                                        std::string("{}\0", 3),
                                        R"({"a":1e999})"};
  for (const std::string& json : bad) {
    CAPTURE(json.substr(0, 40));
    const auto error = required_error(error_of([&] { write_noted(folder / "bad.dbdf", json); }));
    CHECK(error.code() == Errc::invalid_argument);
  }
  CHECK(folder.names().empty());
  write_noted(folder / "deep.dbdf", nested(64));
  CHECK(attributes_of(folder / "deep.dbdf") == nested(64));
  const std::string large = R"({"a":1)" + std::string((1 << 20) - 7, ' ') + "}";
  write_noted(folder / "large.dbdf", large);
  CHECK(attributes_of(folder / "large.dbdf") == large);
}

TEST_CASE("attributes: kept by convert, of parts and transposed, or replaced") {
  const TempDir folder;
  const auto object = open(write_noted(folder / "m.dbdf", kNoted));
  Selection part;
  part.cols = std::vector<std::uint64_t>{2, 0};
  convert(object, part, folder / "part.dbdf");
  CHECK(attributes_of(folder / "part.dbdf") == kNoted);
  ConvertOptions options;
  options.transpose = true;
  convert(object, {}, folder / "turned.dbdf", options);
  CHECK(attributes_of(folder / "turned.dbdf") == kNoted);
  const auto named =
      open(write_noted(folder / "n.dbdf",
                       R"({"a":{"dimension_names":[1,2]},"dimension_names":["c","g"],"b":1.50})"));
  convert(named, {}, folder / "dims.dbdf", options);
  CHECK(attributes_of(folder / "dims.dbdf") ==
        R"({"a":{"dimension_names":[1,2]},"dimension_names":["g","c"],"b":1.50})");
  options = {};
  options.write.attributes = R"({"other":1})";
  convert(object, {}, folder / "other.dbdf", options);
  CHECK(attributes_of(folder / "other.dbdf") == R"({"other":1})");
  options.write.attributes = "{}";
  convert(object, {}, folder / "none.dbdf", options);
  CHECK(attributes_of(folder / "none.dbdf") == "{}");
}

TEST_CASE("attributes: targets that have no place for them say so") {
  const TempDir folder;
  const auto object = open(write_noted(folder / "m.dbdf", kNoted));
  std::vector<std::string> notes;
  ConvertOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  convert(object, {}, folder / "kept.dbdf", options);
  CHECK(notes.empty());
  convert(object, {}, folder / "m.npy", options);
  options.write.plain = true;
  convert(object, {}, folder / "plain.dbdf", options);
  CHECK(notes == std::vector<std::string>{"npy keeps no attributes",
                                          "the plain layout keeps no attributes"});
}

TEST_CASE("attributes: concat and append keep those of the first") {
  const TempDir folder;
  const auto a = open(write_noted(folder / "a.dbdf", kNoted));
  const auto b = open(write_noted(folder / "b.dbdf", R"({"run":13})"));
  std::vector<std::string> notes;
  ConcatOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  const std::variant<Matrix, Frame> same[] = {a, a};
  CHECK(std::get<Matrix>(concat(same, Axis::columns, options)).attributes() == kNoted);
  CHECK(notes.empty());
  const std::variant<Matrix, Frame> both[] = {a, b};
  CHECK(std::get<Matrix>(concat(both, Axis::rows, options)).attributes() == kNoted);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "the attributes are those of the first, " + (folder / "a.dbdf").string() +
                        "; " + (folder / "b.dbdf").string() + " has others");
  append(folder / "a.dbdf", b);
  CHECK(attributes_of(folder / "a.dbdf") == kNoted);
  CHECK(Matrix::open(folder / "a.dbdf").rows() == 4);
}

TEST_CASE("attributes: found without an index, by a sidecar, and by repair") {
  const TempDir folder;
  const auto path = write_hints(folder, {kNoted});
  CHECK(Matrix::open(path).index_origin() == IndexOrigin::scanned);
  CHECK(attributes_of(path) == kNoted);
  CHECK(verify(path, Level::payload).findings.empty());
  CHECK(repair(path, folder / "repaired.dbdf").lost.empty());
  CHECK(attributes_of(folder / "repaired.dbdf") == kNoted);
  write_sidecar(path);
  CHECK(Matrix::open(path).index_origin() == IndexOrigin::sidecar);
  CHECK(attributes_of(path) == kNoted);
}

TEST_CASE("attributes: a changed byte never gives others") {
  const TempDir folder;
  const auto whole = test::read_bytes(write_noted(folder / "m.dbdf", kNoted));
  const auto tag = tag_bytes();
  const auto found = std::search(whole.begin(), whole.end(), tag.begin(), tag.end());
  REQUIRE(found != whole.end());
  const auto first = static_cast<std::size_t>(found - whole.begin());
  const std::size_t end = first + 128;  // head, text and trailer
  for (std::size_t at = first; at < end; ++at) {
    CAPTURE(at - first);
    auto bytes = whole;
    bytes[at] ^= std::byte{0x10};
    const auto path = folder.write("changed.dbdf", bytes);
    const auto error = error_of([&] { attributes_of(path); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK_FALSE(verify(path, Level::payload).findings.empty());
    const RepairReport report = repair(path, folder / "repaired.dbdf", [] {
      WriteOptions options;
      options.overwrite = true;
      return options;
    }());
    CHECK_FALSE(report.lost.empty());
    CHECK(report.blocks_kept == 1);
    CHECK(attributes_of(folder / "repaired.dbdf") == "{}");
  }
}

TEST_CASE("attributes: a second hint is found by verify, and the last one is read") {
  const TempDir folder;
  detail::Schema schema;
  WriteOptions options;
  options.attributes = R"({"run":1})";
  detail::BlockWriter writer(folder / "m.dbdf", schema, options);
  writer.add_hint(detail::dbdf::emit_attributes(kNoted));
  writer.finish();
  CHECK(attributes_of(folder / "m.dbdf") == kNoted);
  const auto findings = verify(folder / "m.dbdf", Level::structure).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].detail() == "the file has the hint DPL-ATTR twice; readers take the last");
}

TEST_CASE("attributes: forged ones are corrupt, whatever their hash says") {
  const TempDir folder;
  const std::string large(2 << 20, ' ');
  for (const std::string& text :
       {std::string("[]"), std::string("{"), nested(65), nested(100'000), "{" + large + "}"}) {
    CAPTURE(text.substr(0, 40));
    const auto path = write_hints(folder, {text});
    const auto error = error_of([&] { attributes_of(path); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    REQUIRE(verify(path, Level::payload).findings.size() == 1);
    CHECK(verify(path, Level::payload).findings[0].detail() == error->detail());
  }
}

}  // namespace dapple
