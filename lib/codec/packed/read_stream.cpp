#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "lib/base/vectors.h"
#include "lib/codec/packed/stream.h"

namespace dapple::detail::packed {

namespace {

/// Values that are decoded at a time, so that they stay in the nearest cache.
constexpr std::uint32_t kWords = 1024;

constexpr std::array<double, kMostExponent + 1> kPowers = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Division rounds right: the result is what a decimal number is read as.
template <bool kDivide, bool kMarked>
DAPPLE_VECTORS void scale(double power, Mark<std::uint64_t> mark, std::size_t n,
                          std::uint64_t* words) noexcept {
  constexpr std::uint64_t exponent_of_2_52 = std::uint64_t{0x433} << 52;
  for (std::size_t i = 0; i < n; ++i) {
    // An integer below 2^52 is the fraction of a float that is 2^52 more.
    const double biased = std::bit_cast<double>(words[i] + exponent_of_2_52);
    const double integer = biased - static_cast<double>((std::uint64_t{1} << 52) + kBias64);
    const auto bits = std::bit_cast<std::uint64_t>(kDivide ? integer / power : integer * power);
    words[i] = kMarked && words[i] == mark.integer ? mark.value : bits;
  }
}

template <bool kDivide, bool kMarked>
DAPPLE_VECTORS void scale(double power, Mark<std::uint32_t> mark, std::size_t n,
                          std::uint32_t* words) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const auto integer =
        static_cast<double>(static_cast<std::int32_t>(words[i] - std::uint32_t{kBias32}));
    const auto bits = std::bit_cast<std::uint32_t>(
        static_cast<float>(kDivide ? integer / power : integer * power));
    words[i] = kMarked && words[i] == mark.integer ? mark.value : bits;
  }
}

template <std::size_t kSize, Word W>
DAPPLE_VECTORS void narrow(const W* __restrict words, std::size_t n,
                           std::byte* __restrict out) noexcept {
  for (std::size_t i = 0; i < n; ++i) std::memcpy(out + i * kSize, words + i, kSize);
}

template <class T, Word W>
void widen(const std::byte* in, std::size_t n, W* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = load_le<T>(in + i * sizeof(T));
}

}  // namespace

template <Word W>
void decimals_to_floats(int exponent, const std::optional<Mark<W>>& mark, std::size_t n,
                        W* words) noexcept {
  const double power = kPowers[static_cast<std::size_t>(std::abs(exponent))];
  const Mark<W> given = mark.value_or(Mark<W>{});
  if (exponent < 0) {
    mark ? scale<true, true>(power, given, n, words) : scale<true, false>(power, given, n, words);
  } else {
    mark ? scale<false, true>(power, given, n, words) : scale<false, false>(power, given, n, words);
  }
}

template <Word W>
StreamReader<W>::StreamReader(const Source& source, std::span<const std::byte> part,
                              std::uint32_t n, unsigned size)
    : source_(source), size_(size) {
  ByteReader in = source.reader(part);
  const std::uint64_t start = in.offset();
  kind_ = static_cast<Kind>(in.le<std::uint8_t>("a packed stream"));
  switch (kind_) {
    case Kind::raw:
      raw_ = in.take(std::uint64_t{n} * size, "values");
      break;
    case Kind::constant:
      raw_ = in.take(size, "a constant");
      break;
    case Kind::dictionary:
      read_table(in, size);
      integers_ = IntegerReader<W>(source, in, n, 4);
      break;
    case Kind::decimal:
    case Kind::marked:
      read_exceptions(in, n);
      [[fallthrough]];
    case Kind::integers: {
      ByteReader again = in;
      integers_ = IntegerReader<W>(source, in, n, size);
      if (size == 1) bytes_ = IntegerReader<std::uint8_t>(source, again, n, size);
      break;
    }
    case Kind::split: {
      low_ = in.le<std::uint8_t>("the bits of the low part");
      if (low_ >= size * 8 || size * 8 - low_ > 16) {
        in.fail(start + 1, "values are split at an impossible bit");
      }
      read_table(in, 2);
      const auto codes = in.take(in.le<std::uint32_t>("the size of codes"), "codes");
      ByteReader part_of_codes = source.reader(codes);
      integers_ = IntegerReader<W>(source, part_of_codes, n, 4);
      lows_ = IntegerReader<W>(source, in, n, size);
      break;
    }
    default:
      in.fail(start, "a packed stream is of an unknown kind");
  }
  if (in.remaining() > 0) in.fail(in.offset(), surplus(in.remaining(), "a packed stream"));
}

template <Word W>
void StreamReader<W>::read_table(ByteReader& in, std::size_t size) {
  const std::uint64_t start = in.offset();
  const auto count = in.le<std::uint32_t>("the size of a dictionary");
  if (count == 0 || count > kMostWords) in.fail(start, "a dictionary has 1 to 65536 values");
  table_ = in.take(count * size, "a dictionary");
}

template <Word W>
void StreamReader<W>::read_exceptions(ByteReader& in, std::uint32_t n) {
  const std::uint64_t start = in.offset();
  exponent_ = in.le<std::int8_t>("an exponent");
  if (size_ < 4 || std::abs(exponent_) > kMostExponent) {
    in.fail(start, "decimal numbers have an impossible exponent");
  }
  if (kind_ == Kind::marked) {
    const auto integer = load_word(in.take(size_, "a mark").data(), size_);
    const auto value = load_word(in.take(size_, "a mark").data(), size_);
    mark_ = Mark<W>{static_cast<W>(integer), static_cast<W>(value)};
  }
  const std::uint64_t count_at = in.offset();
  const auto count = in.le<std::uint32_t>("the number of exceptions");
  at_ = in.take(std::uint64_t{count} * 4, "the places of exceptions");
  bool ascend = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = load_le<std::uint32_t>(at_.data() + i * 4);
    const auto next = i + 1 < count ? load_le<std::uint32_t>(at_.data() + i * 4 + 4) : n;
    ascend &= place < next;
  }
  if (!ascend) in.fail(count_at + 4, "the places of exceptions do not ascend");
  values_ = in.take(std::uint64_t{count} * size_, "exceptions");
}

template <Word W>
void StreamReader<W>::words(std::uint32_t begin, std::uint32_t end, W* out, Pieces& kept) const {
  if (begin >= end) return;  // `out` may be null
  const std::size_t n = end - begin;
  switch (kind_) {
    case Kind::raw: {
      const std::byte* const in = raw_.data() + std::size_t{begin} * size_;
      if constexpr (sizeof(W) == 8) {
        std::memcpy(out, in, n * 8);
      } else if (size_ == 4) {
        std::memcpy(out, in, n * 4);
      } else {
        size_ == 1 ? widen<std::uint8_t>(in, n, out) : widen<std::uint16_t>(in, n, out);
      }
      break;
    }
    case Kind::constant:
      std::fill_n(out, n, static_cast<W>(load_word(raw_.data(), size_)));
      break;
    case Kind::integers:
      integers_.read(begin, end, out, kept.integers);
      break;
    case Kind::dictionary:
      integers_.read(begin, end, out, kept.integers);
      look_up(size_, n, out);
      break;
    case Kind::decimal:
    case Kind::marked:
      integers_.read(begin, end, out, kept.integers);
      require_biased(n, out);
      decimals_to_floats(exponent_, mark_, n, out);
      patch(begin, end, out);
      break;
    case Kind::split:
      for (std::uint32_t at = begin; at < end;) {
        const std::uint32_t stop = std::min(end - at, kWords) + at;
        std::array<W, kWords> highs;
        integers_.read(at, stop, highs.data(), kept.integers);
        look_up(2, stop - at, highs.data());
        lows_.read(at, stop, out + (at - begin), kept.lows);
        for (std::uint32_t i = 0; i < stop - at; ++i) out[at - begin + i] |= highs[i] << low_;
        at = stop;
      }
      break;
  }
}

template <Word W>
void StreamReader<W>::require_biased(std::size_t n, const W* integers) const {
  constexpr auto bias = static_cast<W>(sizeof(W) == 4 ? kBias32 : kBias64);
  W all = 0;
  for (std::size_t i = 0; i < n; ++i) all |= integers[i];
  if (all / bias > 1) source_.fail(at_.data(), "an integer of decimal numbers is too large");
}

/// Codes to the values of the dictionary.
template <Word W>
void StreamReader<W>::look_up(std::size_t size, std::size_t n, W* codes) const {
  const std::size_t count = table_.size() / size;
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, static_cast<std::uint32_t>(codes[i]));
  if (most >= count) source_.fail(table_.data(), "a code is outside the dictionary");
  for (std::size_t i = 0; i < n; ++i) {
    const std::byte* const value =
        table_.data() + std::size_t{static_cast<std::uint32_t>(codes[i])} * size;
    if (size == 8) {
      codes[i] = static_cast<W>(load_le<std::uint64_t>(value));
    } else if (size == 4) {
      codes[i] = load_le<std::uint32_t>(value);
    } else {
      codes[i] = size == 2 ? load_le<std::uint16_t>(value) : load_le<std::uint8_t>(value);
    }
  }
}

/// The exceptions among values [begin, end).
template <Word W>
void StreamReader<W>::patch(std::uint32_t begin, std::uint32_t end, W* out) const {
  const std::size_t count = at_.size() / 4;
  const auto place = [&](std::size_t i) { return load_le<std::uint32_t>(at_.data() + i * 4); };
  std::size_t first = 0;
  for (std::size_t length = count; length > 0;) {
    const std::size_t half = length / 2;
    const bool before = place(first + half) < begin;
    first = before ? first + half + 1 : first;
    length = before ? length - half - 1 : half;
  }
  for (std::size_t i = first; i < count && place(i) < end; ++i) {
    out[place(i) - begin] = static_cast<W>(load_word(values_.data() + i * size_, size_));
  }
}

template <Word W>
void StreamReader<W>::read(std::uint32_t begin, std::uint32_t end, std::byte* out,
                           Pieces& kept) const {
  if (kind_ == Kind::raw && begin < end) {
    std::memcpy(out, raw_.data() + std::size_t{begin} * size_, std::size_t{end - begin} * size_);
    return;
  }
  if (kind_ == Kind::integers && size_ == 1 && bytes_.apart()) {
    return bytes_.read(begin, end, reinterpret_cast<std::uint8_t*>(out), kept.integers);
  }
  for (std::uint32_t at = begin; at < end;) {
    // Runs end where pieces do.
    const std::uint32_t n = std::min(end - at, kWords - at % kWords);
    std::array<W, kWords> run;
    words(at, at + n, run.data(), kept);
    std::byte* const target = out + std::size_t{at - begin} * size_;
    if (size_ == sizeof(W)) {
      std::memcpy(target, run.data(), std::size_t{n} * size_);
    } else if constexpr (sizeof(W) == 4) {
      size_ == 1 ? narrow<1>(run.data(), n, target) : narrow<2>(run.data(), n, target);
    }
    at += n;
  }
}

template class StreamReader<std::uint32_t>;
template class StreamReader<std::uint64_t>;
template void decimals_to_floats(int, const std::optional<Mark<std::uint32_t>>&, std::size_t,
                                 std::uint32_t*) noexcept;
template void decimals_to_floats(int, const std::optional<Mark<std::uint64_t>>&, std::size_t,
                                 std::uint64_t*) noexcept;

}  // namespace dapple::detail::packed
