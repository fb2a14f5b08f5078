#include <algorithm>
#include <ranges>
#include <vector>

#include "dapple/view.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;

namespace {

constexpr std::size_t kBody = 19;  // a matrix header

template <class Range>
constexpr bool kIsView = std::ranges::view<Range>&& std::ranges::borrowed_range<Range>;
static_assert(kIsView<DenseRow<float>> && std::ranges::random_access_range<DenseRow<float>>);
static_assert(kIsView<CsrRow<float>> && std::ranges::random_access_range<CsrRow<float>>);
static_assert(kIsView<CsrView<float>> && std::ranges::forward_range<CsrView<float>>);
static_assert(kIsView<CooView<float>> && std::ranges::random_access_range<CooView<float>>);
static_assert(std::ranges::sized_range<DenseRow<float>> && std::ranges::sized_range<CsrRow<float>>);

// The payload of the only block of an image, moved `shift` bytes off any alignment.
struct Payload {
  Payload(const Image& image, std::size_t header, std::size_t shift) : copy(shift), at(shift) {
    const auto& bytes = image.bytes();
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(kBody + 16 + header);
    copy.insert(copy.end(), first, bytes.end());
  }
  const std::byte* data() const { return copy.data() + at; }
  std::size_t size() const { return copy.size() - at; }
  std::vector<std::byte> copy;
  std::size_t at;
};

}  // namespace

TEST_CASE_TEMPLATE("view: dense values are read at any alignment", T, std::uint8_t, std::int16_t,
                   std::uint32_t, std::int64_t, float, double) {
  const std::vector<T> values = {T(1), T(2), T(3), T(4), T(5), T(6)};
  Image image = Image::matrix(2, 3, value_type_of<T>());
  image.dense<T>({0, 0}, 2, 3, values);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const Payload payload(image, 10, shift);
    const DenseView<T> view(payload.data(), 2, 3, 3 * sizeof(T));
    CHECK(view.rows() == 2);
    CHECK(view.cols() == 3);
    CHECK(view.row_stride() == 3 * sizeof(T));
    CHECK(view.row_bytes(1) == payload.data() + 3 * sizeof(T));
    CHECK(view(0, 0) == T(1));
    CHECK(view(0, 2) == T(3));
    CHECK(view(1, 2) == T(6));
    const DenseRow<T> row = view.row(1);
    CHECK(std::vector<T>(row.begin(), row.end()) == std::vector<T>{T(4), T(5), T(6)});
    CHECK(row.begin()[2] == row[2]);
    CHECK(row.bytes().data() == view.row_bytes(1));
    CHECK(std::ranges::upper_bound(row, T(4)) - row.begin() == 1);
    const bool aligned = reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(T) == 0;
    REQUIRE(view.aligned().has_value() == aligned);
    if (aligned) CHECK(std::vector<T>(view.aligned()->begin(), view.aligned()->end()) == values);
  }
}

TEST_CASE("view: dense rows with a gap between them are not one array") {
  alignas(8) const double values[] = {1, 2, 99, 3, 4, 99};
  const auto* bytes = reinterpret_cast<const std::byte*>(values);
  const DenseView<double> gapped(bytes, 2, 2, 3 * sizeof(double));
  CHECK(gapped(1, 1) == 4);
  CHECK(!gapped.aligned());
  CHECK(DenseView<double>(bytes, 1, 2, 3 * sizeof(double)).aligned()->size() == 2);
}

TEST_CASE("view: CSR rows are iterated in place") {
  Image image = Image::matrix(4, 9, ValueType::i32);
  image.csr<std::int32_t>({0, 0}, 9, {{{8, -1}, {0, 2}}, {}, {{4, 3}}, {}});
  const Payload payload(image, 18, 3);
  const CsrView<std::int32_t> view(payload.data(), payload.size(), 4, 9, 3);
  std::vector<std::vector<std::pair<std::uint32_t, std::int32_t>>> rows;
  for (CsrRow<std::int32_t> row : view) {
    auto& entries = rows.emplace_back();
    for (const auto [col, value] : row) entries.emplace_back(col, value);
    for (std::uint32_t i = 0; i < row.size(); ++i) {
      CHECK(row[i] == RowEntry<std::int32_t>{row.col(i), row.value(i)});
    }
  }
  CHECK(rows == decltype(rows){{{8, -1}, {0, 2}}, {}, {{4, 3}}, {}});
  CHECK(view.row_offsets() == std::vector<std::uint64_t>{0, 20, 24, 36});
  CHECK(view.nnz() == 3);
}

TEST_CASE("view: a CSR row that leaves its block is an error, never a read behind it") {
  using View = CsrView<std::uint8_t>;
  const auto walk = [](const View& view) { return test::error_of([&] { view.row_offsets(); }); };
  Image counts;
  counts.number(std::uint32_t{1}).number(std::uint32_t{0}).number(std::uint8_t{7});
  const auto& bytes = counts.bytes();
  CHECK(!walk(View(bytes.data(), bytes.size(), 1, 1, 1)));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const auto error = walk(View(cut.data(), cut.size(), 1, 1, 1));
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
  }
  counts.patch(0, ~std::uint32_t{0});
  CHECK(walk(View(bytes.data(), bytes.size(), 1, 1, 1)));
  counts.patch(0, std::uint32_t{1});
  CHECK(walk(View(bytes.data(), bytes.size(), 2, 1, 1)));  // a second row after the end
}

TEST_CASE("view: COO entries come in stored order, and a single column stores no columns") {
  const std::vector<Triplet<float>> entries = {{3, 1, 2.5F}, {0, 0, -0.0F}, {1, 2, 1e30F}};
  Image image = Image::matrix(4, 3, ValueType::f32);
  image.coo<float>({0, 0}, 4, 3, entries);
  const Payload payload(image, 14, 1);
  const CooView<float> view(payload.data(), 3, 4, 3);
  CHECK(std::vector<Triplet<float>>(view.begin(), view.end()) == entries);
  CHECK(view[2].value == 1e30F);

  Image column = Image::matrix(4, 1, ValueType::u16);
  column.coo<std::uint16_t>({0, 0}, 4, 1, {{3, 0, 500}, {1, 0, 6}});
  const Payload one(column, 14, 0);
  const CooView<std::uint16_t> single(one.data(), 2, 4, 1);
  CHECK(single[0] == Triplet<std::uint16_t>{3, 0, 500});
  CHECK(single[1] == Triplet<std::uint16_t>{1, 0, 6});
  CHECK(one.size() == 2 * 6);
}
