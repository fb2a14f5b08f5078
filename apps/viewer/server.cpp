#include "server.h"

#include <httplib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "dapple/error.h"
#include "page.h"

namespace dapple::viewer {

namespace {

constexpr int kOk = 200, kForbidden = 403, kNotFound = 404, kNotAllowed = 405, kGone = 410,
              kFailed = 500;

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    throw Error(Errc::io, "the system gave no random numbers for the page's address");
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace

class Server::Impl {
  /// The library lets five clients wait to be accepted; a sixth would try again after a second.
  class PatientServer : public httplib::Server {
   public:
    void let_many_wait() { ::listen(svr_sock_, SOMAXCONN); }
  };

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
      : open_(std::move(open)), path_(std::move(path)), identity_(path_), current_(open_()) {
    constexpr time_t kPatience = 5;  // seconds for a request to arrive
    http_.set_read_timeout(kPatience);
    http_.set_write_timeout(kPatience);
    http_.set_keep_alive_timeout(kPatience);
    http_.set_keep_alive_max_count(1000);
    http_.set_payload_max_length(0);
    // The head of an answer and its body are sent one after the other: without this, the body waits
    // 40 ms until the browser's system confirms the head.
    http_.set_tcp_nodelay(true);
    constexpr std::size_t kThreads = 8;
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // Before any of the library's own routing, which matches expressions against the path.
    http_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          answer(request, response);
          return httplib::Server::HandlerResponse::Handled;
        });
  }

  std::string listen(std::uint16_t port) {
    const char* const kLoopback = "127.0.0.1";
    const int taken = port == 0 ? http_.bind_to_any_port(kLoopback)
                                : (http_.bind_to_port(kLoopback, port) ? port : -1);
    if (taken < 0) {
      throw Error(Errc::io, port == 0 ? "cannot listen on the loopback address"
                                      : "cannot listen on port " + std::to_string(port) +
                                            ": another program may be using it");
    }
    http_.let_many_wait();
    port_ = ':' + std::to_string(taken);
    return "http://127.0.0.1" + port_ + '/' + token_ + '/';
  }
  void run() { http_.listen_after_bind(); }

 private:
  void answer(const httplib::Request& request, httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    if (request.method != "GET") {
      response.set_header("Allow", "GET");
      return fail(response, kNotAllowed, "only GET is answered");
    }
    // Another name for this machine would be a foreign page's way in.
    const std::string host = request.get_header_value("Host");
    if (host != "127.0.0.1" + port_ && host != "localhost" + port_) {
      return fail(response, kForbidden, "this server has no such name");
    }
    const auto target = parse_target(request.target, token_);
    if (!target) return fail(response, kNotFound, "there is nothing of that name");
    try {
      if (!target->resource) return send_page(response);
      send_resource(*target, response);
    } catch (const Error& error) {
      fail(response, kFailed, error.what());
    } catch (const std::bad_alloc&) {
      fail(response, kFailed, "out of memory");
    }
  }

  static void fail(httplib::Response& response, int status, const std::string& message) {
    response.status = status;
    const nlohmann::json body = {{"error", message}};
    response.set_content(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                         "application/json");
  }
  static void send(httplib::Response& response, std::string_view bytes, const char* type) {
    response.status = kOk;
    response.set_header("Content-Encoding", "deflate");
    // Given piece by piece, because httplib would compress a text of its own once more.
    auto packed = std::make_shared<const std::string>(deflated(bytes, 1));
    response.set_content_provider(packed->size(), type,
                                  [packed](std::size_t at, std::size_t n, httplib::DataSink& sink) {
                                    return sink.write(packed->data() + at, n);
                                  });
  }

  void send_page(httplib::Response& response) {
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
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; connect-src 'self'; script-src 'nonce-" + nonce +
                            "'; style-src 'nonce-" + nonce +
                            "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    send(response, live_page(*resources, std::to_string(version) + '/', nonce),
         "text/html; charset=utf-8");
  }

  void send_resource(const Target& target, httplib::Response& response) {
    std::shared_ptr<Resources> resources;
    {
      const std::lock_guard lock(mutex_);
      if (target.version != version_) {
        return fail(response, kGone, "the file was replaced; load the page again");
      }
      resources = current_;
    }
    const auto bytes = resources->find(*target.resource);
    if (!bytes) return fail(response, kNotFound, "the file has no such part");
    send(response, *bytes,
         target.resource->kind == Resource::Kind::tile ? "application/octet-stream"
                                                       : "application/json");
  }

  const Open open_;
  const std::string path_;
  const std::string token_ = random_token();
  std::string port_;  // with its colon
  PatientServer http_;

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
