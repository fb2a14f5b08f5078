#include "server.h"

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "dapple/error.h"
#include "http.h"
#include "page.h"

namespace dapple::viewer {

namespace {

constexpr int kOk = 200, kForbidden = 403, kNotFound = 404, kNotAllowed = 405, kGone = 410,
              kFailed = 500;

}  // namespace

class Server::Impl {
  /// Tells one file from another that was put in its place, and from itself after a change.
  struct Identity {
    explicit Identity(const std::string& path) {
      struct stat status {};
      if (path.empty() || ::stat(path.c_str(), &status) != 0) return;
      device = status.st_dev;
      inode = status.st_ino;
      size = status.st_size;
      seconds = status.st_mtim.tv_sec;
      nanoseconds = status.st_mtim.tv_nsec;
    }
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    time_t seconds = 0;
    long nanoseconds = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

 public:
  Impl(Open open, std::string path)
      : open_(std::move(open)),
        path_(std::move(path)),
        http_(make_http([this](const HttpRequest& request) { return answer(request); })),
        identity_(path_),
        current_(open_()) {}

  std::string listen(std::uint16_t port) {
    const int taken = http_->listen(port, false);
    if (taken < 0) throw cannot_listen(port);
    return "http://127.0.0.1:" + std::to_string(taken) + '/' + token_ + '/';
  }
  void run() { http_->run(); }

 private:
  HttpAnswer answer(const HttpRequest& request) {
    HttpAnswer found = answer_to(request);
    found.headers.insert(found.headers.end(), {{"Accept-Ranges", "none"},
                                               {"Cache-Control", "no-store"},
                                               {"X-Content-Type-Options", "nosniff"},
                                               {"Referrer-Policy", "no-referrer"},
                                               {"Cross-Origin-Resource-Policy", "same-origin"}});
    return found;
  }

  HttpAnswer answer_to(const HttpRequest& request) {
    if (request.method != "GET" && request.method != "HEAD") {
      HttpAnswer refusal = failure(kNotAllowed, "only GET and HEAD are answered");
      refusal.headers.emplace_back("Allow", "GET, HEAD");
      return refusal;
    }
    // Another name for this machine would be a foreign page's way in. Not so another port: that is
    // where somebody's tunnel begins, and the token lets in.
    if (!is_loopback(request.host)) return failure(kForbidden, "this server has no such name");
    const auto target = parse_target(request.target, token_);
    if (!target) return failure(kNotFound, "there is nothing of that name");
    try {
      HttpAnswer found = target->resource ? resource(*target) : page();
      if (accepts_deflate(request.accept_encoding)) pack(found);
      return found;
    } catch (const Error& error) {
      return failure(kFailed, error.what());
    } catch (const std::bad_alloc&) {
      return failure(kFailed, "out of memory");
    }
  }

  static HttpAnswer failure(int status, const std::string& message) {
    const nlohmann::json body = {{"error", message}};
    return {status,
            "application/json",
            {},
            body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  }
  static void pack(HttpAnswer& answer) {
    // The page comes once, and first; pictures come by the dozen.
    const int level = std::string_view(answer.type).starts_with("text/html") ? 12 : 6;
    answer.body = deflated(answer.body, level);
    answer.headers.emplace_back("Content-Encoding", "deflate");
  }

  HttpAnswer page() {
    std::shared_ptr<Resources> resources;
    std::uint64_t version = 0;
    {
      const std::lock_guard lock(mutex_);
      if (const Identity now(path_); now != identity_) {
        current_ = open_();
        identity_ = now;
        ++version_;
      }
      resources = current_;
      version = version_;
    }
    const std::string nonce = random_token();
    HttpAnswer answer{kOk,
                      "text/html; charset=utf-8",
                      {},
                      live_page(*resources, std::to_string(version) + '/', nonce)};
    answer.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; connect-src 'self'; script-src 'nonce-" + nonce +
            "'; style-src 'nonce-" + nonce +
            "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    return answer;
  }

  HttpAnswer resource(const Target& target) {
    std::shared_ptr<Resources> resources;
    {
      const std::lock_guard lock(mutex_);
      if (target.version != version_) {
        return failure(kGone, "the file was replaced; load the page again");
      }
      resources = current_;
    }
    auto bytes = resources->find(*target.resource);
    if (!bytes) return failure(kNotFound, "the file has no such part");
    const bool tile = target.resource->kind == Resource::Kind::tile;
    return {kOk, tile ? "application/octet-stream" : "application/json", {}, *std::move(bytes)};
  }

  const Open open_;
  const std::string path_;
  const std::string token_ = random_token();
  const std::unique_ptr<Http> http_;

  std::mutex mutex_;  // guards what follows
  Identity identity_;
  std::shared_ptr<Resources> current_;
  std::uint64_t version_ = 0;
};

Server::Server(Open open, std::string path)
    : impl_(std::make_unique<Impl>(std::move(open), std::move(path))) {}
Server::~Server() = default;
std::string Server::listen(std::uint16_t port) { return impl_->listen(port); }
void Server::run() { impl_->run(); }

}  // namespace dapple::viewer
