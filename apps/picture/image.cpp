#include "image.h"

#include <png.h>

#include <array>
#include <cstdint>
#include <map>
#include <new>

#include "font.h"

namespace dapple::picture {

void Image::fill(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Rgb colour) {
  for (std::size_t j = 0; j < height; ++j) {
    for (std::size_t i = 0; i < width; ++i) set(x + i, y + j, colour);
  }
}

void Image::blend(std::size_t x, std::size_t y, Rgb ink, unsigned fifteenths) {
  if (x >= width_ || y >= height_) return;
  Rgb& pixel = pixels_[y * width_ + x];
  const auto mix = [&](std::uint8_t paper, std::uint8_t over) {
    return static_cast<std::uint8_t>((paper * (15 - fifteenths) + over * fifteenths) / 15);
  };
  pixel = {mix(pixel.r, ink.r), mix(pixel.g, ink.g), mix(pixel.b, ink.b)};
}

namespace {

/// Calls `take(x, y, fifteenths)` for every pixel of a line of text.
template <class Take>
void for_each_text_pixel(std::string_view text, const Take& take) {
  std::size_t left = 0;
  for (const char c : text) {
    const Glyph& g = glyph(c);
    for (std::size_t i = 0; i < g.grey.size(); ++i) {
      const char digit = g.grey[i];
      const auto grey = static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
      if (grey > 0) take(left + i % g.width, g.top + i / g.width, grey);
    }
    left += g.width;
  }
}

}  // namespace

void Image::text(std::size_t x, std::size_t y, std::string_view line, Rgb ink) {
  for_each_text_pixel(
      line, [&](std::size_t i, std::size_t j, unsigned grey) { blend(x + i, y + j, ink, grey); });
}

void Image::text_up(std::size_t x, std::size_t y, std::string_view line, Rgb ink) {
  for_each_text_pixel(line, [&](std::size_t i, std::size_t j, unsigned grey) {
    if (i < y) blend(x + j, y - 1 - i, ink, grey);
  });
}

std::string Image::png() const {
  // Pictures of few colours, as most are, take half the bytes with a palette.
  constexpr std::size_t kMostColours = 256;
  std::vector<std::uint8_t> palette, numbers, bytes;
  std::map<std::array<std::uint8_t, 3>, std::uint8_t> number_of;
  for (const Rgb pixel : pixels_) {
    bytes.insert(bytes.end(), {pixel.r, pixel.g, pixel.b});
    if (number_of.size() > kMostColours) continue;
    const auto next = static_cast<std::uint8_t>(number_of.size());
    const auto [at, is_new] = number_of.try_emplace({pixel.r, pixel.g, pixel.b}, next);
    if (is_new) palette.insert(palette.end(), {pixel.r, pixel.g, pixel.b});
    numbers.push_back(at->second);
  }
  const bool few = number_of.size() <= kMostColours;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_);
  image.height = static_cast<png_uint_32>(height_);
  image.format = few ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_RGB;
  image.colormap_entries = few ? static_cast<png_uint_32>(number_of.size()) : 0;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = file.size();
  // It fails for want of memory only: the buffer is as large as the file can be.
  if (png_image_write_to_memory(&image, file.data(), &size, 0, few ? numbers.data() : bytes.data(),
                                0, palette.data()) == 0) {
    throw std::bad_alloc();
  }
  file.resize(size);
  return file;
}

}  // namespace dapple::picture
