#include <httplib.h>
#include <sys/socket.h>

#include <memory>

#include "http.h"

namespace {

using namespace dapple::viewer;

/// cpp-httplib lets five clients wait to be accepted; a sixth would try again after a second.
class PatientServer : public httplib::Server {
 public:
  void let_many_wait() { ::listen(svr_sock_, SOMAXCONN); }
};

class HttplibServer final : public Http {
 public:
  explicit HttplibServer(Handle handle) : handle_(std::move(handle)) {
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
          const std::string host = request.get_header_value("Host");
          send(handle_({request.method, host, request.target}), response);
          return httplib::Server::HandlerResponse::Handled;
        });
  }

  int listen(int port) override {
    const char* const kLoopback = "127.0.0.1";
    const int taken = port == 0 ? http_.bind_to_any_port(kLoopback)
                                : (http_.bind_to_port(kLoopback, port) ? port : -1);
    if (taken > 0) http_.let_many_wait();
    return taken;
  }
  void run() override { http_.listen_after_bind(); }

 private:
  static void send(HttpAnswer&& answer, httplib::Response& response) {
    response.status = answer.status;
    for (auto& [name, value] : answer.headers) response.set_header(name, value);
    // Given piece by piece, because cpp-httplib would compress a text of its own once more.
    auto body = std::make_shared<const std::string>(std::move(answer.body));
    response.set_content_provider(body->size(), answer.type,
                                  [body](std::size_t at, std::size_t n, httplib::DataSink& sink) {
                                    return sink.write(body->data() + at, n);
                                  });
  }

  const Handle handle_;
  PatientServer http_;
};

}  // namespace

extern "C" [[gnu::visibility("default")]] Http* dapple_make_http(Http::Handle&& handle) {
  return new HttplibServer(std::move(handle));
}
