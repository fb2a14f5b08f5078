// What a browser may ask for: names of resources, which a page's own script and nobody else makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raster.h"

namespace dapple::viewer {

/// A resource. The same names are used by a server and inside of a page that needs none.
struct Resource {
  enum class Kind : std::uint8_t {
    meta,    // "meta": what the file holds
    tile,    // "tile/WHAT/z.x.y": a picture of up to 256 x 256 pixels
    tiles,   // "tiles/z.x.y": those of kFigures, one after the other
    cells,   // "cells/x.y": the values of 64 x 64 cells
    labels,  // "labels/k": of 256 columns the label or name, what zeros stand for, and the type
    names,   // "names/k": of 256 rows the names
    rows,    // "rows/HEX": rows of a frame that meet a condition, whose text is in hexadecimal
    blocks,  // "blocks/z.x.y": the blocks in a tile
  };
  Kind kind = Kind::meta;
  picture::What what = picture::What::density;
  unsigned zoom = 0;
  std::uint64_t x = 0, y = 0;  // across and down; k
  std::string condition{};
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// The resource of that name; nothing when it is not written exactly so.
std::optional<Resource> parse_resource(std::string_view name);
std::string name_of(const Resource& resource);

/// A request's target, which is "/TOKEN/", the page, or "/TOKEN/VERSION/RESOURCE"; of member K of a
/// collection "/TOKEN/of/K/" and "/TOKEN/of/K/VERSION/RESOURCE".
struct Target {
  std::optional<std::uint64_t> member;
  std::uint64_t version = 0;
  std::optional<Resource> resource;  // none: the page
};

/// The address of a member's page, relative to that of the collection's.
std::string member_address(std::uint64_t k);

/// What follows "/TOKEN/" in a target; nothing where another token is. The time it takes tells
/// nothing about the token.
std::optional<std::string_view> without_token(std::string_view target,
                                              std::string_view token) noexcept;

/// Nothing unless it starts with `token` and names something. The time it takes tells nothing about
/// the token.
std::optional<Target> parse_target(std::string_view target, std::string_view token);

/// True for a Host header that names this machine to itself: 127.0.0.1, [::1] or localhost, with
/// any port or none.
bool is_loopback(std::string_view host) noexcept;

/// True for an Accept-Encoding header that allows deflate. One that is not there allows nothing:
/// programs that send none seldom decode.
bool accepts_deflate(std::string_view header) noexcept;

}  // namespace dapple::viewer
