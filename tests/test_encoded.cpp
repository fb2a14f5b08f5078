// Encoded blocks: whatever reads plain ones reads these, and nothing believes their headers.

#include <filesystem>
#include <string>
#include <vector>

#include "dapple/gather.h"
#include "dapple/open.h"
#include "dapple/rows.h"
#include "dapple/stats.h"
#include "dapple/verify.h"
#include "lib/codec/codecs.h"
#include "tests/check.h"
#include "tests/encoded.h"
#include "tests/support.h"

using namespace dapple;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kSide = 200;

/// Four tiles: dense, CSR, COO, and one that packing leaves alone.
test::Image plain_matrix() {
  test::Rng rng(7);
  std::vector<float> dense(std::size_t{kSide} * kSide);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<float>(i % 50);
  std::vector<std::vector<std::pair<std::uint32_t, float>>> csr(kSide);
  std::vector<Triplet<float>> coo;
  for (std::uint32_t r = 0; r < kSide; ++r) {
    for (std::uint32_t c = 0; c < kSide; ++c) {
      if (rng.chance(20)) csr[r].emplace_back(c, static_cast<float>(rng.below(9)) - 4.0f);
      if (rng.chance(5)) coo.push_back({r, c, -0.0f});
    }
  }
  std::vector<float> noise(std::size_t{kSide} * kSide);
  for (float& x : noise) {
    const auto bits = static_cast<std::uint32_t>(rng.bits() % 0x7f800000u);
    std::memcpy(&x, &bits, 4);
  }
  test::Image image = test::Image::matrix(2 * kSide, 2 * kSide, ValueType::f32);
  image.dense({0, 0}, kSide, kSide, dense);
  image.csr({0, kSide}, kSide, csr);
  image.coo({kSide, 0}, kSide, kSide, coo);
  image.dense({kSide, kSide}, kSide, kSide, noise);
  return image;
}

struct Pair {
  test::TempDir dir;
  fs::path plain = dir.write("plain.dbdf", plain_matrix().bytes());
  std::uint64_t packed = 0;
  fs::path encoded =
      dir.write("packed.dbdf", test::with_packed_blocks(plain_matrix().bytes(), packed));
};

/// Opening a file whose only block has this header and payload, and reading it.
std::string refusal(const test::EncodedBlock& block, Errc code) {
  const test::TempDir dir;
  auto bytes = test::Image::matrix(4, 4, ValueType::u8).bytes();
  const auto item = test::encoded_item(block);
  bytes.insert(bytes.end(), item.begin(), item.end());
  const fs::path path = dir.write("m.dbdf", bytes);
  try {
    Matrix::open(path).read<std::uint8_t>({{0, 4}, {0, 4}});
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.detail();
  }
  return "";
}

test::EncodedBlock some_block() {
  test::EncodedBlock block;
  block.entry.rows = block.entry.cols = 4;
  block.entry.kind = BlockKind::dense;
  block.entry.value_type = ValueType::u8;
  block.entry.stored = 16;
  block.entry.codec = detail::kPackedCodec;
  block.payload.resize(9);
  return block;
}

}  // namespace

TEST_CASE("encoded: every way to cells gives those of the plain file, bit for bit") {
  const Pair files;
  CHECK(files.packed == 3);
  CHECK(fs::file_size(files.encoded) < fs::file_size(files.plain) * 3 / 4);
  const Matrix plain = Matrix::open(files.plain), matrix = Matrix::open(files.encoded);
  test::Rng rng(3);
  const auto bits = [](const auto& values) {
    std::vector<std::uint32_t> out(values.size());
    if (!out.empty()) std::memcpy(out.data(), values.data(), out.size() * 4);
    return out;
  };
  for (int i = 0; i < 40; ++i) {
    const Region region{rng.range(2 * kSide), rng.range(2 * kSide)};
    CHECK(bits(matrix.read<float>(region)) == bits(plain.read<float>(region)));
    const auto a = matrix.read_csr<float>(region), b = plain.read_csr<float>(region);
    CHECK(test::list(a.row_ptr) == test::list(b.row_ptr));
    CHECK(test::list(a.col_idx) == test::list(b.col_idx));
    CHECK(bits(a.values) == bits(b.values));
  }
  std::vector<std::uint64_t> rows;
  for (int i = 0; i < 300; ++i) rows.push_back(rng.below(2 * kSide));
  Csr<float> a, b;
  gather_csr(matrix, std::span<const std::uint64_t>(rows), a);
  gather_csr(plain, std::span<const std::uint64_t>(rows), b);
  CHECK(test::list(a.row_ptr) == test::list(b.row_ptr));
  CHECK(test::list(a.col_idx) == test::list(b.col_idx));
  CHECK(bits(a.values) == bits(b.values));
  CHECK(verify(files.encoded, Level::payload).findings.empty());
}

TEST_CASE("encoded: what would be a view says that it cannot") {
  const Pair files;
  const Matrix matrix = Matrix::open(files.encoded);
  const Block dense = matrix.block({0, 0}), sparse = matrix.block({0, kSide});
  const auto refusal = [](const auto& view) {
    return test::required_error(test::error_of(view)).detail();
  };
  const std::string why = "is packed and cannot be viewed; decode it (Block::cells";
  CHECK(refusal([&] { (void)dense.dense_view<float>(); }).find(why) != std::string::npos);
  CHECK(refusal([&] { (void)sparse.csr_view<float>(); }).find(why) != std::string::npos);
  CHECK(refusal([&] { (void)dense.payload(); }).find(why) != std::string::npos);
  CHECK_THROWS_AS((void)dense.cells<float>(Copy::forbidden), Error);
  const auto tile = dense.cells<float>();
  CHECK(!tile.is_view());
  CHECK(tile(1, 3) == 3.0f);  // 203 % 50
  CHECK(dense.info().kind == BlockKind::dense);
}

TEST_CASE("encoded: headers that no encoded block can have are refused") {
  auto block = some_block();
  block.entry.codec = 200;
  CHECK(refusal(block, Errc::unsupported).find("codec 200") != std::string::npos);
  for (const auto change : {0, 1, 2, 3, 4}) {
    CAPTURE(change);
    block = some_block();
    if (change == 0) block.entry.codec = 0;
    if (change == 1) block.entry.kind = BlockKind::empty;
    if (change == 2) block.entry.stored = 15;  // a dense block has all of its cells
    if (change == 3) block.entry.value_type = ValueType{11};
    if (change == 4) {
      block.entry.kind = BlockKind::csr;
      block.entry.stored = 17;
    }
    CHECK(refusal(block, Errc::corrupt).find("(R1)") != std::string::npos);
  }
  block = some_block();
  block.payload[0] = std::byte{99};  // no version of packed payloads
  CHECK(!refusal(block, Errc::corrupt).empty());
}

TEST_CASE("encoded: a block that would decode to more than a gibibyte is refused at once") {
  const test::TempDir dir;
  auto bytes = test::Image::matrix(1u << 20, 1u << 20, ValueType::f64).bytes();
  test::EncodedBlock block = some_block();
  block.entry.rows = block.entry.cols = 1u << 20;
  block.entry.value_type = ValueType::f64;
  block.entry.stored = std::uint64_t{1} << 40;
  const auto item = test::encoded_item(block);
  bytes.insert(bytes.end(), item.begin(), item.end());
  const fs::path path = dir.write("bomb.dbdf", bytes);
  CHECK_THROWS_AS(Matrix::open(path), Error);
}
