#include "tests/samples.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "dapple/writer.h"

namespace dapple::test {

namespace {

// A value as a writer in trouble would choose it: small, at a limit, or anything at all.
template <Value T>
T any_value(Rng& rng) {
  const std::uint64_t bits = rng.bits();
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A value that every type holds.
template <Value T>
T small_value(Rng& rng) {
  return rng.chance(40) ? T{0} : static_cast<T>(rng.below(128));
}

template <Value T>
T value_of(Rng& rng, bool free) {
  return free && rng.chance(50) ? any_value<T>(rng) : small_value<T>(rng);
}

template <Value T>
void append_block(Image& image, Rng& rng, const Region& cells, BlockKind kind, bool free) {
  const BlockPos pos{cells.rows.begin, cells.cols.begin};
  const auto rows = static_cast<std::uint32_t>(cells.rows.size());
  const auto cols = static_cast<std::uint32_t>(cells.cols.size());
  if (kind == BlockKind::empty) image.empty(pos, rows, cols);
  if (kind == BlockKind::dense) {
    std::vector<T> values(std::size_t{rows} * cols);
    for (T& v : values) v = value_of<T>(rng, free);
    image.dense(pos, rows, cols, values);
  }
  if (kind == BlockKind::csr) {
    std::vector<std::vector<std::pair<std::uint32_t, T>>> stored(rows);
    for (auto& row : stored) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (rng.chance(30)) row.emplace_back(c, value_of<T>(rng, free));
      }
      if (rng.chance(50)) shuffle(row, rng);
    }
    image.csr(pos, cols, stored);
  }
  if (kind == BlockKind::coo) {
    std::vector<Triplet<T>> stored;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (rng.chance(20)) stored.push_back({r, c, value_of<T>(rng, free)});
      }
    }
    if (rng.chance(50)) shuffle(stored, rng);
    image.coo(pos, rows, cols, stored);
  }
}

// `declared` is nothing where the block's columns have several types.
void random_block(Image& image, Rng& rng, const Region& cells, std::optional<ValueType> declared,
                  unsigned misfits) {
  const auto kind = static_cast<BlockKind>(rng.below(4));
  ValueType type = kValueTypes[rng.below(kValueTypes.size())];
  if (declared && rng.chance(40)) type = *declared;
  const bool free = (declared && holds_all(*declared, type)) || rng.chance(misfits);
  visit_type(type, [&](auto tag) { append_block<decltype(tag)>(image, rng, cells, kind, free); });
}

void noise(Image& image, Rng& rng) {
  if (rng.chance(15)) image.auxiliary(std::vector<std::byte>(rng.below(30), std::byte{0xEE}));
  if (rng.chance(10)) image.empty({rng.bits(), rng.bits()}, 0, 3);
}

}  // namespace

Image random_matrix(Rng& rng, const Partition& partition, ValueType declared, unsigned misfits) {
  Image image = Image::matrix(partition.rows, partition.cols, declared,
                              static_cast<std::uint8_t>(rng.between(1, 2)));
  for (const Region& cells : partition.blocks) {
    noise(image, rng);
    random_block(image, rng, cells, declared, misfits);
  }
  noise(image, rng);
  return image;
}

Image random_frame(Rng& rng, const Partition& partition, unsigned misfits) {
  std::vector<std::pair<std::string, ValueType>> columns;
  ValueType type = ValueType::f64;
  for (std::uint64_t c = 0; c < partition.cols; ++c) {
    if (rng.chance(50)) type = kValueTypes[rng.below(kValueTypes.size())];
    columns.emplace_back(std::string(rng.below(9), static_cast<char>('a' + c % 26)), type);
  }
  Image image = Image::frame(partition.rows, columns);
  for (const Region& cells : partition.blocks) {
    std::optional<ValueType> declared = columns[cells.cols.begin].second;
    for (std::uint64_t c = cells.cols.begin; c < cells.cols.end; ++c) {
      if (columns[c].second != declared) declared = std::nullopt;
    }
    noise(image, rng);
    random_block(image, rng, cells, declared, misfits);
  }
  return image;
}

namespace {

std::vector<std::byte> written_matrix(const WriteOptions& options, const Partition& partition) {
  const TempDir dir;
  WriteOptions how = options;
  how.off_grid = true;
  auto w = MatrixWriter::create(dir / "m.dbdf", partition.rows, partition.cols, ValueType::f32, how,
                                Storage::csr);
  unsigned n = 0;
  for (const Region& cells : partition.blocks) {
    const auto rows = static_cast<std::uint32_t>(cells.rows.size());
    const auto cols = static_cast<std::uint32_t>(cells.cols.size());
    std::vector<float> values(std::size_t{rows} * cols);
    // By turns: dense, a few entries in one row, none, one entry.
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (n % 4 == 0 || (n % 4 == 1 && i < 2) || (n % 4 == 3 && i + 1 == values.size())) {
        values[i] = static_cast<float>(n) + (i % 2 == 0 ? 0.5F : 1.0F);
      }
    }
    w.put<float>({cells.rows.begin, cells.cols.begin}, {values.data(), rows, cols});
    ++n;
  }
  w.finish();
  return read_bytes(dir / "m.dbdf");
}

std::vector<std::byte> written_frame(const WriteOptions& options) {
  const TempDir dir;
  auto w = FrameWriter::create(
      dir / "f.dbdf", 5, {{"id", ValueType::u16}, {"", ValueType::u16}, {"x", ValueType::f64}},
      options);
  const std::vector<std::uint16_t> ids = {1, 2, 300, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> xs = {0.5, 0, -0.0, 0, 0};
  w.put<std::uint16_t>({0, 0}, {ids.data(), 5, 2});
  w.put<double>({0, 2}, {xs.data(), 5, 1});
  w.finish();
  return read_bytes(dir / "f.dbdf");
}

}  // namespace

std::vector<Sample> small_samples() {
  Rng rng(30);
  Partition pinwheel = pinwheels(1), gaps{"gaps", 5, 6, {{{0, 2}, {0, 3}}, {{1, 4}, {3, 6}}}};
  shuffle(pinwheel.blocks, rng);
  WriteOptions plain, tiled;
  plain.plain = true;
  tiled.tile = TileShape{4, 4};
  tiled.align = 8;
  std::vector<Sample> samples{
      {"tiled", written_matrix(tiled, regular(7, 6, {4, 4}))},
      {"pinwheel", written_matrix({}, pinwheel)},
      {"filled", written_matrix(tiled, gaps)},
      {"no_cells", written_matrix({}, {"", 0, 3, {}})},
      {"plain", written_matrix(plain, regular(4, 6, {4, 3}))},
      {"plain_pinwheel", written_matrix(plain, pinwheel)},
      {"frame", written_frame({})},
      {"plain_frame", written_frame(plain)},
      {"foreign", random_matrix(rng, pinwheels(1), ValueType::i32).bytes()},
      {"foreign_gaps", random_matrix(rng, gaps, ValueType::f64).bytes()},
      {"foreign_frame", random_frame(rng, regular(4, 5, {2, 3})).bytes()},
      {"column", Image::matrix(9, 1, ValueType::i16)
                     .coo<std::int16_t>({0, 0}, 9, 1, {{8, 0, -2}, {1, 0, 300}})
                     .bytes()},
  };
  return samples;
}

}  // namespace dapple::test
