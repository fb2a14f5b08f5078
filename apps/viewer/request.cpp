#include "request.h"

#include <algorithm>
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

constexpr std::string_view kDigits = "0123456789abcdef";

/// All of `name`, which has two digits for each byte of a text that is not empty.
bool take_hexadecimal(std::string_view name, std::string& text) {
  for (std::size_t i = 0; i + 1 < name.size(); i += 2) {
    const std::size_t high = kDigits.find(name[i]), low = kDigits.find(name[i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return false;
    text += static_cast<char>(high * 16 + low);
  }
  return !text.empty() && name.size() % 2 == 0;
}

std::string hexadecimal(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    digits += kDigits[static_cast<unsigned char>(c) / 16];
    digits += kDigits[static_cast<unsigned char>(c) % 16];
  }
  return digits;
}

}  // namespace

std::optional<Resource> parse_resource(std::string_view name) {
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
  } else if (take(name, "rows/")) {
    found.kind = Resource::Kind::rows;
    if (!take_hexadecimal(name, found.condition)) return std::nullopt;
    return found;
  } else if (name.starts_with("labels/") || name.starts_with("names/")) {
    found.kind = name[0] == 'l' ? Resource::Kind::labels : Resource::Kind::names;
    name.remove_prefix(name.find('/') + 1);
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
    case Resource::Kind::names:
      return "names/" + std::to_string(r.x);
    case Resource::Kind::rows:
      return "rows/" + hexadecimal(r.condition);
    case Resource::Kind::blocks:
      break;
  }
  return "blocks/" + std::to_string(r.zoom) + '.' + place;
}

std::string member_address(std::uint64_t k) { return "of/" + std::to_string(k) + '/'; }

std::optional<std::string_view> without_token(std::string_view target,
                                              std::string_view token) noexcept {
  if (target.size() < token.size() + 2 || target[0] != '/') return std::nullopt;
  unsigned differs = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    differs |= static_cast<unsigned char>(target[i + 1]) ^ static_cast<unsigned char>(token[i]);
  }
  target.remove_prefix(token.size() + 1);
  if (differs != 0 || !take(target, "/")) return std::nullopt;
  return target;
}

std::optional<Target> parse_target(std::string_view given, std::string_view token) {
  const auto rest = without_token(given, token);
  if (!rest) return std::nullopt;
  std::string_view target = *rest;
  Target found;
  if (take(target, "of/")) {
    std::uint64_t k = 0;
    if (!take_number(target, k) || !take(target, "/")) return std::nullopt;
    found.member = k;
  }
  if (target.empty()) return found;
  if (!take_number(target, found.version) || !take(target, "/")) return std::nullopt;
  found.resource = parse_resource(target);
  if (!found.resource) return std::nullopt;
  return found;
}

bool is_loopback(std::string_view host) noexcept {
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"}) {
    std::string_view rest = host;
    if (!take(rest, name)) continue;
    std::uint64_t port = 0;
    return rest.empty() || (take(rest, ":") && take_number(rest, port) && rest.empty());
  }
  return false;
}

bool accepts_deflate(std::string_view header) noexcept {
  constexpr std::string_view kBlanks = " \t";
  while (!header.empty()) {
    std::string_view item = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), item.size() + 1));
    item.remove_prefix(std::min(item.find_first_not_of(kBlanks), item.size()));
    const std::string_view coding = item.substr(0, item.find_first_of(" \t;"));
    if (coding != "deflate" && coding != "*") continue;
    // "deflate;q=0" and "deflate; q=0.000" refuse it.
    const std::size_t weight = item.find("q=");
    return weight == item.npos || item.find_first_of("123456789", weight) != item.npos;
  }
  return false;
}

}  // namespace dapple::viewer
