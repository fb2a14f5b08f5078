#include "zarr_server.h"

#include <algorithm>
#include <charconv>
#include <new>

#include "dapple/error.h"
#include "request.h"

namespace dapple::serve {

namespace {

using viewer::HttpAnswer;
using viewer::HttpRequest;

constexpr int kOk = 200, kPart = 206, kForbidden = 403, kNotFound = 404, kNotAllowed = 405,
              kOutside = 416, kFailed = 500;

HttpAnswer refusal(int status, std::string what) {
  return {status, "text/plain; charset=utf-8", {}, std::move(what) + '\n'};
}

/// Characters of a path that were escaped: names of nodes may hold any.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned code = 0;
    if (text.size() - i < 3) return std::nullopt;
    const char* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, code, 16).ptr != end) return std::nullopt;
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

}  // namespace

std::optional<ByteRange> parse_range(std::string_view header, std::uint64_t size) noexcept {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit) || header.find(',') != header.npos) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == header.npos) return std::nullopt;
  const auto number = [](std::string_view text) -> std::optional<std::uint64_t> {
    std::uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, n);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(n) : std::nullopt;
  };
  const auto first = number(header.substr(0, dash)), last = number(header.substr(dash + 1));
  const bool to_end = dash + 1 == header.size();
  if (dash == 0) {  // the last bytes
    if (!last) return std::nullopt;
    return ByteRange{size - std::min(*last, size), size};
  }
  if (!first || (!last && !to_end) || (last && *last < *first)) return std::nullopt;
  const std::uint64_t end = !last || *last >= size ? size : *last + 1;
  return ByteRange{std::min(*first, size), end};
}

ZarrServer::ZarrServer(ZarrTree tree, bool any_address)
    : tree_(std::move(tree)),
      any_address_(any_address),
      token_(viewer::random_token()),
      http_(viewer::make_http([this](const HttpRequest& request) { return answer(request); })) {}

std::string ZarrServer::listen(std::uint16_t port) {
  const int taken = http_->listen(port, any_address_);
  if (taken < 0) throw viewer::cannot_listen(port);
  return "http://" + std::string(any_address_ ? "0.0.0.0" : "127.0.0.1") + ':' +
         std::to_string(taken) + '/' + token_;
}

HttpAnswer ZarrServer::answer(const HttpRequest& request) const {
  HttpAnswer found = answer_to(request);
  // Pages of any origin may ask, if they know the token.
  found.headers.insert(found.headers.end(), {{"Access-Control-Allow-Origin", "*"},
                                             {"Access-Control-Allow-Methods", "GET, HEAD"},
                                             {"Access-Control-Allow-Headers", "Range"},
                                             {"Access-Control-Expose-Headers",
                                              "Content-Range, Content-Length, Accept-Ranges"},
                                             {"Accept-Ranges", "bytes"},
                                             {"Cache-Control", "no-store"},
                                             {"X-Content-Type-Options", "nosniff"}});
  return found;
}

HttpAnswer ZarrServer::answer_to(const HttpRequest& request) const {
  // Bodies are never empty: cpp-httplib does not end an answer without one.
  if (request.method == "OPTIONS") return refusal(kOk, "GET and HEAD are answered");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer refused = refusal(kNotAllowed, "only GET and HEAD are answered");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  // Another name for this machine would be a foreign page's way in.
  if (!any_address_ && !viewer::is_loopback(request.host)) {
    return refusal(kForbidden, "this server has no such name");
  }
  // Some clients put a query at the end, to sign or to get past caches.
  const std::string_view target = request.target.substr(0, request.target.find('?'));
  const auto rest = viewer::without_token(target, token_);
  if (rest == "" || viewer::without_token(std::string(target) + '/', token_) == "") {
    return refusal(kNotFound, "a Zarr hierarchy, for programs that read it: zarr.json tells of it");
  }
  const auto key = rest ? unescaped(*rest) : std::nullopt;
  if (!key) return refusal(kNotFound, "there is nothing of that name");
  try {
    auto value = tree_.find(*key);
    if (!value) return refusal(kNotFound, "there is nothing of that name");
    HttpAnswer found{kOk, "application/octet-stream", {}, std::move(*value)};
    if (key->ends_with("zarr.json")) found.type = "application/json";
    const std::uint64_t size = found.body.size();
    const auto part = parse_range(request.range, size);
    if (!part) return found;
    const bool empty = part->begin >= part->end;
    found.status = empty ? kOutside : kPart;
    found.headers.emplace_back(
        "Content-Range",
        "bytes " +
            (empty ? "*" : std::to_string(part->begin) + '-' + std::to_string(part->end - 1)) +
            '/' + std::to_string(size));
    found.body = empty ? "the value ends before that byte\n"
                       : found.body.substr(part->begin, part->end - part->begin);
    return found;
  } catch (const Error& error) {
    return refusal(kFailed, error.what());
  } catch (const std::bad_alloc&) {
    return refusal(kFailed, "out of memory");
  }
}

}  // namespace dapple::serve
