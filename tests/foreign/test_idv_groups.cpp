// Vectors and their slot names, both ways and through our own format; hidden columns; columns that
// are left out.

#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/idv_image.h"
#include "tests/foreign/idv_shown.h"
#include "tests/support.h"

using namespace dapple;
using test::base;
using test::error_of;
using test::required_error;
using namespace test::idv;

namespace {

using Lines = std::vector<std::string>;

FileColumn byte_column(std::string name, std::uint8_t value) {
  return {std::move(name), codec("Byte"), {packed<std::uint8_t>({value, 7})}, 2};
}

Metadata text_metadata(std::string kind, std::int32_t n, const Bytes& block) {
  return {std::move(kind), vector_codec(codec("TextSpan"), {n}), vectors({{n}}, n, block)};
}

/// Two rows of two slots, called "yes" and "no".
FileColumn yes_or_no(std::string name, float first = 1) {
  FileColumn column{std::move(name),
                    vector_codec(codec("Single"), {2}),
                    {vectors({{2}, {2, {{1}}}}, 2, packed<float>({first, 2, 3}))},
                    2};
  column.metadata = {text_metadata("SlotNames", 2, texts({3, 5}, "yesno"))};
  return column;
}

/// Two rows of two keys, whose values are "red" and "blue"; no slot names.
FileColumn key_vector(std::string name) {
  FileColumn column{std::move(name),
                    vector_codec(key2_codec("Byte", 2), {2}),
                    {vectors({{2}, {2}}, 2, packed<std::uint8_t>({1, 2, 0, 1}))},
                    2};
  column.metadata = {text_metadata("KeyValues", 2, texts({3, 7}, "redblue"))};
  return column;
}

FileColumn truths(std::string name) {
  return {std::move(name),
          vector_codec(codec("Boolean"), {2}),
          {vectors({{2}, {2}}, 2, bits({1, 0, 1, 1}))},
          2};
}

/// A key whose values are the numbers 1, 2.5 and NaN.
FileColumn number_key(std::string name) {
  FileColumn column{std::move(name), key2_codec("Byte", 3), {packed<std::uint8_t>({3, 2})}, 2};
  column.metadata = {{"KeyValues", vector_codec(codec("Single"), {3}),
                      vectors({{3}}, 3, packed<float>({1, 2.5f, __builtin_nanf("")}))}};
  return column;
}

/// Two rows of five dates with zone, the second row sparse.
FileColumn zoned_vector(std::string name) {
  return {std::move(name),
          vector_codec(codec("DateTimeOffset"), {5}),
          {vectors({{5}, {5, {{1}}}}, 5,
                   zoned({{10, 60}, {20, -60}, {0, 0}, {0, 5}, {40, 0}, {30, 1}}))},
          2};
}

/// Two rows of two row identifiers.
FileColumn wide_vector(std::string name) {
  return {std::move(name),
          vector_codec(codec("DataViewRowId"), {2}),
          {vectors({{2}, {2}}, 2, packed<std::uint64_t>({1, 2, 3, 4, 5, 6, 7, 8}))},
          2};
}

std::filesystem::path write_columns(const test::TempDir& dir,
                                    const std::vector<FileColumn>& columns) {
  return dir.write("t.idv", build(6, 2, columns).bytes);
}

Lines frame_labels(const std::filesystem::path& path, const OpenOptions& options = {}) {
  const Frame frame = Frame::open(path, options);
  Lines labels;
  for (std::uint64_t c = 0; c < frame.cols(); ++c) labels.push_back(frame.label(c));
  return labels;
}

OpenOptions choosing(const std::vector<std::string>& columns) {
  OpenOptions options;
  for (const std::string& column : columns) options.format_options.emplace("idv.column", column);
  return options;
}

/// The file's columns and their types, as they are told of text columns and of metadata: chosen
/// alone, a vector of numbers is a matrix.
Lines vectors_of(const std::filesystem::path& path, const Lines& names) {
  Lines lines;
  for (const std::string& name : names) {
    const auto object = open(path, choosing({name}));
    lines.push_back(name + ": " + std::to_string(base(object).cols()) +
                    (std::holds_alternative<Matrix>(object) ? " numbers" : " columns"));
  }
  return lines;
}

}  // namespace

TEST_CASE("idv: vectors, slot names and keys survive a way through our own format") {
  const test::TempDir dir;
  const auto path = write_columns(dir, {yes_or_no("p"), byte_column("n", 1), yes_or_no("q", 5),
                                        key_vector("k"), truths("b"), yes_or_no("p2")});
  const Lines names = {"p", "n", "q", "k", "b", "p2"};
  convert(open(path), {}, dir / "t.dbdf", over());
  CHECK(verify(dir / "t.dbdf", Level::payload).findings.empty());
  const Frame frame = Frame::open(dir / "t.dbdf");
  REQUIRE(frame.groups().size() == 5);
  CHECK(frame.find_group("k") == Range{5, 7});
  CHECK(frame.column_info(0).group->slot_name(1) == "no");
  for (const auto& from : {dir / "t.dbdf", path}) {
    convert(open(from), {}, dir / "again.idv", over());
    Lines expected = columns_of(path);
    for (Lines::size_type i : {5, 6}) {  // only the file itself tells that its keys are bytes
      if (from != path) expected[i].replace(expected[i].find(" u8 "), 4, " u32 ");
    }
    CHECK(columns_of(dir / "again.idv") == expected);
    CHECK(metadata_of(dir / "again.idv") == metadata_of(path));
    CHECK(vectors_of(dir / "again.idv", names) == vectors_of(path, names));
    CHECK(verify(dir / "again.idv", Level::payload).findings.empty());
  }
  CHECK(vectors_of(path, {"p", "k", "b"}) == Lines{"p: 2 numbers", "k: 2 columns", "b: 2 columns"});
}

TEST_CASE("idv: vectors of items of two parts are those vectors again") {
  const test::TempDir dir;
  const FileColumn zones = zoned_vector("z"), ids = wide_vector("r");
  const auto path = write_columns(dir, {byte_column("n", 1), zones, ids});
  Lines notes;
  ConvertOptions options = over();
  options.format_options = {{"idv.deflate", "false"}};
  options.note = [&](const std::string& note) { notes.push_back(note); };
  convert(open(path), {}, dir / "again.idv", options);
  CHECK(notes.empty());
  CHECK(columns_of(dir / "again.idv") == columns_of(path));
  CHECK(frame_labels(dir / "again.idv") == frame_labels(path));
  CHECK(verify(dir / "again.idv", Level::payload).findings.empty());
  const std::string bytes = test::read_text(dir / "again.idv");
  for (const FileColumn* column : {&zones, &ids}) {  // dense and sparse rows as before
    const Bytes& block = column->blocks[0];
    CHECK(bytes.find(std::string(reinterpret_cast<const char*>(block.data()), block.size())) !=
          std::string::npos);
  }
  // Slots on their own have no such item.
  convert(open(path), {{}, std::vector<std::uint64_t>{1, 2}}, dir / "some.idv", options);
  CHECK(notes == Lines{"column 'z': idv keeps the two parts of each cell as two columns",
                       "column 'z': idv keeps the times as plain numbers, ticks of 100 ns"});
}

TEST_CASE("idv: files put together, and rows appended, keep vectors and slot names") {
  const test::TempDir dir;
  const auto path = write_columns(dir, {yes_or_no("p"), key_vector("k"), byte_column("n", 1)});
  const std::variant<Matrix, Frame> twice[] = {open(path), open(path)};
  convert(concat(twice, Axis::rows), {}, dir / "c.idv", over());
  CHECK(metadata_of(dir / "c.idv") == metadata_of(path));
  CHECK(frame_labels(dir / "c.idv") == frame_labels(path));
  convert(open(path), {}, dir / "t.dbdf", over());
  append(dir / "t.dbdf", open(path));
  CHECK(Frame::open(dir / "t.dbdf").rows() == 4);
  CHECK(Frame::open(dir / "t.dbdf").groups().size() == 2);
  // A table of the same labels joins them; another vector in their place does not.
  test::write_text(dir / "more.csv", "yes,no,k.0,k.1,n\n1.5,2,red,blue,3\n");
  append(dir / "t.dbdf", open(dir / "more.csv"));
  CHECK(Frame::open(dir / "t.dbdf").groups().size() == 2);
  const auto other = write_columns(dir, {yes_or_no("other"), key_vector("k"), byte_column("n", 1)});
  const std::variant<Matrix, Frame> apart[] = {open(dir / "t.dbdf"), open(other)};
  const Error error = required_error(error_of([&] { concat(apart, Axis::rows); }));
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.detail().find("group 'other'") != std::string::npos);
}

TEST_CASE("idv: the slot names of a matrix survive our own format, repair and selections") {
  const test::TempDir dir;
  const auto path = write_columns(dir, {yes_or_no("v")});
  convert(open(path), {}, dir / "m.dbdf", over());
  const Matrix m = Matrix::open(dir / "m.dbdf");
  REQUIRE(m.group() != nullptr);
  CHECK(m.group()->name == "v");
  CHECK(m.group()->label(1) == "no");
  repair(dir / "m.dbdf", dir / "repaired.dbdf");
  for (const char* from : {"m.dbdf", "repaired.dbdf"}) {
    convert(open(dir / from), {}, dir / "m.csv", over());
    CHECK(test::read_text(dir / "m.csv") == "yes,no\n1,2\n0,3\n");
    convert(open(dir / from), {}, dir / "again.idv", over());
    CHECK(metadata_of(dir / "again.idv") == metadata_of(path));
    CHECK(verify(dir / from, Level::payload).findings.empty());
  }
  convert(open(dir / "m.dbdf"), {{}, std::vector<std::uint64_t>{1}}, dir / "one.dbdf", over());
  const Matrix one = Matrix::open(dir / "one.dbdf");
  CHECK(one.group()->label(0) == "no");
  const std::variant<Matrix, Frame> twice[] = {open(path), open(dir / "m.dbdf")};
  const Matrix below = std::get<Matrix>(concat(twice, Axis::rows));
  CHECK(below.group()->label(1) == "no");
  const Matrix beside = std::get<Matrix>(concat(twice, Axis::columns));
  CHECK(beside.group() == nullptr);
}

TEST_CASE("idv: damaged slot names do not keep a matrix from being read") {
  const test::TempDir dir;
  FileColumn column = yes_or_no("v");
  column.metadata[0].value = vectors({{2}}, 2, texts({3, 9}, "yesno"));
  const auto path = write_columns(dir, {column});
  const Matrix m = Matrix::open(path);
  CHECK(m.read<float>({{0, 1}, {0, 2}}) == std::vector<float>{1, 2});
  CHECK(m.group()->slot_names == nullptr);
  CHECK(m.note().find("names of the slots are damaged") != std::string::npos);
  CHECK(verify(path, Level::payload).findings.size() == 1);
}

TEST_CASE("idv: key values that are numbers stay numbers from file to file") {
  const test::TempDir dir;
  const auto path = write_columns(dir, {number_key("k"), byte_column("n", 1)});
  for (const bool deflate : {true, false}) {
    ConvertOptions options = over();
    options.format_options = {{"idv.deflate", deflate ? "true" : "false"}};
    convert(open(path), {}, dir / "again.idv", options);
    CHECK(metadata_of(dir / "again.idv") == metadata_of(path));
    CHECK(columns_of(dir / "again.idv") == columns_of(path));
  }
  CHECK(metadata_of(path) == Lines{R"("k": KeyValues, Vector<Single,3> = [1, 2.5, nan])"});
}

TEST_CASE("idv: a key that is chosen alone has the words that it has beside others") {
  const test::TempDir dir;
  const auto path = write_columns(dir, {key_vector("k"), truths("b"), byte_column("n", 1)});
  const Lines whole = columns_of(path);
  convert(open(path, choosing({"k"})), {}, dir / "k.dbdf", over());
  CHECK(columns_of(dir / "k.dbdf") == Lines{whole[0], whole[1]});
  convert(open(path, choosing({"b"})), {}, dir / "b.dbdf", over());
  CHECK(columns_of(dir / "b.dbdf") == Lines{whole[2], whole[3]});
}

TEST_CASE("idv: slots of a group that differ make no vector") {
  const test::TempDir dir;
  const auto group = std::make_shared<ColumnGroup>(ColumnGroup{"g", 2});
  const auto refused = [&](ValueType a, ValueType b, MeaningKind kind) {
    std::vector<Column> columns = {{"x", a, {}, group, 0}, {"y", b, {}, group, 1}};
    for (Column& column : columns) column.meaning.kind = kind;
    FrameWriter::create(dir / "g.dbdf", 0, columns, over().write).finish();
    const Error error =
        required_error(error_of([&] { convert(open(dir / "g.dbdf"), {}, dir / "g.idv"); }));
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("group 'g'") != std::string::npos);
    return error.option();
  };
  CHECK(refused(ValueType::f32, ValueType::f64, MeaningKind::number) == "value_type");
  CHECK(refused(ValueType::i64, ValueType::i64, MeaningKind::duration) == "stored_numbers");
}

TEST_CASE("idv: hidden columns are left out and named, or kept under names of their own") {
  const test::TempDir dir;
  const auto path = write_columns(
      dir, {yes_or_no("a"), byte_column("b", 2), byte_column("b", 3), yes_or_no("a", 9)});
  const Frame frame = Frame::open(path);
  CHECK(frame_labels(path) == Lines{"b", "yes", "no"});
  CHECK(frame.read_column<int>(0, {0, 1}) == std::vector<int>{3});
  CHECK(frame.note() ==
        "left out, as later columns of the same name hide them: column 0 \"a\", column 1 \"b\"");
  OpenOptions all;
  all.format_options = {{"idv.keep_hidden", "true"}};
  CHECK(frame_labels(path, all) ==
        Lines{"a (hidden 0).yes", "a (hidden 0).no", "b (hidden 1)", "b", "a.yes", "a.no"});
  CHECK(base(open(path, all)).note().empty());
  convert(open(path, all), {}, dir / "again.idv", over());  // hidden as before
  CHECK(frame_labels(dir / "again.idv") == frame_labels(path));
  CHECK(frame_labels(dir / "again.idv", all) == frame_labels(path, all));
  convert(open(path), {}, dir / "t.dbdf", over());
  CHECK(columns_of(dir / "t.dbdf") == columns_of(path));

  // What cannot be read hides nothing.
  const FileColumn dead{"b", codec("Strange"), {raw("??")}, 2};
  const auto readable = write_columns(dir, {byte_column("b", 2), byte_column("c", 3), dead});
  CHECK(frame_labels(readable) == Lines{"b", "c"});
  CHECK(frame_labels(readable, choosing({"b"})) == Lines{"b"});
}

TEST_CASE("idv: damage in a hidden column is found") {
  const test::TempDir dir;
  const FileColumn bad{"b", codec("DateTime"), {packed<std::int64_t>({-1, 0})}, 2};
  CHECK(verify(write_columns(dir, {bad, byte_column("b", 3)}), Level::payload).findings.size() ==
        1);
}

TEST_CASE("idv: what is dropped is only what cannot be read, and it is named") {
  const test::TempDir dir;
  const FileColumn text{"t", codec("TextSpan"), {texts({1, 2}, "xy")}, 2};
  const FileColumn words{
      "w", vector_codec(codec("TextSpan"), {1}), {vectors({{1}, {1}}, 1, texts({1, 2}, "xy"))}, 2};
  const auto path = write_columns(dir, {text, words, byte_column("n", 1)});
  OpenOptions drop;
  drop.format_options = {{"idv.drop_unsupported", "true"}};
  CHECK(frame_labels(path, drop) == Lines{"t", "n"});
  CHECK(base(open(path, drop)).note() ==
        "left out, as a frame has no place for them: column \"w\" of Vector<Text,1>");
}
