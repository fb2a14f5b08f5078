#include "page.h"

#include <libdeflate.h>

#include <memory>
#include <new>

#include "base64.h"
#include "page_parts.h"

namespace dapple::viewer {

namespace {

constexpr std::uint64_t kMostCellPieces = 20000, kMostBlocks = 20000, kMostLabels = 20000;
constexpr std::uint64_t kMostStored = 300000;  // values of which the cells are put into a page

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else {
      html += c;
    }
  }
  return html;
}

/// The template with what its marks stand for.
std::string filled(const std::string& name, std::string_view policy, std::string_view nonce,
                   std::string_view data) {
  const std::pair<std::string_view, std::string> marks[] = {
      {"@TITLE@", escaped(name)},      {"@POLICY@", std::string(policy)},
      {"@NONCE@", std::string(nonce)}, {"@STYLE@", std::string(kPageStyle)},
      {"@DATA@", std::string(data)},   {"@SCRIPT@", std::string(kPageScript)}};
  std::string page;
  std::string_view rest = kPageHtml;
  while (!rest.empty()) {
    const std::size_t at = rest.find('@');
    page += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at);
    bool found = false;
    for (const auto& [mark, text] : marks) {
      if (!rest.starts_with(mark)) continue;
      page += text;
      rest.remove_prefix(mark.size());
      found = true;
      break;
    }
    if (!found) {
      page += '@';
      rest.remove_prefix(1);
    }
  }
  return page;
}

}  // namespace

std::string deflated(std::string_view bytes) {
  constexpr int kLevel = 6;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

std::string live_page(const Resources& resources, const std::string& base,
                      const std::string& nonce) {
  return filled(resources.name(), "", " nonce=\"" + nonce + "\"", "{\"base\":\"" + base + "\"}");
}

std::string whole_page(Resources& resources, const TakeProgress& progress) {
  if (resources.zooms() > 0) resources.read_all(progress);
  const BlockedObject& object = resources.object();
  std::string data = "{\"zooms\":" + std::to_string(resources.zooms()) + ",\"pieces\":{";
  bool first = true;
  const auto put = [&](const Resource& resource) {
    const auto bytes = resources.find(resource);
    if (!bytes || *bytes == "{}" || *bytes == "[]") return;
    data += std::string(first ? "" : ",") + '"' + name_of(resource) + "\":\"" +
            picture::base64(deflated(*bytes)) + '"';
    first = false;
  };
  put({});
  const Pyramid& pyramid = resources.pyramid();
  const auto put_tiles = [&](Resource resource) {
    for (resource.y = 0; resource.y < pyramid.down(resource.zoom); ++resource.y) {
      for (resource.x = 0; resource.x < pyramid.across(resource.zoom); ++resource.x) put(resource);
    }
  };
  for (unsigned zoom = 0; zoom < resources.zooms(); ++zoom) {
    for (const picture::What what : picture::kWhats) {
      put_tiles({Resource::Kind::tile, what, zoom, 0, 0});
    }
  }
  if (object.counts().total <= kMostBlocks) {
    put_tiles({Resource::Kind::blocks, {}, resources.blocks_zoom(), 0, 0});
  }
  if (object.cols() <= kMostLabels) {
    for (std::uint64_t k = 0; k * Resources::kLabels < object.cols(); ++k) {
      put({Resource::Kind::labels, {}, 0, k, 0});
    }
  }
  const auto pieces = [](std::uint64_t cells) { return (cells + 63) / Resources::kCells; };
  const std::uint64_t down = pieces(object.rows()), across = pieces(object.cols());
  const bool whole =
      across > 0 && down <= kMostCellPieces / across && object.counts().stored <= kMostStored;
  if (whole) {
    for (std::uint64_t y = 0; y < down; ++y) {
      for (std::uint64_t x = 0; x < across; ++x) put({Resource::Kind::cells, {}, 0, x, y});
    }
  }
  data += std::string("},\"cells\":") + (whole ? "true" : "false") + "}";
  constexpr std::string_view kPolicy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; style-src 'unsafe-inline'\">";
  return filled(resources.name(), kPolicy, "", data);
}

}  // namespace dapple::viewer
