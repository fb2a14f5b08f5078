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

  /// An object, opened when somebody first looks at it, and again when its file was replaced.
  class Exhibit {
   public:
    explicit Exhibit(Shown shown) : shown_(std::move(shown)), identity_(shown_.path) {}

    const std::string& name() const noexcept { return shown_.name; }
    bool is_listed_only() const noexcept { return !shown_.open; }

    struct State {
      std::shared_ptr<Resources> resources;
      std::uint64_t version;
    };
    /// As its file is now.
    State now() {
      const std::lock_guard lock(mutex_);
      const Identity seen(shown_.path);
      if (current_ == nullptr || seen != identity_) {
        if (current_ != nullptr) ++version_;
        current_ = shown_.open();
        identity_ = seen;
      }
      return {current_, version_};
    }
    /// As a page knows it; null when it was replaced since.
    std::shared_ptr<Resources> of_version(std::uint64_t version) {
      const std::lock_guard lock(mutex_);
      return version == version_ ? current_ : nullptr;
    }

   private:
    const Shown shown_;
    std::mutex mutex_;  // guards what follows
    Identity identity_;
    std::shared_ptr<Resources> current_;
    std::uint64_t version_ = 0;
  };

 public:
  Impl(std::vector<Shown> shown, std::string title)
      : title_(std::move(title)),
        http_(make_http([this](const HttpRequest& request) { return answer(request); })) {
    for (Shown& one : shown) exhibits_.push_back(std::make_unique<Exhibit>(std::move(one)));
    if (!is_collection()) exhibits_.front()->now();
  }

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
      HttpAnswer found = answer_to(*target);
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

  bool is_collection() const { return !exhibits_.front()->name().empty(); }

  HttpAnswer answer_to(const Target& target) {
    if (target.member.has_value() != is_collection()) {
      if (is_collection() && !target.resource) return contents();
      return failure(kNotFound, "there is nothing of that name");
    }
    const std::uint64_t k = target.member.value_or(0);
    if (k >= exhibits_.size() || exhibits_[k]->is_listed_only()) {
      return failure(kNotFound, "there is no such member");
    }
    return target.resource ? resource(*exhibits_[k], target) : page(*exhibits_[k]);
  }

  static HttpAnswer html(std::string text, const std::string& nonce) {
    HttpAnswer answer{kOk, "text/html; charset=utf-8", {}, std::move(text)};
    answer.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; connect-src 'self'; script-src 'nonce-" + nonce +
            "'; style-src 'nonce-" + nonce +
            "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    return answer;
  }

  HttpAnswer contents() {
    std::vector<ContentsLine> lines;
    for (std::uint64_t k = 0; k < exhibits_.size(); ++k) {
      ContentsLine line{exhibits_[k]->name(), {}, {}, {}};
      if (!exhibits_[k]->is_listed_only()) {
        line.address = member_address(k);
        try {
          line.resources = exhibits_[k]->now().resources;
        } catch (const Error& error) {
          line.fault = error.what();
        }
      }
      lines.push_back(std::move(line));
    }
    const std::string nonce = random_token();
    return html(contents_page(title_, lines, nonce), nonce);
  }

  HttpAnswer page(Exhibit& exhibit) {
    const Exhibit::State state = exhibit.now();
    const std::string nonce = random_token();
    return html(live_page(*state.resources, std::to_string(state.version) + '/', nonce,
                          is_collection() ? title_ : ""),
                nonce);
  }

  static HttpAnswer resource(Exhibit& exhibit, const Target& target) {
    const auto resources = exhibit.of_version(target.version);
    if (resources == nullptr) {
      return failure(kGone, "the file was replaced; load the page again");
    }
    auto bytes = resources->find(*target.resource);
    if (!bytes) return failure(kNotFound, "the file has no such part");
    const bool tile = target.resource->kind == Resource::Kind::tile;
    return {kOk, tile ? "application/octet-stream" : "application/json", {}, *std::move(bytes)};
  }

  const std::string title_;
  const std::string token_ = random_token();
  const std::unique_ptr<Http> http_;
  std::vector<std::unique_ptr<Exhibit>> exhibits_;  // never changed while requests are answered
};

Server::Server(std::vector<Shown> shown, std::string title)
    : impl_(std::make_unique<Impl>(std::move(shown), std::move(title))) {}
Server::~Server() = default;
std::string Server::listen(std::uint16_t port) { return impl_->listen(port); }
void Server::run() { impl_->run(); }

}  // namespace dapple::viewer
