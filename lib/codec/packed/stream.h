// A stream: values of one type, one after the other, in the encoding that makes them smallest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/codec/packed/read_integers.h"
#include "lib/codec/packed/write_integers.h"

namespace dapple::detail::packed {

/// What is known of the values.
struct Values {
  unsigned size;  // bytes of a value: 1, 2, 4 or 8
  bool is_signed = false, is_float = false;
  bool is_column = false;  // of a table, whose words come in no order
};

enum class Effort : std::uint8_t {
  fast,   // bit packing
  small,  // zstd where that is smaller
};

/// Appends a stream that `StreamReader` reads. `words` hold the bits of the values.
template <Word W>
void write_stream(std::span<const W> words, const Values& values, Effort effort, Bytes& out);

/// An integer in place of a float that is no decimal number, such as the NaN of missing values.
template <Word W>
struct Mark {
  W integer, value;
};

/// What was decompressed of a stream last, for one thread.
struct Pieces {
  Piece integers, lows;
};

/// Reads any part of a stream. Borrows its bytes. Any thread.
template <Word W>
class StreamReader {
 public:
  StreamReader() = default;
  /// `n` values of `size` bytes that fill `part` of the source. Throws corrupt.
  StreamReader(const Source& source, std::span<const std::byte> part, std::uint32_t n,
               unsigned size);

  /// Values [begin, end), in the low bytes of words, of which the others are unspecified. REQUIRES
  /// end <= n. Throws corrupt.
  void words(std::uint32_t begin, std::uint32_t end, W* out, Pieces& kept) const;
  /// The same as `size` bytes each.
  void read(std::uint32_t begin, std::uint32_t end, std::byte* out, Pieces& kept) const;
  /// Most of the bytes that reading values [begin, end) will look at.
  std::span<const std::byte> bytes_of(std::uint32_t begin, std::uint32_t end) const noexcept {
    if (kind_ == Kind::raw) return raw_.subspan(std::size_t{begin} * size_, (end - begin) * size_);
    return (kind_ == Kind::split ? lows_ : integers_).bytes_of(begin, end);
  }

 private:
  void read_exceptions(ByteReader& in, std::uint32_t n);
  void read_table(ByteReader& in, std::size_t size);
  void require_biased(std::size_t n, const W* integers) const;
  void look_up(std::size_t size, std::size_t n, W* codes) const;
  void patch(std::uint32_t begin, std::uint32_t end, W* out) const;

  Source source_{};
  unsigned size_ = 0;
  Kind kind_ = Kind::raw;
  std::span<const std::byte> raw_;          // of raw; one value of constant
  std::span<const std::byte> table_;        // of dictionary and split
  std::span<const std::byte> at_, values_;  // of the exceptions of decimal
  int exponent_ = 0;                        // of decimal
  std::optional<Mark<W>> mark_;             // of marked
  unsigned low_ = 0;                        // bits of the low part of split
  IntegerReader<W> integers_, lows_;
  IntegerReader<std::uint8_t> bytes_;  // the same integers, of one byte
};

/// words[i], an integer with a bias, as the bits of that number times ten to the power of
/// `exponent`: of f32 in words of 32 bits, else of f64. The mark, if there is one, becomes its
/// value.
template <Word W>
void decimals_to_floats(int exponent, const std::optional<Mark<W>>& mark, std::size_t n,
                        W* words) noexcept;

}  // namespace dapple::detail::packed
