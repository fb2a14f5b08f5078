// An image in memory, and the PNG file that it becomes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "colour.h"

namespace dapple::picture {

class Image {
 public:
  Image(std::size_t width, std::size_t height, Rgb paper = kWhite)
      : width_(width), height_(height), pixels_(width * height, paper) {}

  std::size_t width() const noexcept { return width_; }
  std::size_t height() const noexcept { return height_; }
  /// What is outside is not drawn.
  void set(std::size_t x, std::size_t y, Rgb colour) {
    if (x < width_ && y < height_) pixels_[y * width_ + x] = colour;
  }
  Rgb at(std::size_t x, std::size_t y) const { return pixels_[y * width_ + x]; }
  void fill(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Rgb colour);
  /// One line of text whose upper left corner is (x, y).
  void text(std::size_t x, std::size_t y, std::string_view text, Rgb ink);
  /// The same read from below, upwards from y.
  void text_up(std::size_t x, std::size_t y, std::string_view text, Rgb ink);

  /// The bytes of a PNG file.
  std::string png() const;

 private:
  void blend(std::size_t x, std::size_t y, Rgb ink, unsigned fifteenths);

  std::size_t width_, height_;
  std::vector<Rgb> pixels_;
};

}  // namespace dapple::picture
