#include "tests/packed_reader.h"

#include <zstd.h>

#include <bit>
#include <cmath>
#include <stdexcept>

namespace dapple::test {

namespace {

using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::uint64_t>;

void require(bool kept, const char* rule) {
  if (!kept) throw std::runtime_error(rule);
}

/// Takes bytes and bits from the front.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const auto part = take(size);
    for (std::size_t i = 0; i < size; ++i)
      value |= std::to_integer<std::uint64_t>(part[i]) << 8 * i;
    return value;
  }
  std::span<const std::byte> take(std::size_t n) {
    require(n <= bytes_.size(), "too short");
    const auto part = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return part;
  }
  Numbers bits(std::size_t n, std::uint64_t width) {
    const auto part = take((n * width + 7) / 8);
    Numbers numbers(n);
    for (std::size_t bit = 0; bit < n * width; ++bit) {
      const auto byte = std::to_integer<std::uint64_t>(part[bit / 8]);
      numbers[bit / width] |= (byte >> bit % 8 & 1) << bit % width;
    }
    return numbers;
  }
  /// The parts whose ends a table in front tells.
  std::vector<std::span<const std::byte>> parts(std::size_t n) {
    Numbers ends(1);
    for (std::size_t i = 0; i < n; ++i) ends.push_back(number(4));
    std::vector<std::span<const std::byte>> found;
    for (std::size_t i = 0; i < n; ++i) {
      require(ends[i] <= ends[i + 1], "ends descend");
      found.push_back(take(ends[i + 1] - ends[i]));
    }
    return found;
  }
  void finish() const { require(bytes_.empty(), "too long"); }

 private:
  std::span<const std::byte> bytes_;
};

Bytes decompress(std::span<const std::byte> frame) {
  Bytes content(1 << 20);
  const std::size_t size =
      ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  require(ZSTD_isError(size) == 0, "not zstd");
  content.resize(size);
  return content;
}

struct Head {
  std::uint64_t width, exceptions, rest, base;
};

/// What integers of a group are relative to.
struct How {
  std::uint64_t mode, lag, reference;
};

void read_group(Input& in, const Head& head, std::size_t n, const How& how, Numbers& out) {
  const std::size_t first = out.size();
  Numbers packed = in.bits(n, head.width);
  Numbers places;
  for (std::uint64_t i = 0; i < head.exceptions; ++i) places.push_back(in.number(1));
  const Numbers rests = in.bits(head.exceptions, head.rest);
  for (std::size_t i = 0; i < rests.size(); ++i) packed.at(places[i]) += rests[i] << head.width;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t p = packed[i];
    if (how.mode == 0) {
      out.push_back(how.reference + head.base + p);
    } else if (i == 0) {
      out.push_back(head.base);
    } else if (how.mode == 1) {
      out.push_back(out.back() + how.reference + p);
    } else {
      const std::uint64_t before = out[i < how.lag ? first : first + i - how.lag];
      out.push_back(p % 2 == 0 ? before + p / 2 : before - p / 2 - 1);
    }
  }
}

void read_piece(Input in, std::size_t n, std::size_t size, std::uint64_t base_bytes, const How& how,
                Numbers& out) {
  std::vector<Head> heads;
  for (std::size_t at = 0; at < n; at += 128) {
    Head head{in.number(1), in.number(1), in.number(1), in.number(base_bytes)};
    require(head.width <= 8 * size && head.rest <= 8 * size - head.width, "too wide");
    require((head.exceptions == 0) == (head.rest == 0), "no exceptions have no bits");
    heads.push_back(head);
  }
  for (std::size_t g = 0; g < heads.size(); ++g) {
    read_group(in, heads[g], std::min<std::size_t>(128, n - g * 128), how, out);
  }
  in.finish();
}

Numbers read_integers(Input in, std::size_t n, std::size_t size) {
  const std::uint64_t flags = in.number(1), base_bytes = in.number(1), reference = in.number(size);
  const How how{flags & 3, (flags >> 3) + 1, reference};
  const bool compressed = (flags & 4) != 0;
  require(how.mode < 3 && how.lag <= (how.mode == 2 ? 4U : 1U) && base_bytes <= size, "flags");
  const std::size_t most = compressed ? 4096 : 1024;
  Numbers out;
  for (const auto part : in.parts((n + most - 1) / most)) {
    const Bytes content = compressed ? decompress(part) : Bytes(part.begin(), part.end());
    read_piece(Input(content), std::min(most, n - out.size()), size, base_bytes, how, out);
  }
  in.finish();
  for (std::uint64_t& number : out) number &= ~std::uint64_t{0} >> (64 - 8 * size);
  return out;
}

std::uint64_t decimal(std::uint64_t d, int exponent, std::size_t size) {
  const auto bias = static_cast<std::int64_t>(1) << (size == 4 ? 30 : 51);
  const auto whole = static_cast<double>(static_cast<std::int64_t>(d) - bias);
  const double power = std::pow(10.0, std::abs(exponent));
  const double value = exponent < 0 ? whole / power : whole * power;
  return size == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                   : std::bit_cast<std::uint64_t>(value);
}

Numbers read_table(Input& in, std::size_t size) {
  Numbers table(in.number(4));
  require(!table.empty() && table.size() <= 65536, "size of a dictionary");
  for (std::uint64_t& value : table) value = in.number(size);
  return table;
}

Numbers read_decimals(Input& in, std::size_t n, std::size_t size, bool marked) {
  const int exponent = static_cast<std::int8_t>(in.number(1));
  const std::uint64_t mark = marked ? in.number(size) : 0,
                      mark_value = marked ? in.number(size) : 0;
  Numbers places(in.number(4)), values(places.size());
  for (std::uint64_t& place : places) place = in.number(4);
  for (std::uint64_t& value : values) value = in.number(size);
  Numbers out = read_integers(in, n, size);
  for (std::uint64_t& value : out) {
    value = marked && value == mark ? mark_value : decimal(value, exponent, size);
  }
  for (std::size_t i = 0; i < places.size(); ++i) out.at(places[i]) = values[i];
  return out;
}

Numbers read_stream(Input in, std::size_t n, std::size_t size) {
  const std::uint64_t encoding = in.number(1);
  Numbers out;
  if (encoding == 0) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(in.number(size));
    in.finish();
  } else if (encoding == 1) {
    out.assign(n, in.number(size));
    in.finish();
  } else if (encoding == 2) {
    out = read_integers(in, n, size);
  } else if (encoding == 3) {
    const Numbers table = read_table(in, size);
    out = read_integers(in, n, 4);
    for (std::uint64_t& value : out) value = table.at(value);
  } else if (encoding == 4 || encoding == 6) {
    out = read_decimals(in, n, size, encoding == 6);
  } else {
    require(encoding == 5, "encoding");
    const std::uint64_t low = in.number(1);
    const Numbers table = read_table(in, 2);
    const Numbers codes = read_integers(Input(in.take(in.number(4))), n, 4);
    out = read_integers(in, n, size);
    for (std::size_t i = 0; i < n; ++i) out[i] |= table.at(codes[i]) << low;
  }
  return out;
}

void put(Bytes& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}

Bytes dense(const std::vector<Numbers>& streams, std::size_t rows, std::size_t size) {
  Bytes out;
  if (streams.size() == 1) {
    for (const std::uint64_t value : streams[0]) put(out, value, size);
    return out;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Numbers& column : streams) put(out, column[row], size);
  }
  return out;
}

}  // namespace

std::vector<std::byte> read_packed(BlockKind kind, ValueType type, std::uint64_t rows,
                                   std::uint64_t cols, std::uint64_t stored,
                                   std::span<const std::byte> packed) {
  Input in(packed);
  require(in.number(1) == 1, "version");
  const bool gaps_or_columns = in.number(1) == 1;
  require(in.number(2) == 0, "reserved");
  const std::size_t size = size_of(type);
  if (kind == BlockKind::dense) {
    std::vector<Numbers> streams;
    const std::size_t n = gaps_or_columns ? rows : stored;
    for (const auto part : in.parts(gaps_or_columns ? cols : 1)) {
      streams.push_back(read_stream(Input(part), n, size));
    }
    in.finish();
    return dense(streams, rows, size);
  }
  const bool with_cols = kind == BlockKind::csr || cols != 1;
  const auto parts = in.parts(with_cols ? 3 : 2);
  in.finish();
  const Numbers places = read_stream(Input(parts[0]), kind == BlockKind::csr ? rows : stored, 4);
  const Numbers columns = with_cols ? read_stream(Input(parts[1]), stored, 4) : Numbers{};
  const Numbers values = read_stream(Input(parts.back()), stored, size);
  Bytes out;
  if (kind == BlockKind::coo) {
    for (std::size_t i = 0; i < stored; ++i) {
      put(out, places[i], 4);
      if (with_cols) put(out, columns[i], 4);
      put(out, values[i], size);
    }
    return out;
  }
  std::size_t k = 0;
  for (const std::uint64_t end : places) {
    put(out, end - k, 4);
    for (std::uint64_t next = 0; k < end; ++k) {
      const std::uint64_t col = gaps_or_columns ? next + columns.at(k) : columns.at(k);
      put(out, col, 4);
      put(out, values.at(k), size);
      next = col + 1;
    }
  }
  return out;
}

}  // namespace dapple::test
