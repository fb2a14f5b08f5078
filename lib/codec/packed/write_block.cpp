#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dapple/array.h"
#include "lib/cells/convert_cells.h"
#include "lib/codec/packed/packed_block.h"

namespace dapple::detail::packed {

namespace {

using Words = Array<std::uint32_t>;

std::span<const std::uint32_t> span_of(const Words& words) { return {words.begin(), words.end()}; }

/// The streams of a block, one after the other, with where each ends in front.
class StreamWriter {
 public:
  /// `bytes` are those of the plain payload.
  StreamWriter(std::uint8_t layout, std::size_t streams, std::size_t bytes)
      : out_(4 + streams * 4), data_(out_.size()) {
    out_.reserve(bytes / 2);
    out_[0] = static_cast<std::byte>(kVersion);
    out_[1] = static_cast<std::byte>(layout);
  }

  template <Word W>
  void add(std::span<const W> words, const Values& values, Effort effort) {
    write_stream(words, values, effort, out_);
    fits_ &= out_.size() - data_ <= std::numeric_limits<std::uint32_t>::max();
    store_le(out_.data() + 4 + added_++ * 4, static_cast<std::uint32_t>(out_.size() - data_));
  }
  /// Empty if the streams take more than 4 GiB.
  Bytes take() { return fits_ ? std::move(out_) : Bytes{}; }

 private:
  Bytes out_;
  std::size_t data_, added_ = 0;
  bool fits_ = true;
};

Values values_of(ValueType type, bool is_column = false) noexcept {
  return {static_cast<unsigned>(size_of(type)), is_signed(type), is_float(type), is_column};
}

/// Calls f(words) with `n` values that are `step` bytes apart.
template <class F>
auto with_words(ValueType type, const std::byte* first, std::size_t step, std::size_t n,
                const F& f) {
  return visit_bits(type, [&](auto tag) {
    using W = std::conditional_t<sizeof tag == 8, std::uint64_t, std::uint32_t>;
    const bool aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(W) == 0;
    if (sizeof tag == sizeof(W) && step == sizeof(W) && aligned) {
      return f(std::span<const W>(reinterpret_cast<const W*>(first), n));
    }
    Array<W> words(n);
    const auto widen = [&](std::size_t apart) {
      for (std::size_t i = 0; i < n; ++i) words[i] = load_le<decltype(tag)>(first + i * apart);
    };
    // A constant step lets the compiler use vectors.
    step == sizeof tag ? widen(sizeof tag) : widen(step);
    return f(std::span<const W>(words.begin(), words.end()));
  });
}

Bytes encode_by_row(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  StreamWriter out(0, 1, plain.size());
  const std::size_t size = size_of(shape.value_type);
  with_words(shape.value_type, plain.data(), size, plain.size() / size, [&](auto words) {
    out.add(words, values_of(shape.value_type, shape.cols == 1), effort);
  });
  return out.take();
}

Bytes encode_by_column(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  StreamWriter out(1, shape.cols, plain.size());
  const std::size_t size = size_of(shape.value_type);
  for (std::size_t col = 0; col < shape.cols; ++col) {
    with_words(shape.value_type, plain.data() + col * size, shape.cols * size, shape.rows,
               [&](auto words) { out.add(words, values_of(shape.value_type, true), effort); });
  }
  return out.take();
}

/// Columns of a table are each of their own nature; pixels are not. A few rows show which it is.
bool by_column_is_smaller(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  constexpr std::uint32_t most_cols = 64, least_rows = 512, rows = 1024;
  if (shape.cols < 2 || shape.cols > most_cols || shape.rows < least_rows) return false;
  Shape some = shape;
  some.rows = std::min(shape.rows, rows);
  const std::size_t row = shape.cols * size_of(shape.value_type);
  const auto part = plain.subspan((shape.rows - some.rows) / 2 * row, some.rows * row);
  return encode_by_column(some, part, effort).size() < encode_by_row(some, part, effort).size();
}

void gaps_to_columns(const Words& ends, Words& gaps) {
  std::uint32_t k = 0;
  for (const std::uint32_t end : ends) {
    for (std::uint32_t next = 0; k < end; ++k) {
      gaps[k] += next;
      next = gaps[k] + 1;
    }
  }
}

Bytes encode_csr(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  const std::size_t size = size_of(shape.value_type), stride = 4 + size;
  Words ends(shape.rows), gaps(shape.stored);
  Array<std::byte> values(shape.stored * size);
  bool ascending = true, inside = true;
  std::size_t k = 0;
  const std::byte* at = plain.data();
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    const std::uint32_t count = load_le<std::uint32_t>(at);
    at += 4;
    if (count > shape.stored - k) return {};
    std::uint32_t next = 0;
    for (const std::size_t end = k + count; k < end; ++k, at += stride) {
      const auto col = load_le<std::uint32_t>(at);
      ascending &= col >= next;
      inside &= col < shape.cols;
      gaps[k] = col - next;
      next = col + 1;
    }
    visit_bits(shape.value_type, [&](auto tag) {
      for (std::size_t i = k - count; i < k; ++i) {
        std::memcpy(values.data() + i * sizeof tag, at - (k - i) * stride + 4, sizeof tag);
      }
    });
    ends[row] = static_cast<std::uint32_t>(k);
  }
  if (k != shape.stored || !inside) return {};
  if (!ascending) gaps_to_columns(ends, gaps);
  StreamWriter out(ascending ? 1 : 0, 3, plain.size());
  out.add<std::uint32_t>(span_of(ends), {4}, effort);
  out.add<std::uint32_t>(span_of(gaps), {4}, effort);
  with_words(shape.value_type, values.data(), size, gaps.size(),
             [&](auto words) { out.add(words, values_of(shape.value_type), effort); });
  return out.take();
}

Bytes encode_coo(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  const std::size_t places = shape.cols == 1 ? 4 : 8;
  const std::size_t stride = places + size_of(shape.value_type);
  Words rows(shape.stored), cols(places == 8 ? shape.stored : 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = load_le<std::uint32_t>(plain.data() + i * stride);
    if (rows[i] >= shape.rows) return {};
    if (cols.empty()) continue;
    cols[i] = load_le<std::uint32_t>(plain.data() + i * stride + 4);
    if (cols[i] >= shape.cols) return {};
  }
  StreamWriter out(0, places == 8 ? 3 : 2, plain.size());
  out.add<std::uint32_t>(span_of(rows), {4}, effort);
  if (places == 8) out.add<std::uint32_t>(span_of(cols), {4}, effort);
  with_words(shape.value_type, plain.data() + places, stride, rows.size(),
             [&](auto words) { out.add(words, values_of(shape.value_type), effort); });
  return out.take();
}

}  // namespace

Bytes encode(const Shape& shape, std::span<const std::byte> plain, Effort effort) {
  const auto bytes = plain_bytes(shape);
  if (!bytes || *bytes != plain.size() || plain.empty()) return {};
  Bytes out;
  if (shape.kind == BlockKind::csr) {
    out = encode_csr(shape, plain, effort);
  } else if (shape.kind == BlockKind::coo) {
    out = encode_coo(shape, plain, effort);
  } else if (by_column_is_smaller(shape, plain, effort)) {
    out = encode_by_column(shape, plain, effort);
  } else {
    out = encode_by_row(shape, plain, effort);
  }
  if (out.size() > plain.size() / 20 * 19) out.clear();
  return out;
}

}  // namespace dapple::detail::packed
