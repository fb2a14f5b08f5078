// ML.NET files put together by hand, whether they make sense or not: every version, codec and
// compression. It shares nothing with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support.h"

namespace dapple::test::idv {

using Bytes = std::vector<std::byte>;

Bytes operator+(Bytes a, const Bytes& b);
template <class T>
Bytes num(T value) {
  return Image().number(value).bytes();
}
Bytes raw(std::string_view characters);
Bytes leb(std::uint64_t value);
Bytes str(std::string_view text);  // length, then the characters as they are

/// Definitions of codecs.
Bytes codec(std::string_view load_name, const Bytes& parameters = {});
Bytes vector_codec(const Bytes& items, const std::vector<std::int32_t>& dims);
Bytes key2_codec(std::string_view items, std::uint64_t count);
Bytes old_key_codec(std::string_view items, std::int32_t count);

/// Blocks of values that follow each other.
template <class T>
Bytes packed(const std::vector<T>& values) {
  Image image;
  for (const T v : values) image.number(v);
  return image.bytes();
}
Bytes bits(const std::vector<int>& values);   // Boolean
Bytes bits2(const std::vector<int>& values);  // DvBool
Bytes zoned(const std::vector<std::pair<std::int64_t, std::int16_t>>& ticks_and_minutes);
/// UTF-16 end positions are given, so that they can be wrong.
Bytes texts(const std::vector<std::uint32_t>& ends, std::string_view all);

/// One vector of a block: its stored slots, none for a dense one.
struct Vector {
  std::int32_t length = 0;
  std::optional<std::vector<std::int32_t>> slots{};
};
/// A block of vectors; `common` is the length in front, 0 puts the lengths after it.
Bytes vectors(const std::vector<Vector>& rows, std::int32_t common, const Bytes& items);

/// Stored blocks of DEFLATE, with or without the zlib wrapper; 0 as they are.
Bytes compress(int compression, const Bytes& bytes);

struct Metadata {
  std::string kind;
  Bytes codec;
  Bytes value;
  int compression = 0;
};

struct FileColumn {
  std::string name;
  Bytes codec;
  std::vector<Bytes> blocks;  // not compressed
  std::uint64_t block_rows = 1;
  int compression = 0;
  std::vector<Metadata> metadata{};                           // from version 1.1.1.4 on
  std::vector<std::pair<std::int32_t, std::string>> slots{};  // version 1.1.1.3
};

/// A whole file, and where its parts are.
struct File {
  Bytes bytes;
  std::uint64_t toc = 0, tail = 0;
  std::vector<std::uint64_t> lookup;               // of each column
  std::vector<std::vector<std::uint64_t>> blocks;  // of each column

  template <class T>
  File& patch(std::uint64_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
};

/// Version 1.1.1.N.
File build(int version, std::uint64_t rows, const std::vector<FileColumn>& columns);

}  // namespace dapple::test::idv
