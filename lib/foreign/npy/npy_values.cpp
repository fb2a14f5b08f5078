#include "lib/foreign/npy/npy_values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::npy {

namespace {

float half_at(const Field& field, const std::byte* p) noexcept {
  return half_to_float(field.swapped ? load_be<std::uint16_t>(p) : load_le<std::uint16_t>(p));
}

/// False when the bytes are no text.
bool read_text(const Field& field, const std::byte* p, std::string& text) {
  text.clear();
  if (field.form == Form::bytes) {
    std::uint64_t size = field.size;
    while (size > 0 && p[size - 1] == std::byte{0}) --size;
    text.assign(reinterpret_cast<const char*>(p), size);
    return is_utf8(text);
  }
  std::uint64_t count = field.size / 4;
  const auto character = [&](std::uint64_t i) {
    return field.swapped ? load_be<std::uint32_t>(p + i * 4) : load_le<std::uint32_t>(p + i * 4);
  };
  while (count > 0 && character(count - 1) == 0) --count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t c = character(i);
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return false;
    append_utf8(text, c);
  }
  return true;
}

}  // namespace

std::size_t copy_values(const Field& field, const std::byte* from, std::size_t from_step,
                        ValueType to, std::byte* target, std::size_t to_step, std::size_t n) {
  const std::size_t size = size_of(field.type);
  if (field.in_place()) return convert_cells(field.type, from, from_step, to, target, to_step, n);
  constexpr std::size_t piece = 512;
  std::array<std::byte, piece * 8> turned;
  for (std::size_t done = 0; done < n; done += piece) {
    const std::size_t part = std::min(piece, n - done);
    const std::byte* const first = from + done * from_step;
    visit_type(field.type, [&](auto tag) {
      using T = decltype(tag);
      for (std::size_t i = 0; i < part; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          if (field.form == Form::half) {
            store_le(turned.data() + i * sizeof(T), half_at(field, first + i * from_step));
            continue;
          }
        }
        store_le(turned.data() + i * sizeof(T), load_be<T>(first + i * from_step));
      }
    });
    const std::size_t fitting =
        convert_cells(field.type, turned.data(), size, to, target + done * to_step, to_step, part);
    if (fitting < part) return done + fitting;
  }
  return n;
}

void FieldWords::read_all(WordTable& words, std::vector<std::uint32_t>& codes) const {
  const Field& field = layout_.fields[0];
  watched(*file_, [&] {
    codes.reserve(rows_);
    std::string text;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      const std::uint64_t at = layout_.at(row, 0);
      if (!read_text(field, file_->at(at, field.size), text)) {
        throw Error(Errc::corrupt, file_->name(), at,
                    "the text in row " + std::to_string(row) + " of field \"" + field.label +
                        "\" is not " + (field.form == Form::bytes ? "UTF-8" : "Unicode"));
      }
      codes.push_back(words.add(text));
    }
  });
}

std::uint64_t width_of(const Column& column) {
  const Dictionary& words = *column.meaning.words;
  std::uint64_t width = 1;
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.ends_with('\0')) {
      throw Error(Errc::unsupported,
                  "column " + shown(column.label) + " has the word " + shown(word) +
                      ", and npy cannot tell a NUL at the end from no character",
                  "stored_numbers");
    }
    const auto characters = std::count_if(word.begin(), word.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    width = std::max(width, static_cast<std::uint64_t>(characters));
  }
  return width;
}

void put_characters(std::byte* to, std::string_view word, std::uint64_t width) noexcept {
  std::byte* const end = to + width * 4;
  while (!word.empty() && to < end) {
    const auto character = next_utf8(word);
    if (!character) break;
    store_le(to, static_cast<std::uint32_t>(character->value));
    to += 4;
    word.remove_prefix(character->size);
  }
  std::memset(to, 0, static_cast<std::size_t>(end - to));
}

std::string read_word(const ByteSource& file, Range within) {
  const Header header = parse_header(file, within, Words::alone);
  const Field& field = header.fields.front();
  if (header.records || !header.shape.empty() || !field.has_words()) {
    throw Error(Errc::corrupt, file.name(), header.data, "there is no word in the array");
  }
  std::string word;
  const std::uint64_t bytes = array_bytes(header, 1, file, within);
  if (!read_text(field, file.at(header.data, bytes), word)) {
    throw Error(Errc::corrupt, file.name(), header.data, "the word in the array is no text");
  }
  return word;
}

}  // namespace dapple::detail::npy
