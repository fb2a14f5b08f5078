#include "page.h"

#include <libdeflate.h>

#include <memory>
#include <new>
#include <span>
#include <utility>
#include <variant>

#include "base64.h"
#include "cell_pieces.h"
#include "page_parts.h"

namespace dapple::viewer {

namespace {

constexpr std::uint64_t kMostBlocks = 20000, kMostLabels = 20000;
// Of the cells in a page: as JSON, which a browser has in memory only piece by piece, and as the
// file has them.
constexpr std::size_t kMostJson = std::size_t{48} << 20, kMostBytes = std::size_t{16} << 20;

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

using Mark = std::pair<std::string_view, std::string>;

/// A template with what its marks stand for.
std::string filled(std::string_view rest, std::span<const Mark> marks) {
  std::string page;
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

std::string page_of(const Resources& resources, std::string_view policy, std::string_view nonce,
                    std::string_view data, const std::string& home) {
  const bool frame = std::holds_alternative<Frame>(resources.variant());
  const auto of_frames = [&](std::string_view part) { return std::string(frame ? part : ""); };
  // The first page of most files has no link, and is weighed by the byte.
  const std::string link_style = home.empty() ? "" : "h1 a { color: var(--accent); }\n";
  const Mark marks[] = {{"@TITLE@", escaped(resources.name())},
                        {"@HOME@", home},
                        {"@POLICY@", std::string(policy)},
                        {"@SHEET@", of_frames(kTableHtml)},
                        {"@TABLESTYLE@", of_frames(kTableStyle)},
                        {"@TABLESCRIPT@", of_frames(kTableScript)},
                        {"@SUMSCRIPT@", std::string(policy.empty() ? "" : kSumScript)},
                        {"@NONCE@", std::string(nonce)},
                        {"@STYLE@", std::string(kPageStyle) + link_style},
                        {"@DATA@", std::string(data)},
                        {"@SCRIPT@", std::string(kPageScript)}};
  return filled(kPageHtml, marks);
}

std::string attribute(const std::string& nonce) { return " nonce=\"" + nonce + '"'; }

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  const auto tenths = static_cast<std::uint64_t>(size * 10 + 0.5);
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + ' ' +
         std::string(kUnits[unit]);
}

std::string contents_row(const ContentsLine& line) {
  const std::string name = escaped(line.name);
  std::string row = "<tr><th scope=\"row\">";
  row += line.resources == nullptr ? name : "<a href=\"" + line.address + "\">" + name + "</a>";
  row += "</th>";
  if (line.resources == nullptr) {
    return row + "<td colspan=\"5\">" + (line.fault.empty() ? "JSON" : escaped(line.fault)) +
           "</td></tr>\n";
  }
  const BlockedObject& object = line.resources->object();
  const auto* const matrix = std::get_if<Matrix>(&line.resources->variant());
  const std::string cells[] = {
      matrix != nullptr ? "matrix" : "frame", std::to_string(object.rows()),
      std::to_string(object.cols()),
      matrix != nullptr ? std::string(dapple::name(matrix->value_type())) : "",
      size_text(object.bytes())};
  for (const std::string& cell : cells) row += "<td>" + cell + "</td>";
  return row + "</tr>\n";
}

}  // namespace

std::string deflated(std::string_view bytes, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

std::string live_page(const Resources& resources, const std::string& base, const std::string& nonce,
                      const std::string& collection) {
  const std::string home =
      collection.empty() ? "" : "<a href=\"../../\">" + escaped(collection) + "</a> / ";
  return page_of(resources, "", attribute(nonce), "{\"base\":\"" + base + "\"}", home);
}

std::string contents_page(const std::string& title, const std::vector<ContentsLine>& lines,
                          const std::string& nonce) {
  std::string rows;
  for (const ContentsLine& line : lines) rows += contents_row(line);
  const Mark marks[] = {{"@TITLE@", escaped(title)},
                        {"@NONCE@", attribute(nonce)},
                        {"@STYLE@", std::string(kPageStyle)},
                        {"@COUNT@", std::to_string(lines.size())},
                        {"@MEMBERS@", rows}};
  return filled(kContentsHtml, marks);
}

WholePage whole_page(const Resources& resources) {
  const BlockedObject& object = resources.object();
  std::string data = "{\"zooms\":" + std::to_string(resources.zooms()) + ",\"pieces\":{";
  const auto put = [&](const Resource& resource, std::string_view bytes) {
    if (data.back() != '{') data += ',';
    data += '"' + name_of(resource) + "\":\"" + picture::base64(deflated(bytes, 6)) + '"';
  };
  const auto find_and_put = [&](const Resource& resource) {
    const auto bytes = resources.find(resource);
    if (bytes && *bytes != "[]") put(resource, *bytes);
  };
  find_and_put({});
  for (unsigned zoom = 0; zoom < resources.zooms(); ++zoom) {
    resources.for_each_tile({Resource::Kind::tiles, {}, zoom, 0, 0}, find_and_put);
    resources.for_each_tile({Resource::Kind::tile, picture::What::kind, zoom, 0, 0}, find_and_put);
  }
  if (object.counts().total <= kMostBlocks) {
    resources.for_each_tile({Resource::Kind::blocks, {}, resources.blocks_zoom(), 0, 0},
                            find_and_put);
  }
  if (object.cols() <= kMostLabels) {
    for (std::uint64_t k = 0; k * Resources::kLabels < object.cols(); ++k) {
      find_and_put({Resource::Kind::labels, {}, 0, k, 0});
    }
  }
  if (object.row_names() != nullptr && object.rows() <= kMostLabels) {
    for (std::uint64_t k = 0; k * Resources::kLabels < object.rows(); ++k) {
      find_and_put({Resource::Kind::names, {}, 0, k, 0});
    }
  }
  std::string sides = "null";
  if (const auto cells = cell_pieces(resources.variant(), resources.blocks_in(), kMostJson)) {
    const std::size_t before = data.size();
    for (const auto& piece : cells->pieces) {
      put({Resource::Kind::cells, {}, 0, piece.x, piece.y}, piece.json);
      if (data.size() - before > kMostBytes) break;
    }
    if (data.size() - before > kMostBytes) {
      data.resize(before);  // all or nothing: a page says whether it has them
    } else {
      sides = '[' + std::to_string(cells->high) + ',' + std::to_string(cells->wide) + ']';
    }
  }
  data += "},\"cells\":" + sides + "}";
  constexpr std::string_view kPolicy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; style-src 'unsafe-inline'\">";
  return {page_of(resources, kPolicy, "", data, ""),
          sides != "null" || object.rows() == 0 || object.cols() == 0};
}

}  // namespace dapple::viewer
