#include "request.h"

#include <charconv>

namespace dapple::viewer {

namespace {

/// Takes a decimal number without sign or leading zeros off the front of `text`.
bool take_number(std::string_view& text, std::uint64_t& number) noexcept {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(result.ptr - text.data());
  if (result.ec != std::errc() || (text[0] == '0' && length > 1)) return false;
  text.remove_prefix(length);
  return true;
}

bool take(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_zoom(std::string_view& text, unsigned& zoom) noexcept {
  std::uint64_t number = 0;
  if (!take_number(text, number) || number > 64) return false;
  zoom = static_cast<unsigned>(number);
  return take(text, ".");
}

}  // namespace

std::optional<Resource> parse_resource(std::string_view name) noexcept {
  Resource found;
  if (name == "meta") return found;
  if (take(name, "tile/")) {
    found.kind = Resource::Kind::tile;
    const std::string_view wanted = name.substr(0, name.find('/'));
    bool known = false;
    for (const picture::What what : picture::kWhats) {
      if (picture::name(what) != wanted) continue;
      known = true;
      found.what = what;
    }
    name.remove_prefix(wanted.size());
    if (!known || !take(name, "/") || !take_zoom(name, found.zoom)) return std::nullopt;
  } else if (take(name, "tiles/")) {
    found.kind = Resource::Kind::tiles;
    if (!take_zoom(name, found.zoom)) return std::nullopt;
  } else if (take(name, "blocks/")) {
    found.kind = Resource::Kind::blocks;
    if (!take_zoom(name, found.zoom)) return std::nullopt;
  } else if (take(name, "cells/")) {
    found.kind = Resource::Kind::cells;
  } else if (take(name, "labels/")) {
    found.kind = Resource::Kind::labels;
    if (!take_number(name, found.x) || !name.empty()) return std::nullopt;
    return found;
  } else {
    return std::nullopt;
  }
  if (!take_number(name, found.x) || !take(name, ".") || !take_number(name, found.y) ||
      !name.empty()) {
    return std::nullopt;
  }
  return found;
}

std::string name_of(const Resource& r) {
  const std::string place = std::to_string(r.x) + '.' + std::to_string(r.y);
  switch (r.kind) {
    case Resource::Kind::meta:
      return "meta";
    case Resource::Kind::tile:
      return "tile/" + std::string(picture::name(r.what)) + '/' + std::to_string(r.zoom) + '.' +
             place;
    case Resource::Kind::tiles:
      return "tiles/" + std::to_string(r.zoom) + '.' + place;
    case Resource::Kind::cells:
      return "cells/" + place;
    case Resource::Kind::labels:
      return "labels/" + std::to_string(r.x);
    case Resource::Kind::blocks:
      break;
  }
  return "blocks/" + std::to_string(r.zoom) + '.' + place;
}

std::optional<Target> parse_target(std::string_view target, std::string_view token) noexcept {
  if (target.size() < token.size() + 2 || target[0] != '/') return std::nullopt;
  unsigned differs = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    differs |= static_cast<unsigned char>(target[i + 1]) ^ static_cast<unsigned char>(token[i]);
  }
  target.remove_prefix(token.size() + 1);
  if (differs != 0 || !take(target, "/")) return std::nullopt;
  Target found;
  if (target.empty()) return found;
  if (!take_number(target, found.version) || !take(target, "/")) return std::nullopt;
  found.resource = parse_resource(target);
  if (!found.resource) return std::nullopt;
  return found;
}

}  // namespace dapple::viewer
