#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/codec/packed/packed_block.h"

namespace dapple::detail::packed {

namespace {

/// Entries that are decoded at a time, so that they stay in the nearest cache.
constexpr std::uint32_t kRun = 1024;

std::uint32_t streams_of(const Shape& shape, std::uint8_t layout) noexcept {
  if (shape.kind == BlockKind::dense) return layout == 1 ? shape.cols : 1;
  return shape.kind == BlockKind::coo && shape.cols == 1 ? 2 : 3;
}

template <std::size_t kSize>
void interleave(const std::uint32_t* cols, const std::byte* values, std::size_t n,
                std::byte* out) noexcept {
  for (std::size_t i = 0; i < n; ++i, out += 4 + kSize) {
    store_le(out, cols[i]);
    std::memcpy(out + 4, values + i * kSize, kSize);
  }
}

template <class T>
DAPPLE_VECTORS void to_floats(const std::byte* __restrict values, std::size_t n,
                              std::byte* __restrict out) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(load_le<T>(values + i * sizeof(T)));
    std::memcpy(out + i * 4, &value, 4);
  }
}

/// Values as another type; how many fit. Those of 1 or 2 bytes are floats without a look.
std::size_t convert(ValueType from, const std::byte* values, ValueType to, std::byte* out,
                    std::size_t n) {
  if (to != ValueType::f32 || size_of(from) > 2) {
    return convert_cells(from, values, size_of(from), to, out, size_of(to), n);
  }
  visit_type(from, [&](auto tag) {
    if constexpr (sizeof tag <= 2) to_floats<decltype(tag)>(values, n, out);
  });
  return n;
}

}  // namespace

std::optional<std::uint64_t> plain_bytes(const Shape& shape) noexcept {
  constexpr std::uint64_t most = 0xFFFFFFFF;
  const std::uint64_t size = size_of(shape.value_type);
  const std::uint64_t cells = std::uint64_t{shape.rows} * shape.cols;
  if (shape.stored > most || shape.kind == BlockKind::empty) return std::nullopt;
  if (shape.kind == BlockKind::dense) {
    return cells == shape.stored ? std::optional(cells * size) : std::nullopt;
  }
  if (shape.kind == BlockKind::csr)
    return 4 * std::uint64_t{shape.rows} + shape.stored * (4 + size);
  return shape.stored * ((shape.cols == 1 ? 4 : 8) + size);
}

BlockReader::BlockReader(const Shape& shape, const Source& source)
    : shape_(shape), source_(source) {
  ByteReader in = source.reader(source.bytes);
  const bool no_row = shape.rows == 0 && shape.stored > 0;
  if (!plain_bytes(shape) || no_row)
    in.fail(in.offset(), "a packed block of an impossible kind or size");
  if (in.le<std::uint8_t>("a packed block") != kVersion) {
    in.fail(in.offset() - 1, "the block is packed in a way that only later versions read");
  }
  layout_ = in.le<std::uint8_t>("a packed block");
  if (layout_ > (shape.kind == BlockKind::coo ? 0 : 1)) {
    in.fail(in.offset() - 1, "a packed block of an unknown layout");
  }
  if (in.le<std::uint16_t>("a packed block") != 0) {
    in.fail(in.offset() - 2, "reserved bytes of a packed block are not zero");
  }
  const std::uint64_t count = streams_of(shape, layout_);
  ends_ = in.take(count * 4, "the streams of a packed block");
  const std::uint64_t left = in.remaining();
  if ((count == 0 ? 0 : load_le<std::uint32_t>(ends_.data() + ends_.size() - 4)) != left) {
    in.fail(in.offset() - 4, "the streams do not fill the packed block");
  }
  streams_ = in.take(left, "the streams of a packed block");
  const auto stored = static_cast<std::uint32_t>(shape.stored);
  if (shape.kind == BlockKind::dense) {
    if (!by_column()) values_ = value_reader(0, stored);
    return;
  }
  const auto last = static_cast<std::uint32_t>(count - 1);
  rows_ = {source_, part(0), shape.kind == BlockKind::csr ? shape.rows : stored, 4};
  if (last == 2) cols_ = {source_, part(1), stored, 4};
  values_ = value_reader(last, stored);
}

std::span<const std::byte> BlockReader::part(std::uint32_t number) const {
  const std::byte* const entry = ends_.data() + std::size_t{number} * 4;
  const std::size_t begin = number == 0 ? 0 : load_le<std::uint32_t>(entry - 4);
  const std::size_t end = load_le<std::uint32_t>(entry);
  if (begin > end || end > streams_.size()) {
    source_.fail(entry, "a stream ends outside the packed block");
  }
  return streams_.subspan(begin, end - begin);
}

BlockReader::ValueReader BlockReader::value_reader(std::uint32_t number, std::uint64_t n) const {
  const auto size = static_cast<unsigned>(size_of(shape_.value_type));
  const auto count = static_cast<std::uint32_t>(n);
  if (size == 8) return StreamReader<std::uint64_t>(source_, part(number), count, size);
  return StreamReader<std::uint32_t>(source_, part(number), count, size);
}

void BlockReader::decode(std::byte* out) const {
  if (shape_.kind == BlockKind::csr) return decode_rows({0, shape_.rows}, out);
  if (shape_.kind == BlockKind::coo) return decode_coo(out);
  cells({0, shape_.rows}, {0, shape_.cols}, out, shape_.cols * size_of(shape_.value_type));
}

void BlockReader::cells(Range rows, Range cols, std::byte* out, std::size_t row_stride) const {
  Pieces kept;
  const std::size_t size = size_of(shape_.value_type);
  if (!by_column()) {
    const bool whole = cols.size() == shape_.cols && row_stride == cols.size() * size;
    const std::uint64_t step = whole ? rows.size() : 1;
    for (std::uint64_t row = rows.begin; row < rows.end; row += step) {
      const auto first = static_cast<std::uint32_t>(row * shape_.cols + cols.begin);
      const auto n = static_cast<std::uint32_t>(step * cols.size());
      std::byte* const target = out + (row - rows.begin) * row_stride;
      std::visit([&](const auto& reader) { reader.read(first, first + n, target, kept); }, values_);
    }
    return;
  }
  std::array<std::byte, std::size_t{kRun} * 8> run;
  for (std::uint64_t col = cols.begin; col < cols.end; ++col) {
    auto reader = value_reader(static_cast<std::uint32_t>(col), shape_.rows);
    for (std::uint64_t row = rows.begin; row < rows.end;) {
      const std::uint64_t stop = std::min<std::uint64_t>(rows.end, row + kRun - row % kRun);
      std::visit(
          [&](auto& r) {
            r.read(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(stop), run.data(),
                   kept);
          },
          reader);
      std::byte* const target = out + (row - rows.begin) * row_stride + (col - cols.begin) * size;
      visit_bits(shape_.value_type, [&](auto tag) {
        for (std::uint64_t i = 0; i < stop - row; ++i) {
          std::memcpy(target + i * row_stride, run.data() + i * sizeof tag, sizeof tag);
        }
      });
      row = stop;
    }
  }
}

void BlockReader::row_starts(std::uint32_t begin, std::uint32_t end, std::uint32_t* starts,
                             Kept& kept) const {
  starts[0] = 0;
  if (begin > 0) rows_.words(begin - 1, begin, starts, kept.rows);
  rows_.words(begin, end, starts + 1, kept.rows);
  const std::size_t n = end - begin;
  bool ascend = starts[n] <= shape_.stored && (end < shape_.rows || starts[n] == shape_.stored);
  for (std::size_t i = 0; i < n; ++i) ascend &= starts[i] <= starts[i + 1];
  if (!ascend) source_.fail(streams_.data(), "the rows of a packed block do not add up (R5)");
}

std::array<std::span<const std::byte>, 2> BlockReader::bytes_of(std::uint32_t begin,
                                                                std::uint32_t end) const noexcept {
  return {cols_.bytes_of(begin, end),
          std::visit([&](const auto& reader) { return reader.bytes_of(begin, end); }, values_)};
}

void BlockReader::columns(std::span<const std::uint32_t> starts, std::uint32_t* out,
                          Kept& kept) const {
  const std::uint32_t first = starts.front(), last = starts.back();
  bool inside = true;
  std::size_t row = 0;
  for (std::uint32_t at = first; at < last;) {
    const std::uint32_t stop = std::min(last - at, kRun - at % kRun) + at;
    cols_.words(at, stop, out + (at - first), kept.cols);
    if (layout_ == 0) {
      for (; at < stop; ++at) inside &= out[at - first] < shape_.cols;
    }
    while (at < stop) {
      while (starts[row + 1] <= at) ++row;
      const std::uint32_t row_stop = std::min(stop, starts[row + 1]);
      std::uint32_t* const gaps = out + (at - first);
      const std::uint32_t before = at == starts[row] ? ~std::uint32_t{0} : gaps[-1];
      inside &= gaps_to_columns(gaps, row_stop - at, before, shape_.cols);
      at = row_stop;
    }
  }
  if (!inside) source_.fail(part(1).data(), "a column of a packed block is outside of it (R5)");
}

void BlockReader::values(std::uint32_t begin, std::uint32_t end, std::byte* out, Kept& kept) const {
  std::visit([&](const auto& reader) { reader.read(begin, end, out, kept.values); }, values_);
}

std::uint32_t BlockReader::values_as(std::uint32_t begin, std::uint32_t end, ValueType to,
                                     std::byte* out, Kept& kept) const {
  const ValueType from = shape_.value_type;
  if (from == to) {
    values(begin, end, out, kept);
    return end - begin;
  }
  std::array<std::byte, std::size_t{kRun} * 8> run;
  for (std::uint32_t at = begin; at < end;) {
    const std::uint32_t n = std::min(end - at, kRun - at % kRun);
    std::byte* const target = out + std::size_t{at - begin} * size_of(to);
    values(at, at + n, run.data(), kept);
    const std::size_t fit = convert(from, run.data(), to, target, n);
    at += static_cast<std::uint32_t>(fit);
    if (fit < n) return at - begin;
  }
  return end - begin;
}

void BlockReader::decode_rows(Range rows, std::byte* out) const {
  Kept kept;
  // Rows are decoded in groups, however long they are.
  std::vector<std::uint32_t> starts, cols;
  std::vector<std::byte> values_run;
  const std::size_t size = size_of(shape_.value_type);
  const auto last = static_cast<std::uint32_t>(rows.end);
  for (auto row = static_cast<std::uint32_t>(rows.begin); row < last;) {
    const std::uint32_t end = std::min(last - row, std::uint32_t{kGroup}) + row;
    starts.resize(end - row + 1);
    row_starts(row, end, starts.data(), kept);
    const std::uint32_t first = starts.front(), n = starts.back() - first;
    cols.resize(n);
    values_run.resize(n * size);
    columns(starts, cols.data(), kept);
    values(first, first + n, values_run.data(), kept);
    for (std::size_t i = 0; row < end; ++row, ++i) {
      const std::uint32_t count = starts[i + 1] - starts[i], at = starts[i] - first;
      store_le(out, count);
      out += 4;
      visit_bits(shape_.value_type, [&](auto tag) {
        interleave<sizeof tag>(cols.data() + at, values_run.data() + at * size, count, out);
      });
      out += count * (4 + size);
    }
  }
}

void BlockReader::decode_coo(std::byte* out) const {
  Kept kept;
  const std::size_t size = size_of(shape_.value_type), places = shape_.cols == 1 ? 1 : 2;
  const auto stored = static_cast<std::uint32_t>(shape_.stored);
  std::array<std::uint32_t, kRun> rows, cols;
  std::array<std::byte, std::size_t{kRun} * 8> run;
  for (std::uint32_t at = 0; at < stored;) {
    const std::uint32_t n = std::min(stored - at, kRun);
    rows_.words(at, at + n, rows.data(), kept.rows);
    if (places == 2) cols_.words(at, at + n, cols.data(), kept.cols);
    values(at, at + n, run.data(), kept);
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool inside = rows[i] < shape_.rows && (places == 1 || cols[i] < shape_.cols);
      if (!inside)
        source_.fail(streams_.data(), "an entry of a packed block is outside of it (R5)");
      store_le(out, rows[i]);
      if (places == 2) store_le(out + 4, cols[i]);
      std::memcpy(out + places * 4, run.data() + i * size, size);
      out += places * 4 + size;
    }
    at += n;
  }
}

}  // namespace dapple::detail::packed
